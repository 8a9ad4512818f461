// SPDX-License-Identifier: MIT
// Whether a triangle comes near a box. A long triangle's own box may hold a whole body that is far
// from the triangle.
//
// Based on:
// Tomas Akenine-Moeller. Fast 3D Triangle-Box Overlap Testing. 2001
#pragma once

#include "plush/types.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>

namespace plush {

/// Whether the triangle with these corners (3 x 1) and a unit normal, or zero, may have a point in
/// the box from `low` to `high`: none of the 13 axes separates them by more than rounding.
inline bool MayMeetBox(const Vec3* corners, const Vec3& normal, const Vec3& low, const Vec3& high) {
  constexpr float kRounding = 2.0e-6f;  // of products, as a share of the lengths in them
  const auto beyond = [&](float Vec3::*k) {
    const float a = corners[0].*k, b = corners[1].*k, c = corners[2].*k;
    return std::min({a, b, c}) > high.*k || std::max({a, b, c}) < low.*k;
  };
  if (beyond(&Vec3::x) || beyond(&Vec3::y) || beyond(&Vec3::z)) return false;
  const Vec3 middle = (low + high) * 0.5f, half = (high - low) * 0.5f;
  Vec3 at[3];
  float farthest = Length(half);
  for (int k = 0; k < 3; ++k) {
    at[k] = corners[k] - middle;
    farthest = std::fmax(farthest, Length(at[k]));
  }
  const auto separates = [&](const Vec3& axis) {
    const float reach =
        half.x * std::fabs(axis.x) + half.y * std::fabs(axis.y) + half.z * std::fabs(axis.z);
    const float room = reach + kRounding * farthest * Length(axis);
    const float of[3] = {Dot(axis, at[0]), Dot(axis, at[1]), Dot(axis, at[2])};
    return std::min({of[0], of[1], of[2]}) > room || std::max({of[0], of[1], of[2]}) < -room;
  };
  if (separates(normal)) return false;
  for (int k = 0; k < 3; ++k) {
    const Vec3 edge = at[(k + 1) % 3] - at[k];
    if (separates({0.0f, -edge.z, edge.y}) || separates({edge.z, 0.0f, -edge.x}) ||
        separates({-edge.y, edge.x, 0.0f})) {
      return false;
    }
  }
  return true;
}

}  // namespace plush
