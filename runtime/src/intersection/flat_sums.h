// SPDX-License-Identifier: MIT
// Area and centroid of flat pieces of one triangle [Civ 5.5.3].
#pragma once

#include "collision/double_vector.h"
#include "intersection/triangle_pairs.h"

#include <cmath>

namespace plush {

/// Sums over flat pieces of one triangle, about its first corner and along its normal.
struct FlatSums {
  DoubleVector unit;
  Vec3 origin;
  double whole;                       // area of the triangle
  double area = 0.0, moment[3] = {};  // three times the moment of the area

  explicit FlatSums(const Corners& c) : unit{0, 0, 0}, origin(c[0]) {
    const DoubleVector n = Cross(Difference(c[1], c[0]), Difference(c[2], c[0]));
    const double length = std::sqrt(Dot(n, n));
    if (length > 0.0) unit = n * (1.0 / length);
    whole = 0.5 * length;
  }

  /// The triangle from the origin over a to b, `times` times [Civ Eq. 5.7, with its centroid put
  /// right].
  void Add(const Vec3& a, const Vec3& b, int times) {
    const DoubleVector p = Difference(a, origin), q = Difference(b, origin);
    const double part = 0.5 * times * Dot(unit, Cross(p, q));
    area += part;
    moment[0] += part * (p.x + q.x);
    moment[1] += part * (p.y + q.y);
    moment[2] += part * (p.z + q.z);
  }

  /// The way from the origin to the centroid of an area that is not 0.
  Vec3 FromOrigin() const {
    const double share = 1.0 / (3.0 * area);
    return {ToFloat(moment[0] * share), ToFloat(moment[1] * share), ToFloat(moment[2] * share)};
  }
};

}  // namespace plush
