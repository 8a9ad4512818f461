// SPDX-License-Identifier: MIT
// Reads STL files (stereolithography), text and binary.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace plush::tools {

/// Reads the `bytes` of an STL file: binary if its size is what its count of triangles says, or if
/// it does not begin with the word "solid".
/// - Text: a mesh per solid; its name is the rest of the line. Keywords of any case.
/// - Binary: one mesh. Colours of triangles as COLOR_0, as VisCAM, SolidView and Magics write them.
/// - Normals of triangles are not read.
///
/// Errors: kInvalidInput with line or sizes: a count of triangles that does not agree with the
/// file's size, coordinates that are no numbers, a triangle that the file's end cuts.
Result<RawScene> ReadStl(const std::string& path, std::span<const std::byte> bytes);

/// Whether a file of `size` bytes with this beginning is surely STL.
bool LooksLikeStl(std::span<const std::byte> head, uint64_t size);

}  // namespace plush::tools
