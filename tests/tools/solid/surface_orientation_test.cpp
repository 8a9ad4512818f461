// SPDX-License-Identifier: MIT
#include "solid/solid_surface.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <random>

using namespace plush::tools;
using namespace plush::tests;

namespace surface_orientation_test {

uint32_t NumPoints(const SurfaceMesh& mesh) { return static_cast<uint32_t>(mesh.positions.size()); }

TEST_CASE("Randomly flipped triangles take the orientation of the majority") {
  const SurfaceMesh sphere = MakeSphere(1.0, 16, 24);
  std::mt19937 random(41);
  for (const uint32_t percent : {0u, 10u, 45u}) {
    SurfaceMesh mesh = sphere;
    for (auto& triangle : mesh.triangles) {
      if (random() % 100 < percent) std::swap(triangle[1], triangle[2]);
    }
    CHECK(OrientPieces(NumPoints(mesh), &mesh.triangles).size() == 1);
    CHECK(mesh.triangles == sphere.triangles);
    CHECK(IsClosed(NumPoints(mesh), mesh.triangles));
  }
}

TEST_CASE("Separate shells are separate pieces, in order of their first triangle") {
  const SurfaceMesh mesh = MakeNestedShells(false, true);
  auto triangles = mesh.triangles;
  const auto pieces = OrientPieces(NumPoints(mesh), &triangles);
  REQUIRE(pieces.size() == 2);
  CHECK(triangles == mesh.triangles);
  CHECK(pieces[0].front() == 0);
  CHECK(pieces[1].back() == triangles.size() - 1);
}

TEST_CASE("An edge of three triangles joins nothing") {
  std::vector<std::array<uint32_t, 3>> triangles = {{0, 1, 2}, {1, 0, 3}, {0, 1, 4}};
  CHECK(OrientPieces(5, &triangles).size() == 3);
  CHECK_FALSE(IsClosed(5, triangles));
}

TEST_CASE("A one-sided band stays whole although it cannot be oriented") {
  SurfaceMesh band = MakeMoebiusStrip(1.0, 0.4, 24);
  CHECK(OrientPieces(NumPoints(band), &band.triangles).size() == 1);
  CHECK_FALSE(IsClosed(NumPoints(band), band.triangles));
}

}  // namespace surface_orientation_test
