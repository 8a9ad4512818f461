// SPDX-License-Identifier: MIT
// Which boxes of triangles meet, touching included, as many at once as vectors have lanes.
#pragma once

#include "base/float4.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// A box in lanes x, y, z; the fourth lane has no meaning.
struct LaneBox {
  Float4 low, high;
};

/// Lanes load and store up to this many elements after the last one.
inline constexpr size_t kLanePadding = 15;

/// Boxes come in chunks with a box of their own: neighbours in a patch's tree lie close together.
inline constexpr uint32_t kBoxChunk = 16;

/// Boxes of triangles [m] by axis, with room for kLanePadding more; finite.
struct BoxColumns {
  const float *low[3], *high[3];

  LaneBox At(uint32_t i) const {
    return {Float4{low[0][i], low[1][i], low[2][i], 0.0f},
            Float4{high[0][i], high[1][i], high[2][i], 0.0f}};
  }
};

/// Pairs of triangles whose boxes meet, in a caller's memory.
struct NearPairs {
  std::span<uint32_t> first, second;
  uint32_t count = 0;

  /// Whether one triangle of the first body and so many of the second have room.
  bool HasRoom(size_t more) const {
    return count + more + kLanePadding <= first.size() &&
           count + more + kLanePadding <= second.size();
  }
};

/// Writes which of the boxes from `begin` to `end` meet `box` to `list`, which has room for
/// kLanePadding more. `chunks`: of boxes from `begin` on. Returns their number, and in `around` the
/// box of these and of what it held.
uint32_t FindMeeting(const LaneBox& box, const BoxColumns& boxes, const BoxColumns& chunks,
                     uint32_t begin, uint32_t end, uint32_t* list, LaneBox* around);

/// Adds the pairs of a box number `of_a[i]` of `a`, i from `begin` on, and a box number j of `b`
/// which meet, as {of_a[i], of_b[j]}, in this order. `chunks`: of `b`. Stops where `pairs` lack
/// room for all of `of_b`; returns that i, or the size of `of_a`.
uint32_t PairMeeting(const BoxColumns& a, std::span<const uint32_t> of_a, uint32_t begin,
                     const BoxColumns& b, const BoxColumns& chunks, std::span<const uint32_t> of_b,
                     NearPairs* pairs);

}  // namespace plush
