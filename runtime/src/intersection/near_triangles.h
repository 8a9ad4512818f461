// SPDX-License-Identifier: MIT
// Which of some triangles of two surfaces may intersect: their boxes meet, and neither lies on one
// side of the other's plane for certain. As many at once as vectors have lanes.
#pragma once

#include "collision/meeting_boxes.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Pairs of triangles that may intersect, in a caller's memory.
struct NearPairs {
  std::span<uint32_t> first, second;
  uint32_t count = 0;

  /// Whether one triangle of the first body and so many of the second have room.
  bool HasRoom(size_t more) const {
    return count + more + kLanePadding <= first.size() &&
           count + more + kLanePadding <= second.size();
  }
};

/// Triangles in lanes.
struct TriangleBlock {
  static constexpr uint32_t kSize = 16;

  float corners[3][3][kSize];           ///< by corner, axis [m]
  float low[3][kSize], high[3][kSize];  ///< boxes
  float normal[3][kSize];               ///< as long as twice the area
  float above[kSize], below[kSize];     ///< projections on it of what is certainly on one side
};

/// Some triangles of a patch.
struct TriangleBlocks {
  std::span<TriangleBlock> blocks;
  std::span<const uint32_t> triangles;  ///< their numbers, with room for kLanePadding more
};

/// Fills the blocks from the corners. `reach` [m]: at least |x| + |y| + |z| of any corner of these
/// triangles and of those that they are paired with.
void MeasureTriangles(float reach, std::span<TriangleBlock> blocks);

/// Adds pairs {triangle i of `a`, j of `b`}, i from `begin` on, in this order: all that intersect
/// (Intersect in triangle_pairs.h). Stops where `pairs` lack room for all of `b`; returns that i,
/// or the number of `a`.
uint32_t PairNear(const TriangleBlocks& a, uint32_t begin, const TriangleBlocks& b,
                  NearPairs* pairs);

}  // namespace plush
