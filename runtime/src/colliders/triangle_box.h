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

/// A part of a triangle, by its corners, beside a box.
template <size_t kCount>
class PartBesideBox {
 public:
  PartBesideBox(const Vec3* corners, const Vec3& low, const Vec3& high)
      : half_((high - low) * 0.5f) {
    const Vec3 middle = (low + high) * 0.5f;
    float farthest2 = Dot(half_, half_);
    for (size_t k = 0; k < kCount; ++k) {
      at_[k] = corners[k] - middle;
      farthest2 = std::max(farthest2, Dot(at_[k], at_[k]));
    }
    constexpr float kRounding = 2.0e-6f;  // of products, as a share of the lengths in them
    rounding_ = kRounding * std::sqrt(farthest2);
  }

  /// Whether an axis, no longer than `length`, separates them by more than rounding.
  bool IsSeparatedBy(const Vec3& axis, float length) const {
    const float reach =
        half_.x * std::fabs(axis.x) + half_.y * std::fabs(axis.y) + half_.z * std::fabs(axis.z);
    const float room = reach + rounding_ * length;
    float least = Dot(axis, at_[0]), most = least;
    for (size_t k = 1; k < kCount; ++k) {
      const float at = Dot(axis, at_[k]);
      least = std::min(least, at);
      most = std::max(most, at);
    }
    return least > room || most < -room;
  }
  /// Whether one of the three axes across both the side between two corners and the box's does.
  bool IsSeparatedAcross(size_t from, size_t to) const {
    const Vec3 side = at_[to] - at_[from];
    const float length = Length(side);
    return IsSeparatedBy({0.0f, -side.z, side.y}, length) ||
           IsSeparatedBy({side.z, 0.0f, -side.x}, length) ||
           IsSeparatedBy({-side.y, side.x, 0.0f}, length);
  }

 private:
  Vec3 half_;
  Vec3 at_[kCount];  // from the box's middle [m]
  float rounding_;   // of a product with a unit axis [m]
};

/// Whether the triangle with these corners (3 x 1) and a unit normal, or zero, may have a point in
/// the box from `low` to `high`: none of the 13 axes separates them by more than rounding.
inline bool MayMeetBox(const Vec3* corners, const Vec3& normal, const Vec3& low, const Vec3& high) {
  const auto beyond = [&](float Vec3::*k) {
    const float a = corners[0].*k, b = corners[1].*k, c = corners[2].*k;
    return std::min({a, b, c}) > high.*k || std::max({a, b, c}) < low.*k;
  };
  if (beyond(&Vec3::x) || beyond(&Vec3::y) || beyond(&Vec3::z)) return false;
  const PartBesideBox<3> triangle(corners, low, high);
  return !triangle.IsSeparatedBy(normal, 1.0f) && !triangle.IsSeparatedAcross(0, 1) &&
         !triangle.IsSeparatedAcross(1, 2) && !triangle.IsSeparatedAcross(2, 0);
}

}  // namespace plush
