// SPDX-License-Identifier: MIT
// Reads tet mesh files of TetGen, Gmsh and VTK.
#pragma once

#include "base/result.h"
#include "mesh/tet_source.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace plush::tools {

/// Whether `path` ends in `ending`, which is in lower case; `path` may use any case.
bool HasEnding(std::string_view path, std::string_view ending);

/// Name of the format, by the file name's ending in any case: "tetgen" (.node, .ele), "gmsh" (.msh)
/// or "vtk" (.vtk); empty if `path` is not a tet file.
std::string TetFormatOf(const std::string& path);

/// Reads the tets of a Gmsh file (.msh, versions 2.0 to 2.2 and 4.1, text and binary). `path` is
/// for messages.
/// - Of tets of higher order, the four corners are used; other elements are counted.
/// - Tags are physical groups: the first if there are several, 0 if there is none.
///
/// Errors: kUnsupported with IMPORT_UNSUPPORTED (not a Gmsh file, or another version),
/// kInvalidInput with IMPORT_FAILED (line or byte, and what is wrong).
Result<TetSource> ParseGmsh(const std::string& path, std::span<const std::byte> bytes);

/// Reads the tets of a legacy VTK file (.vtk, versions 1.0 to 5.1, text and binary). `path` is for
/// messages. Uses cells of type 10 (tetrahedron) and 24 (with ten points, of which the four corners
/// count); counts other cells. Errors: kUnsupported with IMPORT_UNSUPPORTED (not a legacy VTK file,
/// a dataset other than UNSTRUCTURED_GRID, or an unknown kind of data), kInvalidInput with
/// IMPORT_FAILED (line or byte, and what is wrong).
Result<TetSource> ParseVtk(const std::string& path, std::span<const std::byte> bytes);

/// Reads a file for which TetFormatOf names a format. For .node and .ele, reads both files, which
/// differ only in their endings. Errors: those of ParseTetGenText, ParseGmsh and ParseVtk; kIo;
/// kLimit (larger than kMaxTetFileBytes).
Result<TetSource> ReadTetFile(const std::string& path);

}  // namespace plush::tools
