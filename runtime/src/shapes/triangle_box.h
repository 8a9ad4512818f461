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
#include <cstddef>

namespace plush {

/// Axes on which parts lie beside a box by more than rounding.
class BoxAxes {
 public:
  BoxAxes(const Vec3& low, const Vec3& high)
      : middle((low + high) * 0.5f), half_((high - low) * 0.5f), farthest_(Length(half_)) {}

  /// Corners are relative to `middle`; those of axes must be known.
  void Know(const Vec3& corner) { farthest_ = std::fmax(farthest_, Length(corner)); }
  template <size_t kCount>
  bool Separates(const Vec3& axis, const Vec3 (&corners)[kCount]) const {
    constexpr float kRounding = 2.0e-6f;  // of products, as a share of the lengths in them
    const float reach =
        half_.x * std::fabs(axis.x) + half_.y * std::fabs(axis.y) + half_.z * std::fabs(axis.z);
    const float room = reach + kRounding * farthest_ * Length(axis);
    float least = Dot(axis, corners[0]), most = least;
    for (size_t k = 1; k < kCount; ++k) {
      const float at = Dot(axis, corners[k]);
      least = std::min(least, at);
      most = std::max(most, at);
    }
    return least > room || most < -room;
  }
  /// Whether an axis across an edge does.
  template <size_t kCount>
  bool SeparatesAcross(const Vec3& edge, const Vec3 (&corners)[kCount]) const {
    return Separates({0.0f, -edge.z, edge.y}, corners) ||
           Separates({edge.z, 0.0f, -edge.x}, corners) ||
           Separates({-edge.y, edge.x, 0.0f}, corners);
  }

  const Vec3 middle;

 private:
  Vec3 half_;
  float farthest_;
};

/// Whether the triangle with these corners (3 x 1) and a unit normal, or zero, may have a point in
/// the box from `low` to `high`: none of the 13 axes separates them by more than rounding.
inline bool MayMeetBox(const Vec3* corners, const Vec3& normal, const Vec3& low, const Vec3& high) {
  const auto beyond = [&](float Vec3::*k) {
    const float a = corners[0].*k, b = corners[1].*k, c = corners[2].*k;
    return std::min({a, b, c}) > high.*k || std::max({a, b, c}) < low.*k;
  };
  if (beyond(&Vec3::x) || beyond(&Vec3::y) || beyond(&Vec3::z)) return false;
  BoxAxes axes(low, high);
  Vec3 at[3];
  for (int k = 0; k < 3; ++k) axes.Know(at[k] = corners[k] - axes.middle);
  if (axes.Separates(normal, at)) return false;
  for (int k = 0; k < 3; ++k) {
    if (axes.SeparatesAcross(at[(k + 1) % 3] - at[k], at)) return false;
  }
  return true;
}

}  // namespace plush
