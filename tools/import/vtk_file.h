// SPDX-License-Identifier: MIT
// The legacy format of VTK for unstructured grids: NAME.vtk, text and binary.
#pragma once

#include "base/result.h"
#include "mesh/tet_source.h"

#include <cstddef>
#include <span>
#include <string>

namespace plush::tools {

/// Reads the tets of a file's content, of versions 1.0 to 5.1; `path` is for messages. Cells of
/// type 10 (tetrahedron) and 24 (with ten points, of which the four corners are taken) count; other
/// cells are counted. Errors: kUnsupported with IMPORT_UNSUPPORTED (no legacy VTK file, another
/// dataset than UNSTRUCTURED_GRID, or a kind of data that is not known), kInvalidInput with
/// IMPORT_FAILED (line or byte and what is wrong there).
Result<TetSource> ParseVtk(const std::string& path, std::span<const std::byte> bytes);

}  // namespace plush::tools
