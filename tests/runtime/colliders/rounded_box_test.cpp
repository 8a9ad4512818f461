// SPDX-License-Identifier: MIT
// Distances, entries and deepest points of spheres, capsules and boxes against brute force.
#include "colliders/rounded_box.h"

#include "colliders/deepest_by_planes.h"
#include "colliders/swept_triangle.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

using namespace plush;
using namespace plush::test;

namespace rounded_box_test {

RoundedBox RandomSolid(Random* random) {
  const auto length = [&] { return static_cast<float>(std::exp(random->Uniform(-2.0, 1.0))); };
  switch (random->Below(4)) {
    case 0:
      return {{}, length()};
    case 1:
      return {{0.0f, length(), 0.0f}, length()};
    case 2:
      return {{length(), length(), length()}, 0.0f};
    default:
      return {{length(), length(), length()}, length()};
  }
}

// From the nearest point of the box outside, from its faces inside.
double DistanceOf(const RoundedBox& solid, const Eigen::Vector3d& p) {
  const Eigen::Vector3d half = ToEigen(solid.half_extents);
  const Eigen::Vector3d nearest = p.cwiseMax(-half).cwiseMin(half);
  const double outside = (p - nearest).norm();
  return (outside > 0.0 ? outside : -(half - p.cwiseAbs()).minCoeff()) - double(solid.radius);
}

double SizeOf(const RoundedBox& solid) { return ToEigen(solid.Reach()).norm(); }

Vec3 RandomPoint(const RoundedBox& solid, Random* random) {
  return ToVec3(random->Vector(1.5 * SizeOf(solid)));
}

// The gap of the triangle's deepest point, this share of its way along.
double GapAt(const Solid& solid, const SweptTriangle& triangle, double share) {
  Vec3 corners[3];
  for (int k = 0; k < 3; ++k) {
    corners[k] = triangle.from[k] + (triangle.to[k] - triangle.from[k]) * static_cast<float>(share);
  }
  return double(FindDeepest(solid, corners).gap);
}

TEST_CASE(
    "The distance from a solid is that of its nearest point, and its plane below all others") {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const RoundedBox solid = RandomSolid(&random);
    const double size = SizeOf(solid);
    for (int k = 0; k < 20; ++k) {
      const Vec3 p = RandomPoint(solid, &random), q = RandomPoint(solid, &random);
      const Tangent tangent = TangentAt(solid, p);
      CHECK(double(tangent.gap) == Approx(DistanceOf(solid, ToEigen(p))).margin(1e-6 * size));
      const Eigen::Vector3d n = ToEigen(tangent.normal);
      CHECK(n.norm() == Approx(1.0));
      // The gradient, and a lower bound everywhere: the distance is convex.
      const double step = 1e-3 * size;
      CHECK(DistanceOf(solid, ToEigen(p) + step * n) ==
            Approx(double(tangent.gap) + step).margin(1e-5 * size));
      CHECK(DistanceOf(solid, ToEigen(q)) >
            double(tangent.gap) + n.dot(ToEigen(q) - ToEigen(p)) - 1e-5 * size);
    }
  }
}

TEST_CASE("In the middle of solids there is a normal, too") {
  for (const RoundedBox& solid : {RoundedBox{{}, 1.0f}, RoundedBox{{0.0f, 1.0f, 0.0f}, 0.5f},
                                  RoundedBox{{1.0f, 1.0f, 1.0f}, 0.0f}}) {
    const Tangent tangent = TangentAt(solid, {});
    CHECK(ToEigen(tangent.normal).norm() == Approx(1.0));
    CHECK(tangent.gap == Approx(DistanceOf(solid, Eigen::Vector3d::Zero())));
  }
}

