// SPDX-License-Identifier: MIT
// Where triangles that move enter solids, against deepest points at many times.
#include "contact/swept_triangle.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace plush;
using namespace plush::test;

namespace {

Solid RandomSolid(Random* random) {
  const auto length = [&] { return static_cast<float>(std::exp(random->Uniform(-3.0, 1.0))); };
  switch (random->Below(4)) {
    case 0:
      return {{{}, length()}};
    case 1:
      return {{{0.0f, length(), 0.0f}, length()}};
    case 2:
      return {{{length(), length(), length()}, 0.0f}};
    default:
      return {{{length(), length(), length()}, length()}};
  }
}

// The gap of the triangle's deepest point, this share of its way along.
double GapAt(const Solid& solid, const SweptTriangle& triangle, double share) {
  Vec3 corners[3];
  for (int k = 0; k < 3; ++k) {
    corners[k] = triangle.from[k] + (triangle.to[k] - triangle.from[k]) * static_cast<float>(share);
  }
  return double(FindDeepest(solid, corners).gap);
}

constexpr int kTimes = 200;

}  // namespace

TEST_CASE("Triangles that slide without turning enter a solid if they ever are in it") {
  int entered = 0, passed_by = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Solid solid = RandomSolid(&random);
    const double size = ToEigen(solid.Reach()).norm();
    const Vec3 way = ToVec3(random.Vector(4.0 * size));
    SweptTriangle triangle;
    for (int k = 0; k < 3; ++k) {
      triangle.from[k] = ToVec3(random.Vector(2.0 * size)) - way * 0.5f;
    }
    // A body's triangles meet what is outside of the body.
    const Vec3* from = triangle.from;
    if (Dot(Cross(from[1] - from[0], from[2] - from[0]), way) < 0.0f) {
      std::swap(triangle.from[1], triangle.from[2]);
    }
    for (int k = 0; k < 3; ++k) triangle.to[k] = triangle.from[k] + way;
    const double near = 0.01 * double(solid.Thinness());  // the search's tolerance
    if (GapAt(solid, triangle, 0.0) < 2.0 * near) continue;
    double least = GapAt(solid, triangle, 0.0);
    for (int i = 1; i <= kTimes; ++i) {
      least = std::min(least, GapAt(solid, triangle, double(i) / kTimes));
    }
    TrianglePoint point;
    Tangent plane;
    const bool enters = FindEntry(solid, triangle, &point, &plane);
    if (least > 2.0 * near) {
      CHECK_FALSE(enters);
      ++passed_by;
    } else if (least < -2.0 * near) {
      CHECK(enters);
      ++entered;
      if (solid.box.radius == 0.0f) continue;  // the triangle chooses among faces that meet
      // The plane's gap says how long ago it was at the surface.
      const double rest = double(plane.gap) / double(Dot(plane.normal, way));
      CHECK(std::fabs(GapAt(solid, triangle, 1.0 - rest)) < 2.0 * near + 1e-5 * size);
    }
  }
  CHECK(entered > 300);
  CHECK(passed_by > 300);
}
