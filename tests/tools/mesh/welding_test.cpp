// SPDX-License-Identifier: MIT
#include "mesh/welding.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>

using plush::tools::Vec3d;
using plush::tools::WeldByPosition;
using plush::tools::Welding;

TEST_CASE("Exploded corners weld back to the points they came from") {
  const auto sphere = plush::tests::MakeSphere(1.0, 9, 13);
  const auto exploded = plush::tests::Exploded(sphere);
  REQUIRE(exploded.positions.size() == 3 * sphere.triangles.size());
  const Welding welding = WeldByPosition(exploded);
  CHECK(welding.num_points == sphere.positions.size());
  for (size_t a = 0; a < exploded.positions.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      const bool same_point = welding.point_of_vertex[a] == welding.point_of_vertex[b];
      REQUIRE(same_point == (exploded.positions[a] == exploded.positions[b]));
    }
  }
}

TEST_CASE("Points are numbered by first use and signed zeros are one position") {
  plush::tools::SurfaceMesh mesh;
  mesh.positions = {
      {1, 0, 0}, {0.0, 2, 0}, {1, 0, 0}, {-0.0, 2, 0}, {std::nextafter(1.0, 2.0), 0, 0}};
  const Welding welding = WeldByPosition(mesh);
  CHECK(welding.num_points == 3);
  CHECK(welding.point_of_vertex == std::vector<uint32_t>{0, 1, 0, 1, 2});
  CHECK(WeldByPosition({}).num_points == 0);
}
