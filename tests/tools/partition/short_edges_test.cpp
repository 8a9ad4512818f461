// SPDX-License-Identifier: MIT
// Collapses of short edges: which edges go, and what they must keep.
#include "partition/short_edges.h"

#include "mesh/topology.h"
#include "partition/patches.h"
#include "partition/surface_clipping.h"
#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

using namespace plush::tools;
using namespace plush::tests;

namespace short_edges_test {

size_t NumShort(const CutSurface& surface, double length) {
  size_t count = 0;
  for (uint32_t h = 0; h < surface.opposite.size(); ++h) {
    const Vec3d& a = surface.points[surface.triangles[h / 3][h % 3]];
    const Vec3d& b = surface.points[surface.triangles[h / 3][NextHalfEdge(h) % 3]];
    count += Length(b - a) < length ? 1 : 0;
  }
  return count;
}

// Number of points that are corners of triangles.
size_t NumUsed(const CutSurface& surface) {
  std::set<uint32_t> used;
  for (const auto& triangle : surface.triangles) used.insert(triangle.begin(), triangle.end());
  return used.size();
}

double AreaOf(const CutSurface& surface) {
  double area = 0.0;
  for (const auto& [a, b, c] : surface.triangles) {
    const auto& p = surface.points;
    area += 0.5 * Length(Cross(p[b] - p[a], p[c] - p[a]));
  }
  return area;
}

// A flat grid of points at these x coordinates, all inside the mesh's tet.
CutSurface FlatGrid(const TetMesh& mesh, const std::array<std::array<double, 6>, 4>& rows) {
  CutSurface surface;
  for (size_t y = 0; y < 4; ++y) {
    for (const double x : rows[y]) {
      const Vec3d point = {x, static_cast<double>(y), 1.0};
      Carrier carrier;
      carrier.nodes = {0, 1, 2, 3};
      carrier.count = 4;
      carrier.weights = {1.0 - (point.x + point.y + point.z) / 100.0, point.x / 100.0,
                         point.y / 100.0, point.z / 100.0};
      surface.points.push_back(point);
      surface.carriers.push_back(carrier);
    }
  }
  for (uint32_t y = 0; y < 3; ++y) {
    for (uint32_t x = 0; x < 5; ++x) {
      const uint32_t a = 6 * y + x;
      surface.triangles.push_back({a, a + 1, a + 7});
      surface.triangles.push_back({a, a + 7, a + 6});
    }
  }
  surface.tets.assign(surface.triangles.size(), 0);
  surface.sources.assign(surface.triangles.size(), 0);
  surface.opposite = PairHalfEdges(surface.points, surface.triangles);
  REQUIRE(mesh.tets.size() == 1);
  return surface;
}

TEST_CASE("Only edges below the limit collapse, measured at the time of the collapse") {
  const TetMesh mesh = {{{0, 0, 0}, {100, 0, 0}, {0, 100, 0}, {0, 0, 100}}, {{0, 1, 2, 3}}};
  // Inner edges of 0.09, 0.05 and 0.09 in a row. Whichever end the collapse of the middle edge
  // leaves, one neighbour remains 0.09 long and goes too; the other becomes 0.14 long and stays.
  const std::array<double, 6> even = {0, 1, 2, 3, 4, 5};
  const std::array<double, 6> narrow = {0, 2.41, 2.5, 2.55, 2.64, 5};
  const auto collapsed = [&](double length) {
    CutSurface surface = FlatGrid(mesh, {even, narrow, even, even});
    return CollapseShortEdges(mesh, length, 0, &surface);
  };
  CHECK(collapsed(0.049) == 0);
  CHECK(collapsed(0.051) == 1);
  CHECK(collapsed(0.1) == 2);
  CHECK(collapsed(0.24) == 3);
}

TEST_CASE("Short edges far from each other all go, if an end has a number that may go") {
  const TetMesh mesh = {{{0, 0, 0}, {100, 0, 0}, {0, 100, 0}, {0, 0, 100}}, {{0, 1, 2, 3}}};
  // One edge of 0.05 each on the border (points 2 and 3), in the second row (7 and 8) and in the
  // third (15 and 16). All other edges are at least 0.9 long.
  const CutSurface grid = FlatGrid(
      mesh,
      {{{0, 1, 2, 2.05, 4, 5}, {0, 1, 1.05, 3, 4, 5}, {0, 1, 2, 3, 3.05, 5}, {0, 1, 2, 3, 4, 5}}});
  const double length = 0.06;
  REQUIRE(NumShort(grid, length) == 2 + 2 + 1);  // half-edges; those on the border have one
  const int euler = EulerOf(grid);
  const std::pair<uint32_t, size_t> cases[] = {{0, 3}, {3, 3}, {4, 2}, {8, 2}, {9, 1}, {17, 0}};
  for (const auto& [first_new, expected] : cases) {
    CAPTURE(first_new);
    CutSurface surface = grid;
    CHECK(CollapseShortEdges(mesh, length, first_new, &surface) == expected);
    CHECK(EulerOf(surface) == euler);
    CHECK(NumUsed(surface) == 24 - expected);
    // An edge inside takes two triangles with it, the one on the border one.
    const size_t on_border = expected == 3 ? 1 : 0;
    CHECK(surface.triangles.size() == 30 - 2 * expected + on_border);
    CHECK(NumShort(surface, length) == 5 - 2 * expected + on_border);
    CHECK(AreaOf(surface) == Approx(15.0).epsilon(1e-12));
  }
}

TEST_CASE("Taking out short edges keeps the surface, its topology and its tets") {
  for (const auto& mesh : {MakeTorus(1.0, 0.4, 40, 24), MakeOpenBox({0, 0, 0}, {1, 1, 1}),
                           MakeGridBox({0, 0, 0}, {1, 1, 1}, 12)}) {
    Partitioned out = PartitionOf(mesh);
    ClippedSurface clipped = ClipSurface(out.solid, out.cage.mesh, out.cage.tet_of_point);
    REQUIRE(clipped.outside.empty());
    CutSurface& surface = clipped.surface;
    const int euler = EulerOf(surface);
    const double length = 1e-3;  // longer than in a bake
    const size_t before = NumShort(surface, length), num_triangles = surface.triangles.size();
    const size_t num_points = NumUsed(surface);
    const double area = AreaOf(surface);
    const auto num_borders =
        std::count(surface.opposite.begin(), surface.opposite.end(), kNoHalfEdge);
    const size_t collapsed = CollapseShortEdges(
        out.cage.mesh, length, static_cast<uint32_t>(out.solid.points.size()), &surface);
    CHECK(collapsed > 0);
    const size_t after = NumShort(surface, length);
    const size_t lost_borders = static_cast<size_t>(
        num_borders - std::count(surface.opposite.begin(), surface.opposite.end(), kNoHalfEdge));
    CAPTURE(before, after, collapsed, lost_borders);
    // Each collapse takes out a point, and two triangles or, on the border, one and a border edge.
    CHECK(num_points - NumUsed(surface) == collapsed);
    CHECK(num_triangles - surface.triangles.size() == 2 * collapsed - lost_borders);
    CHECK(after < before);
    CHECK(std::abs(AreaOf(surface) - area) <= 0.51e-6 * area);
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

}  // namespace short_edges_test
