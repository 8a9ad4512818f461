// SPDX-License-Identifier: MIT
#include "mesh/welding.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>

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

using plush::tools::MakeWeldedSurface;
using plush::tools::SurfaceMesh;
using plush::tools::WeldedSurface;

TEST_CASE("Triangles are sorted into sound, flat, degenerate and repeated ones") {
  SurfaceMesh mesh = {.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}, {0, 0, 0}}};
  mesh.triangles = {
      {0, 1, 3},  // 0: collinear
      {0, 1, 2},  // 1: sound
      {0, 4, 2},  // 2: two corners at one position
      {2, 1, 4},  // 3: triangle 1 reversed, with a welded vertex
      {1, 3, 2},  // 4: sound
      {3, 1, 0},  // 5: collinear again
  };
  const WeldedSurface surface = MakeWeldedSurface(mesh);
  CHECK(surface.points.size() == 4);
  CHECK(surface.num_with_area == 2);
  CHECK(surface.source_triangle == std::vector<uint32_t>{1, 4, 0});
  CHECK(surface.degenerate == std::vector<uint32_t>{0, 2, 5});
  CHECK(surface.duplicates == std::vector<uint32_t>{3});
}

TEST_CASE("A mesh without shared vertices welds to the same surface") {
  const SurfaceMesh sphere = plush::tests::MakeSphere(1.0, 9, 13);
  const WeldedSurface a = MakeWeldedSurface(sphere);
  const WeldedSurface b = MakeWeldedSurface(plush::tests::Exploded(sphere));
  CHECK(a.points.size() == b.points.size());
  CHECK(a.num_with_area == sphere.triangles.size());
  CHECK(b.source_triangle == a.source_triangle);
  CHECK(b.duplicates.empty());
}
