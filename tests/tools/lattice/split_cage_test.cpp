// SPDX-License-Identifier: MIT
// Split cages of blocks, fingers, bars and broken surfaces: copies, nodes, owners.
#include "lattice/split_cage.h"

#include "lattice/cage_boundary.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace plush::tools;
using namespace plush::tests;

namespace split_cage_test {

constexpr LatticeKind kKinds[] = {LatticeKind::kBcc, LatticeKind::kCube5};

// Checks the invariants of every cage before the fit.
void CheckSound(const Solid& solid, const Lattice& lattice, const SplitCage& cage) {
  const size_t num_tets = cage.mesh.tets.size();
  REQUIRE(cage.lattice_tet.size() == num_tets);
  REQUIRE(cage.triangles.size() == num_tets);
  REQUIRE(cage.lattice_node.size() == cage.mesh.nodes.size());
  REQUIRE(cage.rest_nodes == cage.mesh.nodes);
  CHECK(LeastSixVolume(cage.mesh) > 0.0);
  std::vector<bool> owned(solid.surface.triangles.size(), false);
  std::set<std::array<uint32_t, 4>> sets;
  for (size_t t = 0; t < num_tets; ++t) {
    // Each node of a copy is a copy of the lattice tet's node, at its position.
    const auto nodes = lattice.TetNodes(cage.lattice_tet[t]);
    auto sorted = cage.mesh.tets[t];
    for (size_t i = 0; i < 4; ++i) {
      CHECK(cage.lattice_node[cage.mesh.tets[t][i]] == nodes[i]);
      CHECK(cage.mesh.nodes[cage.mesh.tets[t][i]] == lattice.NodePosition(nodes[i]));
    }
    std::sort(sorted.begin(), sorted.end());
    CHECK(sets.insert(sorted).second);
    const auto& triangles = cage.triangles[t];
    CHECK(std::is_sorted(triangles.begin(), triangles.end()));
    for (const uint32_t triangle : triangles) owned[triangle] = true;
  }
  CHECK(std::find(owned.begin(), owned.end(), false) == owned.end());
  const CageFaces faces = FindCageFaces(cage.mesh);
  const BoundaryDefects defects = FindBoundaryDefects(faces);
  CHECK(defects.edges.empty());
  CHECK(defects.nodes.empty());
  std::set<uint32_t> tets(cage.lattice_tet.begin(), cage.lattice_tet.end());
  CHECK(cage.num_split_tets == num_tets - tets.size());
  std::set<uint32_t> nodes(cage.lattice_node.begin(), cage.lattice_node.end());
  CHECK(cage.num_split_nodes == cage.mesh.nodes.size() - nodes.size());
}

TEST_CASE("A solid block, a ball and a ring are not split") {
  for (const LatticeKind kind : kKinds) {
    const std::pair<SurfaceMesh, double> shapes[] = {{MakeBox({0, 0, 0}, {1, 1, 1}), 0.23},
                                                     {MakeGridBox({0, 0, 0}, {1, 1, 1}, 6), 0.19},
                                                     {MakeSphere(1.0, 24, 36), 0.3},
                                                     {MakeTorus(1.0, 0.4, 48, 24), 0.3},
                                                     {MakeSphere(1.0, 24, 36, {100, -50, 7}), 0.15},
                                                     {MakeOverlappingBoxes(), 0.2}};
    for (const auto& [mesh, cell] : shapes) {
      const Solid solid(mesh);
      const Lattice lattice = LatticeAround(solid, kind, cell);
      const SplitCage cage = SplitOf(solid, lattice, 1e-3 * solid.diagonal);
      CheckSound(solid, lattice, cage);
      INFO((kind == LatticeKind::kBcc ? "bcc" : "cube5") << ", cell " << cell);
      CHECK(cage.num_split_tets == 0);
      // No node inside is split. Outside, in a notch, the two sides of the notch may have separate
      // nodes.
      std::map<uint32_t, int> copies;
      for (const uint32_t node : cage.lattice_node) ++copies[node];
      for (const auto& [node, count] : copies) {
        if (solid.inside.IsInside(lattice.NodePosition(node))) CHECK(count == 1);
      }
      CHECK(NumComponents(cage.mesh) == 1);
    }
  }
}

TEST_CASE("Kept tets are those near the surface and those inside, once each", "[long]") {
  for (const LatticeKind kind : kKinds) {
    const Solid solid(MakeNestedShells(false, true));
    const Lattice lattice = LatticeAround(solid, kind, 0.11);
    const SplitCage cage = SplitOf(solid, lattice, 1e-3 * solid.diagonal);
    CheckSound(solid, lattice, cage);
    std::map<uint32_t, uint32_t> owned;
    for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) owned[cage.lattice_tet[t]] = t;
    uint32_t inner = 0;
    for (const auto& [lattice_tet, t] : owned) {
      if (!cage.triangles[t].empty()) continue;
      ++inner;
      const auto [a, b, c, d] = lattice.TetCorners(lattice_tet);
      if (cage.num_filled == 0) CHECK(solid.inside.IsInside((a + b + c + d) * 0.25));
    }
    CHECK(inner > 100);
    RandomNumbers random(73);
    for (int i = 0; i < 3000; ++i) {
      const Vec3d point = random.Point({-1, -1, -1}, {1, 1, 1});
      if (!solid.inside.IsInside(point)) continue;
      CHECK(owned.count(lattice.TetAt(point)) == 1);
    }
  }
}

