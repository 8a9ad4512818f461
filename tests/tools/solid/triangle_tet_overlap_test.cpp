// SPDX-License-Identifier: MIT
// Separating axes against exact predicates on random and on touching pairs.
#include "solid/triangle_tet_overlap.h"

#include "mesh/exact_predicates.h"
#include "tools/cage/cage_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace plush::tools;
using namespace plush::tests;

namespace triangle_tet_overlap_test {

using Tet = std::array<Vec3d, 4>;

// Reference by exact predicates: a triangle touches a tet if it touches a face or lies inside.
bool TouchesExactly(const Triangle3& triangle, const Tet& tet) {
  const auto& [a, b, c, d] = tet;
  for (const Triangle3& face :
       {Triangle3{a, b, c}, Triangle3{a, b, d}, Triangle3{a, c, d}, Triangle3{b, c, d}}) {
    if (TrianglesIntersect(triangle, face)) return true;
  }
  const Vec3d& p = triangle[0];
  const int s0 = Orient3dSign(a, b, c, p);
  return s0 == Orient3dSign(a, d, b, p) && s0 == Orient3dSign(a, c, d, p) &&
         s0 == Orient3dSign(b, d, c, p);
}

TEST_CASE("Separating axes agree with exact predicates on random pairs") {
  std::mt19937 random(51);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  const auto point = [&](double size) {
    const double x = size * uniform(random), y = size * uniform(random);
    return Vec3d{x, y, size * uniform(random)};
  };
  int touching = 0;
  for (int i = 0; i < 20000; ++i) {
    const Tet tet = {point(1), point(1), point(1), point(1)};
    const double size = i % 2 == 0 ? 0.2 : 1.0;
    const Vec3d centre = point(1);
    const Triangle3 triangle = {centre + point(size), centre + point(size), centre + point(size)};
    const bool exact = TouchesExactly(triangle, tet);
    touching += exact ? 1 : 0;
    CHECK(TriangleMayTouchTet(triangle, tet) == exact);
  }
  CHECK(touching > 2000);
}

TEST_CASE("Pairs that touch in a point, an edge or a face are never missed") {
  // Small whole coordinates make touching pairs frequent and every sum exact.
  std::mt19937 random(52);
  const auto point = [&] {
    const double x = static_cast<double>(random() % 5), y = static_cast<double>(random() % 5);
    return Vec3d{x, y, static_cast<double>(random() % 5)};
  };
  int touching = 0;
  for (int i = 0; i < 20000; ++i) {
    const Tet tet = {point(), point(), point(), point()};
    const Triangle3 triangle = {point(), point(), point()};
    if (SixVolume(tet[0], tet[1], tet[2], tet[3]) == 0.0) continue;
    if (AreCollinear(triangle[0], triangle[1], triangle[2])) continue;
    if (!TouchesExactly(triangle, tet)) continue;
    ++touching;
    CHECK(TriangleMayTouchTet(triangle, tet));
  }
  CHECK(touching > 2000);
}

TEST_CASE("With a distance, near pairs are never missed and far pairs are recognised") {
  constexpr uint32_t kSeed = 53;
  INFO("seed " << kSeed);
  RandomNumbers random(kSeed);
  int near = 0, refused = 0, apart = 0;
  for (int i = 0; i < 20000; ++i) {
    Tet tet;
    for (Vec3d& corner : tet) corner = random.Point({-1, -1, -1}, {1, 1, 1});
    if (SixVolume(tet[0], tet[1], tet[2], tet[3]) < 0.0) std::swap(tet[0], tet[1]);
    const Vec3d centre = random.Point({-1, -1, -1}, {1, 1, 1});
    Triangle3 triangle;
    for (Vec3d& corner : triangle) corner = centre + random.Direction() * 0.3;
    double distance = TouchesExactly(triangle, tet) ? 0.0 : INFINITY;
    for (size_t face = 0; face < 4; ++face) {
      const auto [a, b, c] = FaceOf({0, 1, 2, 3}, face);
      distance = std::min(distance, TriangleDistance(triangle, {tet[a], tet[b], tet[c]}));
    }
    near += distance > 0.0 && distance < 0.2 ? 1 : 0;
    CHECK(TriangleMayTouchTet(triangle, tet, distance * (1.0 + 1e-9) + 1e-12));
    // Past a corner, the separating axes underestimate the distance.
    refused += distance > 0.0 && !TriangleMayTouchTet(triangle, tet, 0.5 * distance) ? 1 : 0;
    apart += distance > 0.0 ? 1 : 0;
  }
  CHECK(near > 2000);
  CHECK(refused > 0.99 * apart);
}

}  // namespace triangle_tet_overlap_test
