// SPDX-License-Identifier: MIT
#include "partition/short_edges.h"

#include "partition/patches.h"
#include "partition/surface_clipping.h"
#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

using namespace plush::tools;
using namespace plush::tests;

namespace {

int EulerOf(const CutSurface& surface) {
  std::vector<uint32_t> all(surface.triangles.size());
  for (uint32_t t = 0; t < all.size(); ++t) all[t] = t;
  return EulerCharacteristic(surface, all, std::vector<uint32_t>(all.size(), 0), 0);
}

size_t NumShort(const CutSurface& surface, double length) {
  size_t count = 0;
  for (uint32_t h = 0; h < surface.opposite.size(); ++h) {
    const Vec3d& a = surface.points[surface.triangles[h / 3][h % 3]];
    const Vec3d& b = surface.points[surface.triangles[h / 3][NextHalfEdge(h) % 3]];
    count += Length(b - a) < length ? 1 : 0;
  }
  return count;
}

}  // namespace

TEST_CASE("Taking out short edges keeps the surface, its topology and its tets") {
  for (const auto& mesh : {MakeTorus(1.0, 0.4, 40, 24), MakeOpenBox({0, 0, 0}, {1, 1, 1}),
                           MakeGridBox({0, 0, 0}, {1, 1, 1}, 12)}) {
    Partitioned out = PartitionOf(mesh);
    ClippedSurface clipped = ClipSurface(out.solid, out.cage.mesh, out.cage.tet_of_point);
    REQUIRE(clipped.outside.empty());
    CutSurface& surface = clipped.surface;
    const int euler = EulerOf(surface);
    const double length = 1e-3;  // more than a bake would
    const size_t before = NumShort(surface, length);
    const size_t num_triangles = surface.triangles.size();
    const size_t collapsed = CollapseShortEdges(
        out.cage.mesh, length, static_cast<uint32_t>(out.solid.points.size()), &surface);
    CHECK(collapsed > 0);
    CHECK(surface.triangles.size() < num_triangles);
    CHECK(NumShort(surface, length) < before);
    CHECK(EulerOf(surface) == euler);
    for (uint32_t h = 0; h < surface.opposite.size(); ++h) {
      const uint32_t o = surface.opposite[h];
      if (o == kNoHalfEdge) continue;
      REQUIRE(surface.opposite[o] == h);
      REQUIRE(surface.triangles[h / 3][h % 3] == surface.triangles[o / 3][NextHalfEdge(o) % 3]);
    }
    for (uint32_t t = 0; t < surface.triangles.size(); ++t) {
      const auto& tet = out.cage.mesh.tets[surface.tets[t]];
      for (const uint32_t p : surface.triangles[t]) {
        const Carrier& carrier = surface.carriers[p];
        Vec3d place;
        for (uint32_t i = 0; i < carrier.count; ++i) {
          REQUIRE(std::find(tet.begin(), tet.end(), carrier.nodes[i]) != tet.end());
          place += out.cage.mesh.nodes[carrier.nodes[i]] * carrier.weights[i];
        }
        REQUIRE(Length(place - surface.points[p]) < 1e-12);
      }
    }
  }
}
