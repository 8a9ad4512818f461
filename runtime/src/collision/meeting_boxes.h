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

/// Writes which of the boxes from `begin` to `end` meet `box` to `list`, which has room for
/// kLanePadding more. `chunks`: of boxes from `begin` on. Returns their number. If `around` is not
/// null, sets it to the box of these and of what it held.
uint32_t FindMeeting(const LaneBox& box, const BoxColumns& boxes, const BoxColumns& chunks,
                     uint32_t begin, uint32_t end, uint32_t* list, LaneBox* around = nullptr);

/// The part of a ray from its origin to `end`, for culling.
struct BoxRay {
  float origin[3];   ///< [m]
  float inverse[3];  ///< 1 / direction, finite
  float end;         ///< [m]
  float margin;      ///< by which boxes are widened [m]
  float slack;       ///< rounding of distances along the ray [m]
};

/// FindMeeting for a ray.
uint32_t FindOnRay(const BoxRay& ray, const BoxColumns& boxes, const BoxColumns& chunks,
                   uint32_t begin, uint32_t end, uint32_t* list);

}  // namespace plush
