// SPDX-License-Identifier: MIT
// Distances found through the trees, against those to every triangle.
#include "collision/point_query.h"

#include "base/vector_math.h"
#include "runtime/collision/surface_fixtures.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush;
using namespace plush::test;
using plush::tests::FullTests;

namespace point_query_test {

std::vector<double> DistancesTo(const SurfaceBody& body, const Eigen::Vector3d& point) {
  std::vector<double> distances;
  for (uint32_t i = 0; i < body.surface().num_triangles(); ++i) {
    double x[3][3];
    for (int k = 0; k < 3; ++k) {
      const Eigen::Vector3d corner = ToEigen(body.CornerPosition(i, k)) - point;
      for (int c = 0; c < 3; ++c) x[k][c] = corner[c];
    }
    distances.push_back(std::sqrt(NearestToOrigin(x[0], x[1], x[2]).distance2));
  }
  return distances;
}

uint32_t CountNear(const CollisionBody& body, const Eigen::Vector3d& point, double radius) {
  struct Count {
    uint32_t found;
    double radius;
  } count = {0, radius};
  ForNear(body, point.data(), radius, &count, [](void* user, const SurfaceHit& hit) {
    auto* c = static_cast<Count*>(user);
    c->found += hit.distance <= c->radius ? 1u : 0u;
    return c->radius;
  });
  return count.found;
}

TEST_CASE("No point of a triangle is nearer than its closest point") {
  Random random(40);
  for (int i = 0; i < 3000; ++i) {
    Eigen::Vector3d x[3] = {random.Vector(1.0), random.Vector(1.0), random.Vector(1.0)};
    if (i % 5 == 1) x[1] = x[0];
    if (i % 5 == 2) x[2] = 0.3 * x[0] + 0.7 * x[1];  // on a line
    if (i % 25 == 4) x[1] = x[2] = x[0];
    const auto corner = [&](size_t k) -> const double(&)[3] {
      return *reinterpret_cast<const double(*)[3]>(x[k].data());
    };
    const TrianglePlace place = NearestToOrigin(corner(0), corner(1), corner(2));
    const Eigen::Vector3d p = place.part[0] * x[0] + place.part[1] * x[1] + place.part[2] * x[2];
    REQUIRE(place.part[0] + place.part[1] + place.part[2] == Approx(1.0));
    REQUIRE(*std::min_element(place.part, place.part + 3) >= 0.0);
    REQUIRE(p.norm() == Approx(std::sqrt(place.distance2)).margin(1e-7));
    for (int k = 0; k < 30; ++k) {
      double u = random.Uniform(0.0, 1.0), v = random.Uniform(0.0, 1.0);
      if (u + v > 1.0) u = 1.0 - u, v = 1.0 - v;
      const Eigen::Vector3d q = u * x[0] + v * x[1] + (1.0 - u - v) * x[2];
      REQUIRE(q.norm() >= p.norm() - 1e-9);
    }
  }
}

TEST_CASE("Point queries agree with distances to every triangle, however the body is deformed",
          "[long]") {
  const int bodies = FullTests() ? 400 : 60, points = 40;
  const uint32_t seed = 41;
  CAPTURE(seed);
  Random random(seed);
  const auto record = GENERATE(tools::TriangleRecord::kSmallest, tools::TriangleRecord::kWide);
  SurfaceBody body(TetBox(2, 1, 2, 0.1, 0.08, 9), {.parts = 4, .num_shells = 4, .record = record});
  int wrong_nearest = 0, wrong_counts = 0, found = 0;
  for (int i = 0; i < bodies; ++i) {
    const auto kind = static_cast<Deformation>(i % static_cast<int>(Deformation::kCount));
    body.Move(Deform(body.shape().rest(), kind, &random));
    const Points x = ToEigen(std::vector<Vec3>(body.x().begin(), body.x().end()));
    const Eigen::Vector3d middle = x.rowwise().mean();
    const double size = (x.rowwise().maxCoeff() - x.rowwise().minCoeff()).norm() + 1e-9;
    for (int p = 0; p < points; ++p) {
      const Eigen::Vector3d point = middle + random.Vector(p % 4 == 0 ? 100.0 * size : size);
      const std::vector<double> distances = DistancesTo(body, point);
      const auto nearest = std::min_element(distances.begin(), distances.end());
      SurfaceHit hit;
      if (!ClosestPoint(body.view(), point.data(), 1e30, &hit) || hit.distance != *nearest ||
          hit.triangle != nearest - distances.begin()) {
        ++wrong_nearest;
      }
      const double radius = *nearest * random.Uniform(0.5, 2.0);
      const auto within = static_cast<uint32_t>(
          std::count_if(distances.begin(), distances.end(), [&](double d) { return d <= radius; }));
      wrong_counts += CountNear(body.view(), point, radius) != within ? 1 : 0;
      found += within > 0 ? 1 : 0;
      REQUIRE(ClosestPoint(body.view(), point.data(), radius, &hit) == (within > 0));
    }
  }
  CHECK(wrong_nearest == 0);
  CHECK(wrong_counts == 0);
  CHECK(found > bodies * points / 3);
}

TEST_CASE("Points on bodies of any size and place give finite answers") {
  SurfaceBody body(TetBox(1, 1, 1, 1.0, 0.08, 2), {.parts = 3});
  Random random(42);
  for (int exponent = -44; exponent <= 38; ++exponent) {
    const double scale = std::pow(10.0, exponent);
    CAPTURE(exponent);
    body.Move(ToVec3s(ToEigen(body.shape().rest()) * scale));
    for (int r = 0; r < 20; ++r) {
      const Eigen::Vector3d point = random.Vector(r % 2 == 0 ? 2.0 * scale : 3e38);
      SurfaceHit hit;
      REQUIRE(ClosestPoint(body.view(), point.data(), 1e39, &hit));
      double back[3];
      VectorToPoint(body.view(), hit, point.data(), back);
      const double origin[3] = {};
      const SurfacePoint place = DescribeHit(body.view(), hit, back, origin);
      REQUIRE(IsFinite(place.position));
      REQUIRE(std::isfinite(place.distance));
      REQUIRE(ToEigen(place.normal).norm() == Approx(1.0).epsilon(1e-5));
    }
  }
}

}  // namespace point_query_test
