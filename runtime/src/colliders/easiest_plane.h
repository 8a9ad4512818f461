// SPDX-License-Identifier: MIT
// Which of a collider's faces holds a point where several could.
//
// A body that slides over colliders side by side is a rounding below the top of the next one. So it
// enters through that one's side, which would stop it. Every plane that separates a triangle of the
// body from the collider at the start keeps it out. The easiest one is that behind which it would
// sink the least. A point alone is not enough: the lower side of a wall on a floor is as flush with
// the floor as a top, but the body is behind it.
#pragma once

#include "base/vector_math.h"

#include <cmath>
#include <limits>

namespace plush {

/// A triangle whose corners move straight, counter-clockwise seen from outside its body (3 x 1
/// each).
struct SweptTriangle {
  Vec3 from[3], to[3];
};

/// The least value of a function at the corners of a triangle (3 x 1).
template <class Function>
float LeastOfCorners(const Vec3* corners, const Function& function) {
  return std::fmin(function(corners[0]), std::fmin(function(corners[1]), function(corners[2])));
}

/// The plane of a face, or with a normal of zero, none.
struct SolidFace {
  Vec3 normal;          ///< unit, out of the solid
  float offset = 0.0f;  ///< dot(normal, x) on the plane [m]
};

/// Looks for a plane that is less in the way of a triangle than the one that holds its point.
class EasiestPlane {
 public:
  /// `held`: the plane that holds the point, which moves straight from `from` to `to`. All planes
  /// in front of the triangle are easier if this one is not. Surfaces within `flush` of each other
  /// are as one.
  EasiestPlane(const SweptTriangle& triangle, const SolidFace& held, const Vec3& from,
               const Vec3& to, float flush)
      : triangle_(triangle),
        held_(held),
        from_(from),
        to_(to),
        flush_(flush),
        outward_(Cross(triangle.from[1] - triangle.from[0], triangle.from[2] - triangle.from[0])) {
    const auto gap_of = [&](const Vec3& x) { return Dot(held.normal, x) - held.offset; };
    come_ = std::fmax(gap_of(from), 0.0f);
    if (StartsInFront(held.normal, gap_of)) greatest_ = gap_of(to);
  }

  /// The same in other units of length, and with `flush` not above `most`.
  EasiestPlane Times(float factor, float most) const {
    SweptTriangle triangle;
    for (int k = 0; k < 3; ++k) {
      triangle.from[k] = triangle_.from[k] * factor;
      triangle.to[k] = triangle_.to[k] * factor;
    }
    const SolidFace held = {held_.normal, held_.offset * factor};
    return {triangle, held, from_ * factor, to_ * factor, std::fmin(flush_, most) * factor};
  }

  /// Returns whether a plane is less in the way than all before: the triangle starts in front of
  /// it, and the deepest corner ends least deep. `gap_of(point)`: the gap from the plane.
  template <class GapOf>
  bool Visit(const Vec3& normal, const GapOf& gap_of) {
    constexpr float kSame = 1.0f - 1.0e-5f;
    float gap = LeastOfCorners(triangle_.to, gap_of);
    // It slides along this plane, but not yet in the first iterates, where nothing may hold it up.
    if (LeastOfCorners(triangle_.from, gap_of) <= flush_) gap += come_;
    if (!(gap > greatest_) || Dot(normal, held_.normal) > kSame || !StartsInFront(normal, gap_of)) {
      return false;
    }
    greatest_ = gap;
    return true;
  }

 private:
  // Whether the triangle and its body start in front of a plane, or no more than `flush` behind.
  template <class GapOf>
  bool StartsInFront(const Vec3& normal, const GapOf& gap_of) const {
    constexpr float kAlong = 0.9f;  // cosine: what faces along the normal has its body behind
    return LeastOfCorners(triangle_.from, gap_of) >= -flush_ &&
           Dot(normal, outward_) <= kAlong * Length(outward_);
  }

  SweptTriangle triangle_;
  SolidFace held_;
  Vec3 from_, to_;
  float flush_;
  Vec3 outward_;  // of the triangle, any length
  float come_;    // how far the point came before it met the plane that holds it
  float greatest_ = -std::numeric_limits<float>::infinity();  // of the gaps at the end
};

}  // namespace plush
