// SPDX-License-Identifier: MIT
// How thick bodies are, against shapes that tell and against brute force.
#include "partition/thickness.h"

#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <vector>

using namespace plush;
using namespace plush::tests;
using namespace plush::tools;

namespace thickness_test {

using Triangles = std::vector<std::array<uint32_t, 3>>;

double SignedVolume(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  return SixVolume(a, b, c, d);
}

// Looks at all triangles: the inward ray passes the triangle on the inner side of its three edges,
// as signed volumes say. Returns NaN if a ray comes near an edge: rounding then decides.
double ByBruteForce(const std::vector<Vec3d>& points, const Triangles& triangles, size_t from) {
  const auto corner = [&](size_t t, size_t k) { return points[triangles[t][k]]; };
  const Vec3d normal = Cross(corner(from, 1) - corner(from, 0), corner(from, 2) - corner(from, 0));
  const double length = Length(normal);
  if (length == 0.0) return 0.0;
  const Vec3d start = (corner(from, 0) + corner(from, 1) + corner(from, 2)) / 3.0;
  const Vec3d end = start - normal * (100.0 / length);
  double nearest = 0.0;
  for (size_t t = 0; t < triangles.size(); ++t) {
    const Vec3d a = corner(t, 0), b = corner(t, 1), c = corner(t, 2);
    const double at_start = SignedVolume(a, b, c, start), at_end = SignedVolume(a, b, c, end);
    // From behind: the ray starts on the inner side, where the volume is negative.
    if (t == from || !(at_start < 0.0 && at_end > 0.0)) continue;
    const double u = SignedVolume(start, end, a, b), v = SignedVolume(start, end, b, c),
                 w = SignedVolume(start, end, c, a);
    const double way = 100.0 * at_start / (at_start - at_end);
    const double sum = std::fabs(u) + std::fabs(v) + std::fabs(w);
    const double least = std::min({u, v, w}) / sum, most = std::max({u, v, w}) / sum;
    if (least < -1e-7 && most > 1e-7) continue;
    if (std::fabs(least) < 1e-7 || std::fabs(most) < 1e-7) return std::nan("");
    if (nearest == 0.0 || way < nearest) nearest = way;
  }
  return nearest;
}

TEST_CASE("A box is as thick as its sides are apart, and a ball as its diameter") {
  const SurfaceMesh box = MakeBox({0.0, 0.0, 0.0}, {1.0, 2.0, 0.25});
  for (const double way : TriangleThickness(box.positions, box.triangles)) {
    CHECK((way == Approx(1.0) || way == Approx(2.0) || way == Approx(0.25)));
  }
  const SurfaceMesh ball = MakeSphere(0.5, 24, 48);
  for (const double way : TriangleThickness(ball.positions, ball.triangles)) {
    CHECK(way == Approx(1.0).epsilon(0.01));
  }
}

TEST_CASE("What lies behind another surface does not count, nor does a sheet") {
  // A box inside another one: rays of the outer one end at its far side, not at the inner one's
  // near side, which faces them.
  SurfaceMesh nested = MakeBox({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
  const size_t outer = nested.triangles.size();
  const SurfaceMesh inner = MakeBox({0.4, 0.4, 0.4}, {0.6, 0.6, 0.6});
  const auto first = static_cast<uint32_t>(nested.positions.size());
  nested.positions.insert(nested.positions.end(), inner.positions.begin(), inner.positions.end());
  for (const auto& [a, b, c] : inner.triangles) {
    nested.triangles.push_back({first + a, first + b, first + c});
  }
  const std::vector<double> ways = TriangleThickness(nested.positions, nested.triangles);
  for (size_t t = outer; t < ways.size(); ++t) CHECK(ways[t] == Approx(0.2));
  const std::vector<Vec3d> sheet = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  for (const double way : TriangleThickness(sheet, Triangles{{0, 1, 2}, {1, 3, 2}})) {
    CHECK(way == 0.0);
  }
  CHECK(TriangleThickness(sheet, Triangles{{0, 1, 1}})[0] == 0.0);
}

TEST_CASE("Thicknesses equal those of brute force") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> shift(-0.02, 0.02);
  SurfaceMesh mesh = seed % 2 == 0 ? MakeTorus(1.0, 0.3, 30, 12) : MakeSphere(0.7, 14, 20);
  for (Vec3d& point : mesh.positions) point += {shift(random), shift(random), shift(random)};
  const std::vector<double> ways = TriangleThickness(mesh.positions, mesh.triangles);
  size_t compared = 0;
  for (size_t t = 0; t < ways.size(); ++t) {
    const double expected = ByBruteForce(mesh.positions, mesh.triangles, t);
    if (std::isnan(expected)) continue;
    ++compared;
    REQUIRE(ways[t] == Approx(expected).epsilon(1e-9));
  }
  CHECK(compared > ways.size() * 9 / 10);
}

TEST_CASE(
    "Patches store the least thickness of their triangles, the body that of 99% of its area") {
  const Partitioned out = PartitionOf(MakeTorus(1.0, 0.3, 40, 16));
  const CollisionData& data = out.partition.data;
  REQUIRE_FALSE(data.patches.empty());
  float least = 1e9f;
  for (const CdgPatch& patch : data.patches) {
    // Polygons are thinner than circles; rays near the cage's faces run as far as others.
    CHECK(patch.thickness > 0.55f);
    CHECK(patch.thickness < 0.62f);
    least = std::min(least, patch.thickness);
  }
  CHECK(data.thickness >= least);
  CHECK(data.thickness < 0.62f);
}

TEST_CASE("A thin fin of less than 1% of the area leaves the body's thickness alone") {
  const auto thickness_with = [](double share) {
    std::vector<Vec3d> points;
    Triangles triangles;
    const auto add_box = [&](const Vec3d& low, const Vec3d& high) {
      const SurfaceMesh box = MakeBox(low, high);
      const auto first = static_cast<uint32_t>(points.size());
      points.insert(points.end(), box.positions.begin(), box.positions.end());
      for (const auto& [a, b, c] : box.triangles) {
        triangles.push_back({first + a, first + b, first + c});
      }
    };
    add_box({0.0, 0.0, 0.0}, {1.0, 1.0, 1.0});
    const double side = std::sqrt(3.0 * share / (1.0 - share));  // of a plate apart
    add_box({5.0, 0.0, 0.0}, {5.0 + side, side, 1e-3});
    const CdgPatch whole;
    return MeasureThickness(points, triangles, {&whole, 1});
  };
  const SurfaceThickness small = thickness_with(0.009), large = thickness_with(0.012);
  CHECK(small.of_patches[0] == Approx(1e-3f));
  CHECK(small.of_body > 0.05f);
  CHECK(large.of_body == Approx(1e-3f));
}

}  // namespace thickness_test
