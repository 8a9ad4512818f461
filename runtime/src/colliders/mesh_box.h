// SPDX-License-Identifier: MIT
// Boxes along the axes of a mesh's coordinates.
#pragma once

#include "plush/types.h"

#include "base/vector_math.h"

namespace plush {

/// The least and greatest coordinates of two points.
inline Vec3 LowerOf(const Vec3& a, const Vec3& b) {
  return {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
inline Vec3 UpperOf(const Vec3& a, const Vec3& b) {
  return {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}

struct MeshBox {
  Vec3 low, high;

  bool Overlaps(const MeshBox& other) const {
    return low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y &&
           other.low.y <= high.y && low.z <= other.high.z && other.low.z <= high.z;
  }
  float SquaredDistance(const MeshBox& other) const {
    const Vec3 beyond = UpperOf(UpperOf(low - other.high, other.low - high), Vec3{});
    return Dot(beyond, beyond);
  }
  float SquaredDistance(const Vec3& point) const { return SquaredDistance({point, point}); }
  /// The box, grown by a margin on all sides.
  MeshBox Around(float margin) const {
    const Vec3 room = {margin, margin, margin};
    return {low - room, high + room};
  }
};

/// A box around a triangle (3 x 1) that has some room, because what crosses the triangle is found
/// with rounding.
inline MeshBox BoxAround(const Vec3* corners) {
  constexpr float kRoom = 1.0e-5f;  // of its size
  const Vec3 low = LowerOf(corners[0], LowerOf(corners[1], corners[2]));
  const Vec3 high = UpperOf(corners[0], UpperOf(corners[1], corners[2]));
  return MeshBox{low, high}.Around(kRoom * (high.x - low.x + high.y - low.y + high.z - low.z));
}

}  // namespace plush
