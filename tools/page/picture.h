// SPDX-License-Identifier: MIT
// Pictures in memory, text in them, and PNG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
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

/// Draws `text` with its upper left corner at (x, y) [pixels]: letters of 6 x 10 pixels, 8 apart,
/// all of them capitals. Signs other than letters, digits and .,-_/:%()[]+= become "?". What lies
/// outside is left out.
void DrawText(std::string_view text, uint32_t x, uint32_t y, Picture* picture);

/// Width that DrawText gives a letter [pixels].
inline constexpr uint32_t kLetterWidth = 8;

/// The picture as a PNG file. Needs pixels.
std::vector<std::byte> PngBytes(const Picture& picture);

}  // namespace plush::tools
