// SPDX-License-Identifier: MIT
// Distances of triangles from surfaces, against samples.
#include "mesh/surface_distance.h"

#include "mesh/tet_mesh.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

using namespace plush::tools;
using namespace plush::tests;

namespace surface_distance_test {

double DistanceByAll(const SurfaceMesh& mesh, const Vec3d& p) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const auto& [a, b, c] : mesh.triangles) {
    nearest =
        std::min(nearest, Length(p - ClosestPointOnTriangle(p, mesh.positions[a], mesh.positions[b],
                                                            mesh.positions[c])));
  }
  return nearest;
}

// The largest distance of the points of a grid over the triangle.
double SampledFarthest(const SurfaceMesh& mesh, const Triangle3& t, int n) {
  double farthest = 0.0;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; i + j <= n; ++j) {
      const Vec3d p = t[0] + (t[1] - t[0]) * (double(i) / n) + (t[2] - t[0]) * (double(j) / n);
      farthest = std::max(farthest, DistanceByAll(mesh, p));
    }
  }
  return farthest;
}

TEST_CASE("The nearest triangle and distance are those of all triangles") {
  const SurfaceMesh mesh = MakeTriangleSoup(80, 0.4, 11);
  const SurfaceDistance distance(mesh.positions, mesh.triangles);
  RandomNumbers random(12);
  uint32_t hint = 0;
  for (int i = 0; i < 500; ++i) {
    const Vec3d p = random.Point({-1, -1, -1}, {2, 2, 2});
    CHECK(distance.DistanceOf(p, &hint) == DistanceByAll(mesh, p));
    CHECK(distance.Nearest(p) == hint);
  }
}

TEST_CASE("A triangle within a limit has all its points there, and is found unless it is close") {
  const SurfaceMesh meshes[] = {MakeSphere(0.5, 8, 12, {0.5, 0.5, 0.5}),
                                MakeTriangleSoup(60, 0.5, 21),
                                MakeGridBox({0.2, 0.2, 0.2}, {0.8, 0.8, 0.8}, 4)};
  RandomNumbers random(22);
  int within = 0, beyond = 0;
  for (const SurfaceMesh& mesh : meshes) {
    const SurfaceDistance distance(mesh.positions, mesh.triangles);
    for (int i = 0; i < 200; ++i) {
      const Vec3d a = random.Point({0, 0, 0}, {1, 1, 1});
      const Triangle3 t = {a, a + random.Direction() * random.In(0.01, 0.5),
                           a + random.Direction() * random.In(0.01, 0.5)};
      const double farthest = SampledFarthest(mesh, t, 16), limit = random.In(0.02, 0.5);
      INFO("triangle " << i << ", farthest " << farthest << ", limit " << limit);
      const bool is_within = distance.IsWithin(t, limit);
      if (is_within) CHECK(farthest <= limit * (1 + 1e-12));
      // Samples lie at most 1/32 of the triangle's size from any point.
      if (!is_within) CHECK(farthest + 0.5 / 16 >= limit * (1 - kDistanceShare));
      (is_within ? within : beyond) += 1;
      const std::array<uint32_t, 3> ids = {0, 1, 2};
      const double bound = distance.Farthest(t, {&ids, 1}, 0.01);
      CHECK(bound >= farthest);
      CHECK(bound <= farthest + 0.5 / 16 + 0.01);
    }
  }
  CHECK(within > 100);
  CHECK(beyond > 100);
}

TEST_CASE("A surface is at no distance from itself, and a moved one at that of the move") {
  const SurfaceMesh mesh = MakeGridBox({0, 0, 0}, {1, 1, 1}, 5);
  const SurfaceDistance distance(mesh.positions, mesh.triangles);
  CHECK(distance.Farthest(mesh.positions, mesh.triangles, 0.01) == 0.0);
  SurfaceMesh moved = mesh;
  for (Vec3d& p : moved.positions) p += Vec3d{0.25, 0, 0};
  const double bound = distance.Farthest(moved.positions, moved.triangles, 0.01);
  CHECK(bound >= 0.25);
  CHECK(bound <= 0.26);
}

}  // namespace surface_distance_test
