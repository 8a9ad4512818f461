// SPDX-License-Identifier: MIT
#include "mesh/topology.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

using plush::tools::BuildTopology;
using plush::tools::IsOrientable;
using plush::tools::SurfaceMesh;
using plush::tools::SurfaceTopology;

namespace {

SurfaceTopology TopologyOf(const SurfaceMesh& mesh) {
  return BuildTopology(mesh.triangles, static_cast<uint32_t>(mesh.positions.size()));
}

}  // namespace

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