TEST_CASE("A way enters a solid where it first gets inside") {
  int entered = 0, passed = 0;
  for (uint32_t seed = 1; seed <= 4000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const RoundedBox solid = RandomSolid(&random);
    const double size = SizeOf(solid);
    const Vec3 from = RandomPoint(solid, &random), to = RandomPoint(solid, &random);
    if (TangentAt(solid, from).gap < 0.0f) continue;
    const Eigen::Vector3d a = ToEigen(from), way = ToEigen(to) - a;
    double first = 2.0, least = size;
    for (int k = 0; k <= 1000; ++k) {
      const double gap = DistanceOf(solid, a + 0.001 * k * way);
      least = std::min(least, gap);
      if (gap < 0.0) first = std::min(first, 0.001 * k);
    }
    Tangent hit;
    const bool enters = FindEntry(solid, from, to, &hit);
    if (least < -1e-4 * size) CHECK(enters);
    if (least > 1e-2 * size) CHECK_FALSE(enters);
    if (!enters) continue;
    ++entered;
    if (TangentAt(solid, to).gap > 0.0f) ++passed;
    // The start is in front of the plane, the end behind it, and the entry on it.
    const Eigen::Vector3d n = ToEigen(hit.normal);
    const double approach = -n.dot(way);
    CHECK(hit.gap < 0.0f);
    CHECK(approach > 0.0);
    const double at = 1.0 + double(hit.gap) / approach;
    CHECK(std::fabs(DistanceOf(solid, a + at * way)) < 1e-4 * size);
    if (first < 2.0) CHECK(at < first + 1e-3);
    for (int k = 0; k < 10; ++k) {  // the solid is behind it
      const Vec3 p = RandomPoint(solid, &random);
      const double in_front = n.dot(ToEigen(p) - (a + at * way));
      CHECK(DistanceOf(solid, ToEigen(p)) > in_front - 1e-4 * size);
    }
  }
  CHECK(entered > 500);
  CHECK(passed > 100);
}

// Triangles of a body that slides along x at the level of the top or of the bottom.
TEST_CASE("What slides along a face is held by it, unless its body is behind it") {
  const RoundedBox box = {{1.0f, 1.0f, 1.0f}, 0.0f};
  constexpr float kFlush = 1.0e-4f, kWay = 0.3f;
  const auto side_for = [&](Vec3 a, Vec3 b, Vec3 c, float fall) {
    SweptTriangle triangle = {{a, b, c}, {a, b, c}};
    for (Vec3& corner : triangle.to) corner += Vec3{kWay, -fall, 0.0f};
    const SolidFace side = {{-1.0f, 0.0f, 0.0f}, 1.0f};  // which it meets on its way
    return ToEigen(FindEasierFace(box, {triangle, side, a, triangle.to[0], kFlush}).normal);
  };
  const Eigen::Vector3d up = {0.0, 1.0, 0.0}, none = {0.0, 0.0, 0.0};
  for (const float level : {1.0f, 1.0f - 0.5f * kFlush, 1.0f + 0.5f * kFlush}) {
    CAPTURE(level);
    const Vec3 a = {-1.1f, level, 0.0f}, behind = {-1.2f, level, 0.1f}, beside = {-1.2f, level, 0};
    const Vec3 above = {-1.1f, level + 0.1f, 0.1f};
    CHECK(side_for(a, behind, beside, 0.0f) == up);  // of the base, and of the front
    CHECK(side_for(a, above, {-1.1f, level, 0.1f}, 0.0f) == up);
    CHECK(side_for(a, behind, beside, 0.05f) == up);    // not held up yet
    CHECK(side_for(a, behind, beside, 0.35f) == none);  // falls
    // Of a body below that level.
    CHECK(side_for(a, beside, behind, 0.0f) == none);
    CHECK(side_for(a, {-1.1f, level - 0.1f, 0.1f}, beside, 0.0f) == none);
  }
  const float low = 1.0f - 2.0f * kFlush;  // a step
  CHECK(side_for({-1.1f, low, 0.0f}, {-1.2f, low, 0.1f}, {-1.2f, low, 0.0f}, 0.0f) == none);
}

TEST_CASE("The deepest point of a triangle is that of a fine grid") {
  int inside = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const RoundedBox solid = RandomSolid(&random);
    const double size = SizeOf(solid);
    std::array<Vec3, 3> corners;
    for (Vec3& corner : corners) corner = RandomPoint(solid, &random);
    const auto at = [&](double u, double v) {
      return Eigen::Vector3d(ToEigen(corners[0]) * (1.0 - u - v) + ToEigen(corners[1]) * u +
                             ToEigen(corners[2]) * v);
    };
    double least = DistanceOf(solid, at(0.0, 0.0)), of_corners = least;
    constexpr int kGrid = 60;
    for (int i = 0; i <= kGrid; ++i) {
      for (int j = 0; i + j <= kGrid; ++j) {
        const double gap = DistanceOf(solid, at(double(i) / kGrid, double(j) / kGrid));
        least = std::min(least, gap);
        if (i == kGrid || j == kGrid) of_corners = std::min(of_corners, gap);
      }
    }
    const TrianglePoint deepest = FindDeepest(solid, corners.data());
    CHECK(deepest.u >= 0.0f);
    CHECK(deepest.v >= 0.0f);
    CHECK(deepest.u + deepest.v <= 1.0f + 1e-6f);
    CHECK(double(deepest.gap) ==
          Approx(DistanceOf(solid, at(double(deepest.u), double(deepest.v)))).margin(1e-5 * size));
    // Rounded boxes, and others outside, are found by searches.
    const bool is_box = solid.radius == 0.0f, is_rounded = solid.half_extents.x > 0.0f && !is_box;
    const bool is_exact = is_box ? least < 0.0 : !is_rounded;
    CHECK(double(deepest.gap) < least + (is_exact ? 1e-5 : 1e-3) * size);
    if (least < of_corners - 1e-2 * size) ++inside;
    for (const double more : {-0.1, 0.1}) {
      const float limit = deepest.gap + static_cast<float>(more * size);
      const TrianglePoint below = FindDeepest(solid, corners.data(), limit);
      if (more > 0.0) CHECK(below.gap == deepest.gap);
      if (more < 0.0) CHECK(below.gap >= limit);
    }
  }
  CHECK(inside > 200);
}

