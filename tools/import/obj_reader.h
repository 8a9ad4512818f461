// SPDX-License-Identifier: MIT
// Reads Wavefront OBJ files.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <cstddef>
#include <span>
#include <string>

namespace plush::tools {

/// Reads the `bytes` of the OBJ file `path`, and the .mtl files beside it.
/// - A mesh per run of polygons with one object or group and one material. Corners that are equal
///   by their indices are one vertex.
/// - Positions, texture coordinates (v is 0 if missing), normals, and colours as COLOR_0.
/// - Polygons become triangles (PolygonCutter).
/// - Points, lines, and faces of fewer than three corners: IMPORT_LEFT_OUT. A missing .mtl or
///   texture: IMPORT_FILE_MISSING.
///
/// Errors: kInvalidInput with the line's number (numbers missing, an index that is 0 or of nothing,
/// a fourth coordinate other than 1, a free-form surface, text in UTF-16, no statement of OBJ).
Result<RawScene> ReadObj(const std::string& path, std::span<const std::byte> bytes);

/// Whether a file with this beginning is text whose first statement is one of OBJ.
bool LooksLikeObj(std::span<const std::byte> head);

}  // namespace plush::tools
