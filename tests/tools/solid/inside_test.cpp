// SPDX-License-Identifier: MIT
#include "solid/inside.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <random>

using namespace plush::tools;
using namespace plush::tests;

namespace {

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

}  // namespace

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
      const double x = uniform(random);
      const double y = uniform(random);
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
    const double x = uniform(random);
    const double y = uniform(random);
    const Vec3d offset = {x, y, uniform(random)};
    const double radius = Length(offset);
    if (radius > 0.995 && radius < 1.0) continue;  // between the polyhedron and the sphere
    CHECK(inside.IsInside(Vec3d{3, 4, 5} + offset) == (radius < 1.0));
  }
}

TEST_CASE("An empty surface has no inside") {
  const InsideTest inside{SolidSurface{}};
  CHECK(inside.WindingNumber({0, 0, 0}) == 0.0);
  CHECK_FALSE(inside.IsInside({0, 0, 0}));
}
