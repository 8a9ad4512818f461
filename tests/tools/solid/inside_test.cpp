// SPDX-License-Identifier: MIT
#include "solid/inside.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

using namespace plush::tools;
using namespace plush::tests;

namespace inside_test {

double BruteForceWinding(const SolidSurface& solid, const Vec3d& point) {
  double winding = 0.0;
  for (const auto& [a, b, c] : solid.triangles) {
    winding += WindingOfTriangle(point, solid.points[a], solid.points[b], solid.points[c]);
  }
  return winding;
}

SolidSurface SolidOf(const SurfaceMesh& mesh) {
  FindingList findings;
  return MakeSolidSurface(mesh, &findings);
}

TEST_CASE("The winding tree agrees with the sum over all triangles") {
  const SurfaceMesh meshes[] = {MakeSphere(1.0, 24, 48), MakeTorus(1.0, 0.3, 48, 24),
                                MakeOpenBox({-1, -1, -1}, {1, 1, 1}),
                                MakeMoebiusStrip(1.0, 0.5, 200), MakeTriangleSoup(2000, 0.2, 5)};
  for (const SurfaceMesh& mesh : meshes) {
    const SolidSurface solid = SolidOf(mesh);
    const InsideTest inside(solid);
    std::mt19937 random(33);
    std::uniform_real_distribution<double> uniform(-1.5, 1.5);
    for (int i = 0; i < 500; ++i) {
      const double x = uniform(random), y = uniform(random);
      const Vec3d point = {x, y, uniform(random)};
      CHECK(std::abs(inside.WindingNumber(point) - BruteForceWinding(solid, point)) < 0.08);
    }
  }
}

TEST_CASE("Points of a sphere are inside by their radius") {
  const InsideTest inside(SolidOf(MakeSphere(1.0, 60, 120, {3, 4, 5})));
  std::mt19937 random(34);
  std::uniform_real_distribution<double> uniform(-1.3, 1.3);
  for (int i = 0; i < 2000; ++i) {
    const double x = uniform(random), y = uniform(random);
    const Vec3d offset = {x, y, uniform(random)};
    const double radius = Length(offset);
    if (radius > 0.995 && radius < 1.0) continue;  // between the polyhedron and the sphere
    CHECK(inside.IsInside(Vec3d{3, 4, 5} + offset) == (radius < 1.0));
  }
}

TEST_CASE("All of an open box is inside, nothing beyond its opening") {
  const bool turned = GENERATE(false, true);
  CAPTURE(turned);
  SolidSurface solid = SolidOf(MakeOpenBox({-1, -1, -1}, {1, 1, 1}));  // open towards +y
  if (turned) {
    for (auto& triangle : solid.triangles) std::swap(triangle[1], triangle[2]);
  }
  const InsideTest inside(solid);
  // On the open side the winding number passes through 1/2. Up to 1/56 away, it is at least 0.508
  // inside and at most 0.492 outside.
  constexpr int kCells = 56;
  const auto place = [](int i) { return (2 * i + 1.0) / kCells - 1.0; };
  double least = 1.0, most = 0.0;
  int missed = 0, beyond = 0;
  for (int i = 0; i < kCells; ++i) {
    for (int k = 0; k < kCells; ++k) {
      for (int j = 0; j < kCells; ++j) {
        const Vec3d point = {place(i), place(j), place(k)};
        least = std::min(least, std::abs(inside.WindingNumber(point)));
        missed += inside.IsInside(point) ? 0 : 1;
      }
      const Vec3d point = {place(i), place(kCells), place(k)};
      most = std::max(most, std::abs(inside.WindingNumber(point)));
      beyond += inside.IsInside(point) ? 1 : 0;
    }
  }
  CAPTURE(least, most);
  CHECK(missed == 0);
  CHECK(beyond == 0);
  CHECK(least == Approx(0.508).margin(5e-4));
  CHECK(most == Approx(0.492).margin(5e-4));
}

TEST_CASE("An empty surface has no inside") {
  const InsideTest inside{SolidSurface{}};
  CHECK(inside.WindingNumber({0, 0, 0}) == 0.0);
  CHECK_FALSE(inside.IsInside({0, 0, 0}));
}

}  // namespace inside_test
