// SPDX-License-Identifier: MIT
// Boundary faces, branches and pinches of small hand-made cages.
#include "lattice/cage_boundary.h"

#include "shapes/tet_shapes.h"
#include "tools/cage/cage_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace plush::tools;
using namespace plush::tests;

namespace cage_boundary_test {

// A mesh of these tets, which must be positively oriented.
TetMesh Corner(const std::vector<Vec3d>& nodes, const std::vector<std::array<uint32_t, 4>>& tets) {
  TetMesh mesh = {.nodes = nodes};
  mesh.tets = tets;
  REQUIRE(LeastSixVolume(mesh) > 0.0);
  return mesh;
}

TEST_CASE("Faces look outwards, and the boundary of a box is closed") {
  const TetMesh mesh = plush::test::TetBox(3, 4, 2, 0.5, 0.05);
  const CageFaces faces = FindCageFaces(mesh);
  CHECK(faces.boundary.size() == 2u * 2u * (12 + 8 + 6));
  CHECK(faces.branches.empty());
  double volume = 0.0;
  std::map<std::array<uint32_t, 2>, int> edges;
  for (const CageFace& face : faces.boundary) {
    const auto& [a, b, c] = face.nodes;
    volume += SixVolume(Vec3d{}, mesh.nodes[a], mesh.nodes[b], mesh.nodes[c]) / 6.0;
    for (size_t i = 0; i < 3; ++i) {
      const uint32_t from = face.nodes[i], to = face.nodes[(i + 1) % 3];
      edges[{std::min(from, to), std::max(from, to)}] += from < to ? 1 : -1;
    }
  }
  CHECK(volume == Approx(plush::test::Volume(mesh)).epsilon(1e-12));
  CHECK(std::all_of(edges.begin(), edges.end(), [](const auto& edge) { return edge.second == 0; }));
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    for (size_t corner = 0; corner < 4; ++corner) {
      const auto across = faces.Across(mesh, t, corner);
      REQUIRE(across.size() == (faces.neighbours[t][corner] == kBoundaryFace ? 0 : 1));
      for (const uint32_t other : across) {
        const auto& back = faces.neighbours[other];
        CHECK(std::count(back.begin(), back.end(), t) == 1);
      }
      // The corner opposite a face lies behind the face.
      const auto [a, b, c] = FaceOf(mesh.tets[t], corner);
      CHECK(SixVolume(mesh.nodes[a], mesh.nodes[b], mesh.nodes[c],
                      mesh.nodes[mesh.tets[t][corner]]) < 0.0);
    }
  }
  const BoundaryDefects defects = FindBoundaryDefects(faces);
  CHECK(defects.edges.empty());
  CHECK(defects.nodes.empty());
}

TEST_CASE("Two strands on one face are a branch") {
  // A stem below the face (0 1 2), and two tets at the same place above it.
  const TetMesh mesh = Corner({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}, {0, 0, 1}},
                              {{0, 2, 1, 3}, {0, 1, 2, 4}, {0, 1, 2, 5}});
  const CageFaces faces = FindCageFaces(mesh);
  REQUIRE(faces.branches.size() == 1);
  CHECK(faces.branches[0] == std::array<uint32_t, 3>{0, 1, 2});
  CHECK(faces.Across(mesh, 0, 3) == std::vector<uint32_t>{1, 2});
  CHECK(faces.Across(mesh, 1, 3) == std::vector<uint32_t>{0});
  CHECK(faces.Across(mesh, 2, 3) == std::vector<uint32_t>{0});
  CHECK(faces.boundary.size() == 9);
  const BoundaryDefects defects = FindBoundaryDefects(faces);
  CHECK(defects.edges.empty());
  CHECK(defects.nodes.empty());
}

TEST_CASE("Copies that share three nodes without a stem are no neighbours") {
  const TetMesh mesh =
      Corner({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 1}}, {{0, 1, 2, 3}, {0, 1, 2, 4}});
  const CageFaces faces = FindCageFaces(mesh);
  CHECK(faces.boundary.size() == 8);
  CHECK(faces.branches.empty());
}

TEST_CASE("Pinched edges and nodes are found") {
  // Two tets that share only an edge.
  const TetMesh edge = Corner({{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 1, 0}, {-1, 0, 0}, {-1, -1, 0}},
                              {{0, 2, 3, 1}, {0, 4, 5, 1}});
  const BoundaryDefects at_edge = FindBoundaryDefects(FindCageFaces(edge));
  REQUIRE(at_edge.edges.size() == 1);
  CHECK(at_edge.edges[0] == std::array<uint32_t, 2>{0, 1});
  CHECK(at_edge.nodes.empty());
  // Two tets that share only a node.
  const TetMesh node =
      Corner({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}},
             {{0, 1, 2, 3}, {0, 5, 4, 6}});
  const BoundaryDefects at_node = FindBoundaryDefects(FindCageFaces(node));
  CHECK(at_node.edges.empty());
  CHECK(at_node.nodes == std::vector<uint32_t>{0});
}

}  // namespace cage_boundary_test
