// SPDX-License-Identifier: MIT
// The deepest point of a triangle in a solid with flat faces, by few tangent planes: Kelley's
// method [Kelley, The Cutting-Plane Method for Solving Convex Programs, 1960].
//
// The solid's distance is nowhere less than that from a tangent plane. So the point at which the
// greatest distance from some planes is least bounds the depth. If a plane at that point gives it
// no more distance, it is the deepest one; else that plane joins the others.
#pragma once

#include "base/vector_math.h"
#include "colliders/convex_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {

/// The point of a triangle where the greatest of a few linear functions is least. It is a corner,
/// or functions are equal there: two on an edge, three inside.
class LeastOfPlanes {
 public:
  static constexpr int kMost = 8;

  bool is_empty() const { return count_ == 0; }
  bool is_full() const { return count_ == kMost; }
  TrianglePoint point() const { return {weights_[1], weights_[2], value_}; }

  /// Adds a function with these values at the corners. It must exceed the others at point(), if
  /// there are any: then it is one of those that are equal at the new point.
  void Add(const float (&values)[3]) {
    std::copy_n(values, 3, of_[count_++]);
    value_ = std::numeric_limits<float>::infinity();
    for (int k = 0; k < 3; ++k) {
      Try(k == 0 ? 1.0f : 0.0f, k == 1 ? 1.0f : 0.0f, k == 2 ? 1.0f : 0.0f);
    }
    Vec3 differences[kMost];  // from the new one at the corners
    for (int i = 0; i + 1 < count_; ++i) {
      const Vec3 d = {of_[i][0] - values[0], of_[i][1] - values[1], of_[i][2] - values[2]};
      differences[i] = d;
      if (d.x * d.y < 0.0f) Try(d.y / (d.y - d.x), d.x / (d.x - d.y), 0.0f);
      if (d.y * d.z < 0.0f) Try(0.0f, d.z / (d.z - d.y), d.y / (d.y - d.z));
      if (d.z * d.x < 0.0f) Try(d.z / (d.z - d.x), 0.0f, d.x / (d.x - d.z));
      for (int j = 0; j < i; ++j) {
        const Vec3 both = Cross(differences[j], d);
        const float sum = both.x + both.y + both.z;
        const Vec3 w = {both.x / sum, both.y / sum, both.z / sum};  // not a number: none
        if (w.x >= 0.0f && w.y >= 0.0f && w.z >= 0.0f) Try(w.x, w.y, w.z);
      }
    }
  }

 private:
  void Try(float a, float b, float c) {
    float greatest = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < count_; ++i) {
      greatest = std::max(greatest, a * of_[i][0] + b * of_[i][1] + c * of_[i][2]);
    }
    if (!(greatest < value_)) return;
    value_ = greatest;
    weights_[0] = a, weights_[1] = b, weights_[2] = c;
  }

  float of_[kMost][3];
  int count_ = 0;
  float weights_[3] = {};
  float value_ = 0.0f;
};

/// Finds the deepest point of a triangle (3 x 1) in a solid with the tangent plane tangent_at(x) at
/// x, or any point if none has a gap below `limit`. Returns false if LeastOfPlanes::kMost planes do
/// not give it: the solid is round there.
template <class TangentAt>
bool FindDeepestByPlanes(const Vec3* corners, float limit, const TangentAt& tangent_at,
                         TrianglePoint* deepest) {
  constexpr float kRounding = 4.0f * std::numeric_limits<float>::epsilon();
  LeastOfPlanes planes;
  Vec3 at = (corners[0] + corners[1] + corners[2]) * (1.0f / 3.0f);
  const float size = Length(corners[1] - corners[0]) + Length(corners[2] - corners[0]);
  for (;;) {
    const Tangent tangent = tangent_at(at);
    const TrianglePoint last = planes.point();
    const Vec3& n = tangent.normal;
    const float along = std::fabs(n.x * at.x) + std::fabs(n.y * at.y) + std::fabs(n.z * at.z);
    const float found = last.gap + kRounding * (size + along);
    if (!planes.is_empty() && (tangent.gap <= found || last.gap >= limit)) {
      *deepest = {last.u, last.v, tangent.gap};
      return true;
    }
    if (planes.is_full()) return false;
    float values[3];
    for (int k = 0; k < 3; ++k) {
      values[k] = tangent.gap + Dot(tangent.normal, corners[k] - at);
    }
    planes.Add(values);
    at = PointOf(corners, planes.point());
  }
}

}  // namespace plush
