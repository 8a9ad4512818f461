// SPDX-License-Identifier: MIT
// The signed distance from a convex solid, whatever its shape.
//
// It is convex, so a tangent plane never gives a point more distance than it has. All searches of
// contacts with solids rest on this.
#pragma once

#include "plush/types.h"

#include "base/vector_math.h"

namespace plush {

/// The tangent plane of the surface nearest to a point.
struct Tangent {
  Vec3 normal;       ///< unit, out of the solid
  float gap = 0.0f;  ///< signed distance of the point [m], below 0 inside
};

/// A point of a triangle.
struct TrianglePoint {
  float u = 0.0f, v = 0.0f;  ///< weights of the second and third corner
  float gap = 0.0f;          ///< [m]
};

/// The point with these weights of the corners (3 x 1).
inline Vec3 PointOf(const Vec3* corners, const TrianglePoint& point) {
  return corners[0] + (corners[1] - corners[0]) * point.u + (corners[2] - corners[0]) * point.v;
}

/// The argument in [0, most] with the least value of a convex function, and that value, by golden
/// section.
struct Least {
  float at, value;
};
template <class Function>
Least LeastOfConvex(float most, const Function& function) {
  constexpr int kHalvings = 20;
  constexpr float kGolden = 0.618034f;
  float low = 0.0f, high = most;
  float a = high - kGolden * high, b = kGolden * high;
  float of_a = function(a), of_b = function(b);
  for (int k = 0; k < kHalvings; ++k) {
    if (of_a <= of_b) {
      high = b;
      b = a, of_b = of_a;
      a = high - kGolden * (high - low), of_a = function(a);
    } else {
      low = a;
      a = b, of_a = of_b;
      b = low + kGolden * (high - low), of_b = function(b);
    }
  }
  return of_a <= of_b ? Least{a, of_a} : Least{b, of_b};
}

/// The point of a triangle (3 x 1) with the least value of a convex function of places.
template <class Function>
TrianglePoint DeepestOf(const Vec3* corners, const Function& distance) {
  const Vec3 along_u = corners[1] - corners[0], along_v = corners[2] - corners[0];
  const auto along_column = [&](float u) {
    const Vec3 base = corners[0] + along_u * u;
    return LeastOfConvex(1.0f - u, [&](float v) { return distance(base + along_v * v); });
  };
  const Least u = LeastOfConvex(1.0f, [&](float at) { return along_column(at).value; });
  return {u.at, along_column(u.at).at, u.value};
}

}  // namespace plush