TEST_CASE("Two fingers a third of a cell apart are split, down to the palm that joins them") {
  for (const LatticeKind kind : kKinds) {
    const double cell = 0.3;
    const Solid solid(MakeTwoFingers(0.25, 0.3 * cell));
    const Lattice lattice = LatticeAround(solid, kind, cell);
    const SplitCage cage = SplitOf(solid, lattice, 1e-3 * solid.diagonal);
    CheckSound(solid, lattice, cage);
    CHECK(NumComponents(cage.mesh) == 1);
    CHECK(cage.num_split_tets > 5);
    CHECK(cage.num_split_nodes > 5);
    // More than a cell above the palm, no tet owns surface of both fingers, and no node belongs to
    // tets of both.
    std::vector<int> sides(cage.mesh.nodes.size(), 0);
    for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
      int of_tet = 0;
      bool is_high = true;
      for (const uint32_t node : cage.mesh.tets[t]) {
        is_high = is_high && cage.mesh.nodes[node].y > 0.3 + cell;
      }
      if (!is_high) continue;
      for (const uint32_t triangle : cage.triangles[t]) {
        const auto& [a, b, c] = solid.surface.triangles[triangle];
        const double x =
            (solid.surface.points[a].x + solid.surface.points[b].x + solid.surface.points[c].x) /
            3.0;
        of_tet |= x < 0.5 ? 1 : 2;
      }
      CHECK(of_tet != 3);
      for (const uint32_t node : cage.mesh.tets[t]) sides[node] |= of_tet;
    }
    CHECK(std::find(sides.begin(), sides.end(), 3) == sides.end());
    CHECK(std::count(sides.begin(), sides.end(), 1) > 5);
    CHECK(std::count(sides.begin(), sides.end(), 2) > 5);
  }
}

TEST_CASE("Two bars a third of a cell apart are two bodies, or one on demand") {
  for (const LatticeKind kind : kKinds) {
    const double cell = 0.3;
    const Solid solid(Joined(MakeBox({0, 0, 0}, {0.25, 2, 0.25}),
                             MakeBox({0.25 + 0.3 * cell, 0, 0}, {0.5 + 0.3 * cell, 2, 0.25})));
    const Lattice lattice = LatticeAround(solid, kind, cell);
    const SplitCage apart = SplitOf(solid, lattice, 1e-3 * solid.diagonal);
    CheckSound(solid, lattice, apart);
    CHECK(NumComponents(apart.mesh) == 2);
    CHECK(apart.num_split_tets > 5);
    const SplitCage joined = SplitOf(solid, lattice, 1e-3 * solid.diagonal, true);
    CheckSound(solid, lattice, joined);
    CHECK(NumComponents(joined.mesh) == 1);
    CHECK(joined.num_split_tets == 0);
  }
}

TEST_CASE("Open, one-sided and scattered surfaces make sound cages too") {
  for (const LatticeKind kind : kKinds) {
    const std::pair<SurfaceMesh, double> shapes[] = {{MakeMoebiusStrip(1.0, 0.4, 48), 0.3},
                                                     {MakeOpenBox({0, 0, 0}, {1, 1, 1}), 0.2},
                                                     {MakeTriangleSoup(50, 0.3, 9), 0.15}};
    for (const auto& [mesh, cell] : shapes) {
      const Solid solid(mesh);
      const Lattice lattice = LatticeAround(solid, kind, cell);
      CheckSound(solid, lattice, SplitOf(solid, lattice, 1e-3 * solid.diagonal));
    }
  }
}

}  // namespace split_cage_test
