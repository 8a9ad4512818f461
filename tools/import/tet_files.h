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

/// The format, by the file name's ending in any case: "tetgen" (.node, .ele), "gmsh" (.msh), "vtk"
/// (.vtk), or empty if `path` is no tet file.
std::string TetFormatOf(const std::string& path);

/// Reads the tets of a Gmsh file (.msh, versions 2.0 to 2.2 and 4.1, text and binary). `path` is
/// for messages.
/// - Uses the four corners of tets of higher order. Counts other elements.
/// - A tag is the first physical group of an element, or 0.
///
/// Errors: kUnsupported with IMPORT_UNSUPPORTED (not a Gmsh file, or another version),
/// kInvalidInput with IMPORT_FAILED (line or byte, and what is wrong).
Result<TetSource> ParseGmsh(const std::string& path, std::span<const std::byte> bytes);

/// Reads the tets of a legacy VTK file (.vtk, versions 1.0 to 5.1, text and binary). `path` is for
/// messages. Uses cells of type 10 (tetrahedron) and the four corners of type 24 (ten points).
/// Counts other cells.
///
/// Errors: kUnsupported with IMPORT_UNSUPPORTED (not a legacy VTK file, a dataset other than
/// UNSTRUCTURED_GRID, or an unknown kind of data), kInvalidInput with IMPORT_FAILED (line or byte,
/// and what is wrong).
Result<TetSource> ParseVtk(const std::string& path, std::span<const std::byte> bytes);

/// Reads a file for which TetFormatOf names a format. Given a .node or .ele file, reads both.
/// Errors: those of ParseTetGenText, ParseGmsh and ParseVtk; kIo; kLimit (larger than
/// kMaxTetFileBytes).
Result<TetSource> ReadTetFile(const std::string& path);

}  // namespace plush::tools
