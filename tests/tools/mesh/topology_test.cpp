// SPDX-License-Identifier: MIT
// Edges, components and half-edges of closed, open, touching and one-sided surfaces.
#include "mesh/topology.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>

using plush::tools::BuildTopology;
using plush::tools::IsOrientable;
using plush::tools::SurfaceMesh;
using plush::tools::SurfaceTopology;

namespace topology_test {

SurfaceTopology TopologyOf(const SurfaceMesh& mesh) {
  return BuildTopology(mesh.triangles, static_cast<uint32_t>(mesh.positions.size()));
}

TEST_CASE("Closed surfaces fulfil Euler's formula and each edge has two agreeing sides") {
  const SurfaceMesh sphere = plush::tests::MakeSphere(1.0, 7, 9);
  const SurfaceMesh torus = plush::tests::MakeTorus(1.0, 0.3, 9, 7);
  for (const auto& [mesh, characteristic] : {std::pair(sphere, 2), std::pair(torus, 0)}) {
    const SurfaceTopology topology = TopologyOf(mesh);
    CHECK(int(mesh.positions.size()) - int(topology.edges.size()) + int(mesh.triangles.size()) ==
          characteristic);
    for (const auto& edge : topology.edges) {
      REQUIRE(edge.a < edge.b);
      const auto uses = topology.UsesOf(edge);
      REQUIRE(uses.size() == 2);
      REQUIRE(uses[0].forward != uses[1].forward);
    }
    CHECK(topology.num_components == 1);
    CHECK(IsOrientable(topology));
  }
}

TEST_CASE("Components are numbered by their first triangle") {
  const SurfaceTopology topology = TopologyOf(plush::tests::MakeNestedShells(false, false));
  CHECK(topology.num_components == 2);
  CHECK(topology.component_of_triangle.front() == 0);
  CHECK(topology.component_of_triangle.back() == 1);
}

TEST_CASE("Only the Moebius strip cannot be oriented") {
  CHECK_FALSE(IsOrientable(TopologyOf(plush::tests::MakeMoebiusStrip(1.0, 0.4, 20))));
  SurfaceMesh sphere = plush::tests::MakeSphere(1.0, 7, 9);
  plush::tests::FlipTriangles(&sphere, 0, sphere.triangles.size() / 2);
  CHECK(IsOrientable(TopologyOf(sphere)));
  CHECK(IsOrientable(TopologyOf({})));
}

using namespace plush::tools;
using namespace plush::tests;

size_t NumBorders(const std::vector<uint32_t>& opposite) {
  return static_cast<size_t>(std::count(opposite.begin(), opposite.end(), kNoHalfEdge));
}

// Half-edges along which no triangle runs back, by comparing all pairs. The number of borders of a
// surface with at most two triangles per edge.
size_t NumOneWay(const SurfaceMesh& mesh) {
  const auto& triangles = mesh.triangles;
  size_t count = 0;
  for (uint32_t h = 0; h < 3 * triangles.size(); ++h) {
    const uint32_t from = triangles[h / 3][h % 3], to = triangles[h / 3][(h % 3 + 1) % 3];
    bool has_back = false;
    for (const auto& [a, b, c] : triangles) {
      has_back =
          has_back || (a == to && b == from) || (b == to && c == from) || (c == to && a == from);
    }
    count += has_back ? 0 : 1;
  }
  return count;
}

// Requires that partners are mutual and run in opposite directions.
void CheckPartners(const SurfaceMesh& mesh, const std::vector<uint32_t>& opposite) {
  for (uint32_t h = 0; h < opposite.size(); ++h) {
    const uint32_t o = opposite[h];
    if (o == kNoHalfEdge) continue;
    CHECK(opposite[o] == h);
    CHECK(mesh.triangles[h / 3][h % 3] == mesh.triangles[o / 3][NextHalfEdge(o) % 3]);
    CHECK(mesh.triangles[o / 3][o % 3] == mesh.triangles[h / 3][NextHalfEdge(h) % 3]);
  }
}

TEST_CASE("Every half-edge of a closed surface has a partner") {
  const SurfaceMesh mesh = MakeTorus(1.0, 0.3, 12, 8);
  const auto opposite = PairHalfEdges(mesh.positions, mesh.triangles);
  CHECK(NumBorders(opposite) == 0);
  CHECK(NumOneWay(mesh) == 0);
  CheckPartners(mesh, opposite);
}

TEST_CASE("A hole is a border") {
  const SurfaceMesh mesh = MakeOpenBox({0, 0, 0}, {1, 1, 1});
  const auto opposite = PairHalfEdges(mesh.positions, mesh.triangles);
  CHECK(NumBorders(opposite) == 4);
  CHECK(NumOneWay(mesh) == 4);
  CheckPartners(mesh, opposite);
}

TEST_CASE("Boxes that touch along an edge keep their surfaces apart") {
  // Two boxes that share the edge x = y = 0 and its two points.
  SurfaceMesh mesh = MakeBox({0, 0, 0}, {1, 1, 1});
  const SurfaceMesh other = MakeBox({-1, -1, 0}, {0, 0, 1});
  const auto num = static_cast<uint32_t>(mesh.positions.size());
  const auto num_triangles = static_cast<uint32_t>(mesh.triangles.size());
  std::vector<uint32_t> number;
  for (const Vec3d& p : other.positions) {
    const auto at = std::find(mesh.positions.begin(), mesh.positions.begin() + num, p);
    number.push_back(static_cast<uint32_t>(at - mesh.positions.begin()));
    if (at == mesh.positions.begin() + num) {
      number.back() = static_cast<uint32_t>(mesh.positions.size());
      mesh.positions.push_back(p);
    }
  }
  CHECK(mesh.positions.size() == 14);
  for (const auto& [a, b, c] : other.triangles) {
    mesh.triangles.push_back({number[a], number[b], number[c]});
  }
  const auto opposite = PairHalfEdges(mesh.positions, mesh.triangles);
  CHECK(NumBorders(opposite) == 0);
  CheckPartners(mesh, opposite);
  for (uint32_t h = 0; h < opposite.size(); ++h) {
    CHECK((h / 3 < num_triangles) == (opposite[h] / 3 < num_triangles));
  }
}

TEST_CASE("A one-sided surface has a border where its sides meet") {
  const SurfaceMesh mesh = MakeMoebiusStrip(1.0, 0.3, 20);
  const auto opposite = PairHalfEdges(mesh.positions, mesh.triangles);
  // Its own border has two edges per segment. At the seam, both triangles run along the one edge in
  // the same direction, so neither has a partner.
  CHECK(NumBorders(opposite) == 2 * 20 + 2);
  CHECK(NumOneWay(mesh) == NumBorders(opposite));
  CheckPartners(mesh, opposite);
}

}  // namespace topology_test
