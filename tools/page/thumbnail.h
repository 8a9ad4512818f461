// SPDX-License-Identifier: MIT
// A small picture of a model, drawn on the CPU.
#pragma once

#include "plush/asset.h"

#include "page/packed_arrays.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace plush::tools {

/// sRGB with opacity, rows from the top (width * height x 1).
struct Picture {
  struct Pixel {
    uint8_t r = 0, g = 0, b = 0, a = 0;
  };
  uint32_t width = 0;
  uint32_t height = 0;
  std::vector<Pixel> pixels;
};

/// The model's surface at rest, or a cage without one, in the colours of its materials: seen from
/// the front right and a little above, without perspective, filling the picture. The background is
/// transparent. O(pixels + triangles + pixels of the triangles' boxes).
Picture DrawThumbnail(const Asset& asset, uint32_t width, uint32_t height);

/// A thumbnail for the page: "width", "height", "pixels" (array of 4 bytes by pixel).
nlohmann::json ThumbnailArray(const Asset& asset, PackedArrays* arrays);

}  // namespace plush::tools
