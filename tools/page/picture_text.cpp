// SPDX-License-Identifier: MIT
// Letters of 3 x 5 dots.
#include "page/picture.h"

#include <array>

namespace plush::tools {
namespace {

constexpr uint32_t kDot = 2;  // pixels

// Five rows from the top, an octal digit each: 4 is the left dot, 1 the right one.
constexpr std::array<uint16_t, 10> kDigits = {075557, 026227, 071747, 071717, 055711,
                                              074717, 074757, 071122, 075757, 075717};
constexpr std::array<uint16_t, 26> kLetterPixels = {
    025755, 065656, 034443, 065556, 074647, 074644, 034553, 055755, 072227,
    011152, 055655, 044447, 057755, 065555, 025552, 065644, 025563, 065655,
    034216, 072222, 055557, 055552, 055775, 055255, 055222, 071247};

uint16_t DotsOf(char c) {
  if (c >= '0' && c <= '9') return kDigits[static_cast<size_t>(c - '0')];
  if (c >= 'a' && c <= 'z') return kLetterPixels[static_cast<size_t>(c - 'a')];
  if (c >= 'A' && c <= 'Z') return kLetterPixels[static_cast<size_t>(c - 'A')];
  switch (c) {
    case ' ':
      return 0;
    case '.':
      return 000002;
    case ',':
      return 000024;
    case '-':
      return 000700;
    case '_':
      return 000007;
    case '/':
      return 011244;
    case ':':
      return 002020;
    case '%':
      return 051245;
    case '(':
      return 012221;
    case ')':
      return 042224;
    case '[':
      return 064446;
    case ']':
      return 031113;
    case '+':
      return 002720;
    case '=':
      return 007070;
    default:
      return 071202;
  }
}

}  // namespace

void DrawText(std::string_view text, uint32_t x, uint32_t y, Picture* picture) {
  for (const char c : text) {
    const uint16_t dots = DotsOf(c);
    for (uint32_t i = 0; i < 3 * kDot; ++i) {
      for (uint32_t k = 0; k < 5 * kDot; ++k) {
        const uint32_t bit = 3 * (4 - k / kDot) + (2 - i / kDot);
        if ((dots >> bit & 1u) == 0 || x + i >= picture->width || y + k >= picture->height)
          continue;
        picture->pixels[size_t{y + k} * picture->width + x + i] = {27, 28, 30, 255};
      }
    }
    x += kLetterWidth;
  }
}

}  // namespace plush::tools
