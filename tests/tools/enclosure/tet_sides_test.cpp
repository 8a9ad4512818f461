// SPDX-License-Identifier: MIT
#include "enclosure/enclosure.h"
#include "mesh/exact_predicates.h"
#include "mesh/tet_mesh.h"
#include "shapes/tet_shapes.h"
#include "tools/cage/cage_fixtures.h"

#include <catch2/catch.hpp>

using namespace plush::tools;
using namespace plush::tests;

namespace tet_sides_test {

int ExactSide(const TetMesh& mesh, uint32_t tet, size_t corner, const Vec3d& point) {
  const auto [a, b, c] = FaceOf(mesh.tets[tet], corner);
  return Orient3dSign(mesh.nodes[a], mesh.nodes[b], mesh.nodes[c], point);
}

TEST_CASE("Sides of faces are the exact ones, near planes and far from them") {
  RandomNumbers random(5);
  TetMesh mesh = plush::test::TetBox(3, 3, 3, 1.0 / 3.0, 0.09, 1);
  for (const double scale : {1e-30, 1.0, 1e30}) {
    TetMesh scaled = mesh;
    for (Vec3d& node : scaled.nodes) node = node * scale;
    const TetSides sides(scaled);
    size_t wrong = 0;
    for (uint32_t t = 0; t < scaled.tets.size(); ++t) {
      for (size_t corner = 0; corner < 4; ++corner) {
        const auto [a, b, c] = FaceOf(scaled.tets[t], corner);
        const double u = random.In(-1.0, 1.0), v = random.In(-1.0, 1.0);
        // Points in the plane up to rounding, slightly off it, far from it, and at a corner.
        const Vec3d in_plane = scaled.nodes[a] + (scaled.nodes[b] - scaled.nodes[a]) * u +
                               (scaled.nodes[c] - scaled.nodes[a]) * v;
        const Vec3d off = random.Direction() * scale;
        for (const Vec3d& point : {in_plane, in_plane + off * 1e-16, in_plane + off * 1e-14,
                                   in_plane + off, scaled.nodes[c]}) {
          wrong += sides.SideOf(t, corner, point) != ExactSide(scaled, t, corner, point) ? 1 : 0;
        }
      }
    }
    INFO("scale " << scale);
    CHECK(wrong == 0);
  }
}

TEST_CASE("A tet contains the points of its boundary") {
  const TetMesh mesh = plush::test::SingleTet(1.0);
  const TetSides sides(mesh);
  CHECK(sides.Contains(0, {0.125, 0.125, 0.125}));
  CHECK(sides.Contains(0, {0.125, 0.125, 0.0}));
  CHECK_FALSE(sides.Contains(0, {0.125, 0.125, -1e-300}));
  CHECK_FALSE(sides.Contains(1, {0.125, 0.125, 0.125}));
}

}  // namespace tet_sides_test
