// SPDX-License-Identifier: MIT
#include "mesh/welded_surface.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

using plush::tools::MakeWeldedSurface;
using plush::tools::SurfaceMesh;
using plush::tools::WeldedSurface;

TEST_CASE("Triangles are sorted into sound, flat, degenerate and repeated ones") {
  SurfaceMesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}, {0, 0, 0}};
  mesh.triangles = {
      {0, 1, 3},  // 0: collinear
      {0, 1, 2},  // 1: sound
      {0, 4, 2},  // 2: two corners at one position
      {2, 1, 4},  // 3: triangle 1 turned, over a welded vertex
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
