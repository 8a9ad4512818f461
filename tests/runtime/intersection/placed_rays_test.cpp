// SPDX-License-Identifier: MIT
// Rays through placed patches hit what rays through the trees do.
#include "intersection/placed_rays.h"

#include "runtime/collision/surface_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace plush;
using namespace plush::test;

namespace placed_rays_test {

bool Same(const SurfaceHit& a, const SurfaceHit& b) {
  return a.triangle == b.triangle && a.patch == b.patch && a.tet == b.tet &&
         a.distance == b.distance && std::equal(a.part, a.part + 3, b.part);
}

TEST_CASE("Rays through placed patches hit what those through trees do, however bodies deform",
          "[long]") {
  const uint32_t seed = 35;
  CAPTURE(seed);
  Random random(seed);
  const auto record = GENERATE(tools::TriangleRecord::kSmallest, tools::TriangleRecord::kWide);
  SurfaceBody body(TetBox(2, 1, 2, 0.1, 0.08, 9), {.parts = 4, .num_shells = 4, .record = record});
  PlacedPatches placed;
  REQUIRE(placed.Reserve(DefaultAllocator(), body.surface().vertices.size(),
                         body.surface().num_triangles(), body.surface().patches.size()));
  CollisionState volumes_only;
  REQUIRE(volumes_only.Reserve(DefaultAllocator(), body.surface(), body.x().size()));
  size_t met = 0, near = 0;
  for (int i = 0; i < 60; ++i) {
    const auto kind = static_cast<Deformation>(i % static_cast<int>(Deformation::kCount));
    CAPTURE(i);
    body.Move(Deform(body.shape().rest(), kind, &random));
    RefitVolumes(body.surface(), body.x(), &volumes_only);
    const CollisionBody view = {body.surface(), body.shape().simulation().nodes, body.x(),
                                volumes_only};
    const double size = double(body.state().radius);
    const Vec3 offset = ToVec3(random.Vector(i % 2 == 0 ? 0.0 : 3.0 * size));
    const PlacedSurface surface = {view, offset, Surface::kFixed, &placed};
    placed.Begin();
    for (int k = 0; k < 200; ++k) {
      CAPTURE(k);
      // From about a corner, or from afar; along an axis, or anywhere.
      const uint32_t triangle = random.Below(body.surface().num_triangles());
      const Eigen::Vector3d corner = ToEigen(body.CornerPosition(triangle, 0));
      const double away = random.Below(4) == 0 ? 10.0 * size : 0.1 * size;
      Eigen::Vector3d direction = random.Direction();
      if (random.Below(3) == 0) direction = Eigen::Vector3d::Unit(random.Below(3));
      const Eigen::Vector3d start = corner - away * random.Uniform(0.0, 1.0) * direction;
      const double max_t = random.Uniform(0.0, random.Below(2) == 0 ? 20.0 : 0.2) * size;
      const LocalRay ray = {
          {start.x(), start.y(), start.z()}, {direction.x(), direction.y(), direction.z()}, max_t};
      SurfaceHit expected, hit;
      const bool meets = Raycast(body.view(), ray, &expected);
      REQUIRE(CastRay(surface, ray, &hit) == meets);
      if (!meets) continue;
      REQUIRE(Same(hit, expected));
      ++met;
      near += hit.distance < 0.05 * size ? 1 : 0;
      // Rays without frames test all triangles of a tet.
      REQUIRE(Raycast(view, ray, &hit));
      REQUIRE(Same(hit, expected));
    }
  }
  CHECK(met > 4000);
  CHECK(near > 1000);
}

}  // namespace placed_rays_test
