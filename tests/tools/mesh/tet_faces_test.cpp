// SPDX-License-Identifier: MIT
#include "mesh/tet_faces.h"

#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace plush::tools;

TEST_CASE("Every face of a tet mesh occurs once, with its tets") {
  const TetMesh mesh = plush::test::TetBox(3, 2, 2, 0.1);
  const TetFaces faces = BuildTetFaces(mesh.tets);
  size_t border = 0, inner = 0;
  for (uint32_t face = 0; face < faces.num_faces(); ++face) {
    const auto tets = faces.TetsAt(face);
    (tets.size() == 1 ? border : inner) += 1;
    REQUIRE(tets.size() <= 2);
    CHECK(std::is_sorted(tets.begin(), tets.end()));
    for (const uint32_t tet : tets) {
      const auto& of_tet = faces.of_tet[tet];
      CHECK(std::count(of_tet.begin(), of_tet.end(), face) == 1);
    }
  }
  CHECK(border == 2 * 2 * (3 * 2 + 3 * 2 + 2 * 2));  // two triangles for each outer square
  CHECK(border + 2 * inner == 4 * mesh.tets.size());
}

TEST_CASE("A face may belong to any number of tets") {
  const std::vector<std::array<uint32_t, 4>> fan = {{0, 1, 2, 3}, {2, 1, 0, 4}, {5, 1, 2, 0}};
  const TetFaces faces = BuildTetFaces(fan);
  CHECK(faces.num_faces() == 10);
  CHECK(faces.TetsAt(0).size() == 3);  // 0, 1, 2 comes first
  CHECK(faces.of_tet[0][3] == 0);
  CHECK(faces.of_tet[2][0] == 0);
  CHECK(BuildTetFaces({}).num_faces() == 0);
}

using namespace plush::tools;

TEST_CASE("The boundary of a tet mesh is closed, faces outwards and encloses its volume") {
  const TetMesh mesh = plush::test::TetBox(4, 3, 2, 0.25, 0.05, 21);
  const SurfaceMesh surface = BoundarySurface(mesh);
  CHECK(surface.triangles.size() == 2 * 2 * (4 * 3 + 3 * 2 + 4 * 2));
  REQUIRE(surface.parts.size() == 1);
  CHECK(surface.parts[0].num_triangles == surface.triangles.size());
  REQUIRE(surface.normals.size() == surface.positions.size());
  double six_volume = 0.0;
  std::map<std::pair<uint32_t, uint32_t>, int> balance;
  for (const auto& [a, b, c] : surface.triangles) {
    six_volume +=
        SixVolume({0, 0, 0}, surface.positions[a], surface.positions[b], surface.positions[c]);
    for (const auto& [from, to] : {std::pair{a, b}, std::pair{b, c}, std::pair{c, a}}) {
      balance[std::minmax(from, to)] += from < to ? 1 : -1;
    }
  }
  CHECK(six_volume / 6.0 == Approx(plush::test::Volume(mesh)));
  for (const auto& [edge, sum] : balance) CHECK(sum == 0);
  // The corner at (1, 0.75, 0.5) is the last node; its normal points away from the box.
  const plush::Vec3& normal = surface.normals.back();
  CHECK(normal.x > 0.2f);
  CHECK(normal.y > 0.2f);
  CHECK(normal.z > 0.2f);
  CHECK(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z == Approx(1.0f));
}
