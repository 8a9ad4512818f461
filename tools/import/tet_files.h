// SPDX-License-Identifier: MIT
// Files of tet meshes: TetGen, Gmsh and VTK.
#pragma once

#include "base/result.h"
#include "mesh/tet_source.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plush::tools {

/// Whether `path` ends in `ending` (in lower case), with letters in any case.
bool HasEnding(std::string_view path, std::string_view ending);

/// Name of the format by the ending of the file name, in any case: "tetgen" (.node, .ele), "gmsh"
/// (.msh) or "vtk" (.vtk); empty if `path` is no file of tets.
std::string TetFormatOf(const std::string& path);

/// Reads the tets of a file's content; `path` is for messages. Of tets of higher order the four
/// corners are taken; other elements are counted; tags are physical groups, 0 where there is none
/// (of several the first). Errors: kUnsupported with IMPORT_UNSUPPORTED (no .msh of Gmsh, or
/// another version), kInvalidInput with IMPORT_FAILED (line or byte and what is wrong there).
Result<TetSource> ParseGmsh(const std::string& path, std::span<const std::byte> bytes);

/// Reads the tets of a file's content, of versions 1.0 to 5.1; `path` is for messages. Cells of
/// type 10 (tetrahedron) and 24 (with ten points, of which the four corners are taken) count; other
/// cells are counted. Errors: kUnsupported with IMPORT_UNSUPPORTED (no legacy VTK file, another
/// dataset than UNSTRUCTURED_GRID, or a kind of data that is not known), kInvalidInput with
/// IMPORT_FAILED (line or byte and what is wrong there).
Result<TetSource> ParseVtk(const std::string& path, std::span<const std::byte> bytes);

/// Reads a file for which TetFormatOf names a format. Of .node and .ele both are read; they differ
/// in their endings only. Errors: those of ParseTetGenText, ParseGmsh and ParseVtk; kIo; kLimit
/// (more than kMaxTetFileBytes).
Result<TetSource> ReadTetFile(const std::string& path);

}  // namespace plush::tools
