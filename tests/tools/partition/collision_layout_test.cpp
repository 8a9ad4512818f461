// SPDX-License-Identifier: MIT
#include "partition/collision_layout.h"

#include "partition/surface_clipping.h"
#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

using namespace plush;
using namespace plush::tools;
using namespace plush::tests;

TEST_CASE("Wide records equal packed ones") {
  const Partitioned out = PartitionOf(MakeTorus(1.0, 0.4, 24, 16));
  const ClippedSurface clipped = ClipSurface(out.solid, out.cage.mesh, out.cage.tet_of_point);
  const SurfacePatches patches = FindPatches(clipped.surface);
  const auto layout = [&](TriangleRecord record) {
    return LayOutCollision(clipped.surface, patches, out.cage.mesh, {}, record);
  };
  const CollisionData packed = layout(TriangleRecord::kSmallest);
  const CollisionData wide = layout(TriangleRecord::kWide);
  CHECK(packed.wide_triangles.empty());
  CHECK(wide.triangles.empty());
  CHECK(packed.source_triangles.empty());
  REQUIRE(packed.triangles.size() == wide.wide_triangles.size());
  for (size_t t = 0; t < packed.triangles.size(); ++t) {
    const CdgTriangleFields a = UnpackTriangle(packed.triangles[t]);
    const CdgTriangleFields b = UnpackTriangle(wide.wide_triangles[t]);
    CHECK(std::equal(a.vertices, a.vertices + 3, b.vertices));
    CHECK(std::equal(a.neighbours, a.neighbours + 3, b.neighbours));
    CHECK(a.bounds == b.bounds);
  }
}

TEST_CASE("The records of a collision surface take 36 bytes per triangle or less", "[long]") {
  const Partitioned out = PartitionOf(MakeTorus(1.0, 0.4, 240, 160));
  const CollisionData& data = out.partition.data;
  const double bytes = static_cast<double>(CollisionBytes(data, false));
  CHECK(bytes / static_cast<double>(data.triangles.size()) < 36.0);
}
