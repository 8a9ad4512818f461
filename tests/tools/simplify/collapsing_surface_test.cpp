// SPDX-License-Identifier: MIT
// Random collapses keep the topology of closed, open, one-sided and non-manifold surfaces.
#include "simplify/collapsing_surface.h"

#include "mesh/topology.h"
#include "mesh/welding.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace plush::tools;
using namespace plush::tests;

namespace collapsing_surface_test {

using Triangles = std::vector<std::array<uint32_t, 3>>;

// What no collapse may change, counted anew from the triangles.
struct Topology {
  int euler = 0;
  uint32_t components = 0;
  size_t border_loops = 0;
  std::map<size_t, size_t> irregular;  // edges of three triangles or more, by that number
  size_t disagreeing = 0;              // edges that two triangles pass in one direction

  bool operator==(const Topology&) const = default;
};

size_t CountLoops(const std::vector<std::pair<uint32_t, uint32_t>>& edges) {
  std::map<uint32_t, uint32_t> root;
  for (const auto& [a, b] : edges) root[a] = a, root[b] = b;
  const auto find = [&](uint32_t x) {
    while (root[x] != x) x = root[x];
    return x;
  };
  for (const auto& [a, b] : edges) root[find(a)] = find(b);
  return static_cast<size_t>(
      std::count_if(root.begin(), root.end(), [](const auto& r) { return r.first == r.second; }));
}

Topology TopologyOf(const Triangles& triangles, uint32_t num_points) {
  const SurfaceTopology found = BuildTopology(triangles, num_points);
  Topology topology;
  std::set<uint32_t> points;
  for (const auto& triangle : triangles) points.insert(triangle.begin(), triangle.end());
  std::vector<std::pair<uint32_t, uint32_t>> borders;
  for (const SurfaceEdge& edge : found.edges) {
    const auto uses = found.UsesOf(edge);
    if (uses.size() == 1) borders.emplace_back(edge.a, edge.b);
    if (uses.size() > 2) ++topology.irregular[uses.size()];
    if (uses.size() == 2 && uses[0].forward == uses[1].forward) ++topology.disagreeing;
  }
  topology.euler = static_cast<int>(points.size()) - static_cast<int>(found.edges.size()) +
                   static_cast<int>(triangles.size());
  topology.components = found.num_components;
  topology.border_loops = CountLoops(borders);
  return topology;
}

Triangles TrianglesLeft(const CollapsingSurface& surface, uint32_t num_triangles) {
  Triangles left;
  for (uint32_t t = 0; t < num_triangles; ++t) {
    if (surface.is_left(t)) left.push_back(surface.corners(t));
  }
  return left;
}

// Faults of the lists around points.
bool ListsAreRight(const CollapsingSurface& surface, uint32_t num_points, uint32_t num_triangles) {
  std::vector<std::vector<uint32_t>> around(num_points);
  for (uint32_t t = 0; t < num_triangles; ++t) {
    if (!surface.is_left(t)) continue;
    for (const uint32_t corner : surface.corners(t)) around[corner].push_back(t);
  }
  for (uint32_t p = 0; p < num_points; ++p) {
    std::vector<uint32_t> listed = surface.Around(p);
    std::sort(listed.begin(), listed.end());
    if (listed != around[p]) return false;
  }
  return true;
}

// Two boxes with a common edge, at which four triangles meet.
SurfaceMesh MakeBoxesAtEdge() {
  return Joined(MakeGridBox({0, 0, 0}, {1, 1, 1}, 4), MakeGridBox({1, 1, 0}, {2, 2, 1}, 4));
}

// Two boxes with a common corner.
SurfaceMesh MakeBoxesAtCorner() {
  return Joined(MakeGridBox({0, 0, 0}, {1, 1, 1}, 4), MakeGridBox({1, 1, 1}, {2, 2, 2}, 4));
}

TEST_CASE("Collapses keep the topology of any surface, and stop before it would change") {
  struct Case {
    const char* name;
    SurfaceMesh mesh;
    uint32_t fewest;  // triangles that are left if nothing but topology stops
    uint32_t most;
  };
  SurfaceMesh half_flipped = MakeSphere(1.0, 10, 12);
  FlipTriangles(&half_flipped, 0, half_flipped.triangles.size() / 2);
  const Case cases[] = {
      {"sphere", MakeSphere(1.0, 10, 14), 4, 8},
      {"two spheres", Joined(MakeSphere(1.0, 8, 9), MakeSphere(1.0, 7, 8, {3, 0, 0})), 8, 16},
      {"torus", MakeTorus(1.0, 0.4, 12, 9), 14, 40},
      {"open box", MakeOpenBox({0, 0, 0}, {1, 1, 1}), 1, 10},
      {"Moebius strip", MakeMoebiusStrip(1.0, 0.4, 30), 5, 60},
      {"boxes at an edge", MakeBoxesAtEdge(), 20, 250},
      {"boxes at a corner", MakeBoxesAtCorner(), 8, 60},
      {"half flipped", half_flipped, 4, 200},
      {"soup", MakeTriangleSoup(30, 0.3, 5), 30, 30}};
  for (const Case& c : cases) {
    for (const uint32_t seed : {1u, 2u, 3u, 4u, 5u}) {
      INFO(c.name << ", seed " << seed);
      WeldedSurface welded = MakeWeldedSurface(c.mesh);
      const auto num_points = static_cast<uint32_t>(welded.points.size());
      const auto num_triangles = static_cast<uint32_t>(welded.triangles.size());
      CollapsingSurface surface(num_points, welded.triangles);
      const Topology before = TopologyOf(welded.triangles, num_points);
      RandomNumbers random(seed);
      uint32_t misses = 0;
      while (misses < 20 * num_triangles) {
        const auto from = static_cast<uint32_t>(random.Whole(0, static_cast<int>(num_points) - 1));
        const auto neighbours = surface.NeighboursOf(from);
        ++misses;
        if (neighbours.empty()) continue;
        const auto pick =
            static_cast<size_t>(random.Whole(0, static_cast<int>(neighbours.size()) - 1));
        const auto [to, num_at_edge] = neighbours[pick];
        if (!surface.CanCollapse(from, to)) continue;
        const uint32_t left = surface.num_left();
        surface.Collapse(from, to);
        misses = 0;
        REQUIRE(surface.num_left() == left - num_at_edge);
        REQUIRE(surface.Around(from).empty());
        REQUIRE(ListsAreRight(surface, num_points, num_triangles));
        const Triangles triangles = TrianglesLeft(surface, num_triangles);
        REQUIRE(triangles.size() == surface.num_left());
        REQUIRE(TopologyOf(triangles, num_points) == before);
      }
      CHECK(surface.num_left() >= c.fewest);
      CHECK(surface.num_left() <= c.most);
    }
  }
}

TEST_CASE("Points where the surface is no manifold stay") {
  const WeldedSurface welded = MakeWeldedSurface(MakeBoxesAtEdge());
  const CollapsingSurface surface(static_cast<uint32_t>(welded.points.size()), welded.triangles);
  size_t held = 0;
  for (uint32_t p = 0; p < welded.points.size(); ++p) {
    const Vec3d& x = welded.points[p];
    const bool at_edge = x.x == 1.0 && x.y == 1.0;
    if (at_edge) CHECK_FALSE(surface.MayGo(p));
    held += surface.MayGo(p) ? 0 : 1;
  }
  CHECK(held > 5);  // also those of the triangles at the edge
  CHECK(held < 30);
  const WeldedSurface corner = MakeWeldedSurface(MakeBoxesAtCorner());
  const CollapsingSurface at_corner(static_cast<uint32_t>(corner.points.size()), corner.triangles);
  for (uint32_t p = 0; p < corner.points.size(); ++p) {
    CHECK(at_corner.MayGo(p) == !(corner.points[p] == Vec3d{1, 1, 1}));
  }
}

}  // namespace collapsing_surface_test
