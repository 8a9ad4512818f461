// SPDX-License-Identifier: MIT
#include "solid/surface_columns.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

using namespace plush::tools;
using namespace plush::tests;

namespace surface_columns_test {

SolidSurface SurfaceOf(const SurfaceMesh& mesh) {
  FindingList findings;
  return MakeSolidSurface(mesh, &findings);
}

// The crossings of ray (y, z).
std::vector<ColumnCrossing> ColumnAt(const SurfaceColumns& columns, int y, int z) {
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto [at_y, at_z, crossings] = columns[i];
    if (at_y == y && at_z == z) return {crossings.begin(), crossings.end()};
  }
  return {};
}

TEST_CASE("Rays through the vertices and edges of a cube pass in and out once") {
  const SolidSurface cube = SurfaceOf(MakeGridBox({0, 0, 0}, {1, 1, 1}, 4));
  // Every ray passes through vertices or along faces.
  const SurfaceColumns columns(cube, {-0.25, -0.25, 0.25, 7, 7});
  for (int z = 0; z < 7; ++z) {
    for (int y = 0; y < 7; ++y) {
      const auto column = ColumnAt(columns, y, z);
      int sum = 0;
      for (const ColumnCrossing& crossing : column) sum += crossing.sign;
      CHECK(sum == 0);
      const bool inside = y > 1 && y < 5 && z > 1 && z < 5;
      const bool outside = y < 1 || y > 5 || z < 1 || z > 5;
      if (inside) {
        REQUIRE(column.size() == 2);
        CHECK(column[0].x == Approx(0.0).margin(1e-15));
        CHECK(column[0].sign == 1);
        CHECK(column[1].x == Approx(1.0));
      }
      if (outside) CHECK(column.empty());
    }
  }
}

TEST_CASE("Rays through nested shells count the shells around each point") {
  const SolidSurface shells = SurfaceOf(MakeNestedShells(false, true));
  const SurfaceColumns columns(shells, {0.01, 0.02, 1.0, 1, 1});
  std::vector<int> signs;
  for (const ColumnCrossing& crossing : ColumnAt(columns, 0, 0)) signs.push_back(crossing.sign);
  CHECK(signs == std::vector<int>{1, -1, 1, -1});
}

}  // namespace surface_columns_test
