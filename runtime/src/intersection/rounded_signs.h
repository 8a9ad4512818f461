// SPDX-License-Identifier: MIT
// Signs that decide whether two triangles intersect, from floats, many pairs at once. Where
// rounding could turn one, it is unsure; exact signs then decide [Shewchuk 1997]. So no result
// depends on the instruction set.
#pragma once

#include "intersection/triangle_pairs.h"

#include <cstddef>
#include <cstdint>

namespace plush {

/// Two triangles of two surfaces, by the places of their corners' x, y, z among floats.
struct CornerColumns {
  static constexpr size_t kMost = 256;
  uint32_t moved[3][kMost] = {}, fixed[3][kMost] = {};
};

/// What is known of a pair, in bits: those of SegmentOf and these two.
inline constexpr uint32_t kSignsKnown = 1u << 15;      ///< all of them are certain
inline constexpr uint32_t kTrianglesApart = 1u << 16;  ///< they do not intersect, for certain; the
                                                       ///< other bits then mean nothing

/// Writes the bits of the first `count` pairs, for each one word. `bits` has room for kMost.
void RoundedSigns(const float* moved, const float* fixed, const CornerColumns& corners,
                  size_t count, uint32_t* bits);

}  // namespace plush