TEST_CASE("Triangles that slide without turning enter a solid if they ever are in it", "[long]") {
  int entered = 0, passed_by = 0;
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const Solid solid = {RandomSolid(&random)};
    const double size = SizeOf(solid.box);
    const Vec3 way = ToVec3(random.Vector(4.0 * size));
    SweptTriangle triangle;
    for (int k = 0; k < 3; ++k) triangle.from[k] = ToVec3(random.Vector(2.0 * size)) - way * 0.5f;
    // A body's triangles meet what is outside of the body.
    const Vec3* from = triangle.from;
    if (Dot(Cross(from[1] - from[0], from[2] - from[0]), way) < 0.0f) {
      std::swap(triangle.from[1], triangle.from[2]);
    }
    for (int k = 0; k < 3; ++k) triangle.to[k] = triangle.from[k] + way;
    const double near = 0.01 * double(solid.Thinness());  // the search's tolerance
    if (GapAt(solid, triangle, 0.0) < 2.0 * near) continue;
    constexpr int kTimes = 200;
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

// Each plane is its values at the corners of a triangle. The reference looks at a grid, then at
// finer and finer ones around the lowest point.
TEST_CASE("The least greatest value of planes is that of a fine grid") {
  int inside = 0, on_edge = 0;
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    LeastOfPlanes least;
    std::vector<std::array<float, 3>> planes;
    while (!least.is_full()) {
      // As in a search, each plane is above the others at their lowest point.
      const TrianglePoint last = least.point();
      std::array<float, 3> values;
      for (float& value : values) value = static_cast<float>(random.Uniform(-1.0, 1.0));
      const float there =
          values[0] * (1.0f - last.u - last.v) + values[1] * last.u + values[2] * last.v;
      const auto raise = last.gap - there + static_cast<float>(random.Uniform(0.01, 0.5));
      if (!planes.empty()) {
        for (float& value : values) value += raise;
      }
      least.Add({values[0], values[1], values[2]});
      planes.push_back(values);
      const auto greatest_at = [&](double u, double v) {
        double greatest = -1e9;
        for (const auto& p : planes) {
          greatest = std::max(greatest,
                              double(p[0]) * (1.0 - u - v) + double(p[1]) * u + double(p[2]) * v);
        }
        return greatest;
      };
      double lowest = 1e9, at_u = 0.0, at_v = 0.0, step = 0.05;
      const auto look_at = [&](double u, double v) {
        if (u < 0.0 || v < 0.0 || u + v > 1.0 || greatest_at(u, v) >= lowest) return;
        lowest = greatest_at(u, v), at_u = u, at_v = v;
      };
      for (int i = 0; i <= 20; ++i) {
        for (int j = 0; i + j <= 20; ++j) look_at(i / 20.0, j / 20.0);
      }
      for (int round = 0; round < 12; ++round, step *= 0.4) {
        const double u = at_u, v = at_v;
        for (int i = -5; i <= 5; ++i) {
          for (int j = -5; j <= 5; ++j) look_at(u + 0.4 * i * step, v + 0.4 * j * step);
        }
      }
      const TrianglePoint found = least.point();
      CHECK(greatest_at(double(found.u), double(found.v)) ==
            Approx(double(found.gap)).margin(1e-5));
      CHECK(double(found.gap) < lowest + 1e-5);
      CHECK(found.u >= 0.0f);
      CHECK(found.v >= 0.0f);
      CHECK(found.u + found.v < 1.0f + 1e-5f);
      const float w = 1.0f - found.u - found.v;
      const int zeros = (found.u < 1e-5f) + (found.v < 1e-5f) + (w < 1e-5f);
      inside += zeros == 0 ? 1 : 0;
      on_edge += zeros == 1 ? 1 : 0;
    }
  }
  CHECK(inside > 300);
  CHECK(on_edge > 300);
}

}  // namespace rounded_box_test
