// SPDX-License-Identifier: MIT
// Reads PLY files (Stanford polygon format).
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <cstddef>
#include <span>
#include <string>

namespace plush::tools {

/// Reads the `bytes` of a PLY file: text or binary of either byte order; lines of the header end
/// with LF, CRLF or CR, as the first one does. Other elements are passed over.
/// - Vertices: x y z; nx ny nz; texture coordinates (u v, s t, texture_u texture_v); colours as
///   COLOR_0 (red green blue alpha, from 0 to 1); other properties of type float or double as
///   attributes of their names.
/// - Faces: lists vertex_indices, and texcoord, which gives corners their own texture coordinates.
///   Polygons become triangles (PolygonCutter). Strips of triangles (tristrips), where -1 begins
///   a new one.
/// - Texture files that comments name (TextureFile) and that are missing: IMPORT_FILE_MISSING.
///
/// Errors: kInvalidInput with line or byte: a header that makes no sense, data that end early,
/// words that are no numbers, no vertices with x, y and z.
Result<RawScene> ReadPly(const std::string& path, std::span<const std::byte> bytes);

}  // namespace plush::tools
