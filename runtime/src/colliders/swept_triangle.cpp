// SPDX-License-Identifier: MIT
// Source: swept_triangle.h.
#include "colliders/swept_triangle.h"

#include <algorithm>
#include <cmath>

namespace plush {

bool MayPass(const Solid& solid, const SweptTriangle& triangle) {
  const float thinness = solid.Thinness();
  for (int k = 0; k < 3; ++k) {
    const Vec3 way = triangle.to[k] - triangle.from[k];
    if (Dot(way, way) > thinness * thinness) return true;
  }
  return false;
}

namespace {

// Whether all corners are beyond the same side of the solid's bounding box all the way.
bool IsBeside(const Solid& solid, const SweptTriangle& triangle) {
  const Vec3 reach = solid.Reach();
  const auto axis = [&](float Vec3::*k) {
    float low = triangle.from[0].*k, high = low;
    for (int c = 0; c < 3; ++c) {
      low = std::min({low, triangle.from[c].*k, triangle.to[c].*k});
      high = std::max({high, triangle.from[c].*k, triangle.to[c].*k});
    }
    return low > reach.*k || high < -(reach.*k);
  };
  return axis(&Vec3::x) || axis(&Vec3::y) || axis(&Vec3::z);
}

}  // namespace

// Conservative advancement [Mirtich 1996]: while a plane separates the two, they meet no earlier
// than the corner that approaches it fastest.
bool FindEntry(const Solid& solid, const SweptTriangle& triangle, TrianglePoint* point,
               Tangent* plane) {
  constexpr int kMostSteps = 128;
  constexpr float kTolerance = 1.0e-2f;  // [thinness]
  if (IsBeside(solid, triangle)) return false;
  const float tolerance = kTolerance * solid.Thinness();
  float farthest = 0.0f;
  Vec3 ways[3];
  for (int k = 0; k < 3; ++k) {
    ways[k] = triangle.to[k] - triangle.from[k];
    farthest = std::fmax(farthest, Length(ways[k]));
  }
  float at = 0.0f;
  for (int step = 0; step < kMostSteps; ++step) {
    Vec3 corners[3];
    for (int k = 0; k < 3; ++k) corners[k] = triangle.from[k] + ways[k] * at;
    // First a plane that takes no search.
    Vec3 place = (corners[0] + corners[1] + corners[2]) * (1.0f / 3.0f);
    for (const bool is_exact : {false, true}) {
      if (is_exact) {
        *point = FindDeepest(solid, corners);
        if (point->gap <= tolerance) {
          if (step == 0 && point->gap < 0.0f) return false;
          // The triangle's own plane, unless it slides along that one past an edge.
          const Vec3 rest = PointOf(ways, *point) * (1.0f - at);
          *plane = PlaneBetween(solid, corners, *point);
          if (!(plane->gap + Dot(plane->normal, rest) < 0.0f)) {
            *plane = TangentAt(solid, PointOf(corners, *point));
          }
          plane->gap += Dot(plane->normal, rest);
          return plane->gap < 0.0f;
        }
        place = PointOf(corners, *point);
      }
      const Tangent tangent = TangentAt(solid, place);
      float least = tangent.gap, approach = 0.0f;
      for (int k = 0; k < 3; ++k) {
        least = std::fmin(least, tangent.gap + Dot(tangent.normal, corners[k] - place));
        approach = std::fmax(approach, -Dot(tangent.normal, ways[k]));
      }
      if (least > tolerance) {
        if (!(at + least / approach < 1.0f)) return false;
        at += (least - 0.5f * tolerance) / approach;
        break;
      }
      if (!is_exact) continue;
      at += (point->gap - 0.5f * tolerance) / farthest;
      if (!(at < 1.0f)) return false;
    }
  }
  return false;
}

}  // namespace plush
