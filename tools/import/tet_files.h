// SPDX-License-Identifier: MIT
// Files of tet meshes: TetGen, Gmsh and VTK.
#pragma once

#include "base/result.h"
#include "mesh/tet_source.h"

#include <string>
#include <string_view>

namespace plush::tools {

/// Whether `path` ends in `ending` (in lower case), with letters in any case.
bool HasEnding(std::string_view path, std::string_view ending);

/// Name of the format by the ending of the file name, in any case: "tetgen" (.node, .ele), "gmsh"
/// (.msh) or "vtk" (.vtk); empty if `path` is no file of tets.
std::string TetFormatOf(const std::string& path);

/// Reads a file for which TetFormatOf names a format. Of .node and .ele both are read; they differ
/// in their endings only. Errors: those of ParseTetGenText, ParseGmsh and ParseVtk; kIo; kLimit
/// (more than kMaxTetFileBytes).
Result<TetSource> ReadTetFile(const std::string& path);

}  // namespace plush::tools
