// SPDX-License-Identifier: MIT
#include "mesh/vertex_normals.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>

using plush::Vec3;
using plush::tools::FillMissingNormals;
using plush::tools::SurfaceMesh;

TEST_CASE("Only missing normals are filled, by area and across seams") {
  SurfaceMesh box = plush::tests::Exploded(plush::tests::MakeGridBox({0, 0, 0}, {1, 1, 1}, 3));
  const Vec3 kept = {0.0f, 0.0f, -1.0f};
  box.normals.assign(box.positions.size(), kept);
  std::vector<bool> missing(box.positions.size(), true);
  missing[5] = false;
  FillMissingNormals(missing, &box);
  CHECK(box.normals[5].z == -1.0f);
  for (size_t v = 0; v < box.positions.size(); ++v) {
    if (v == 5) continue;
    const auto& p = box.positions[v];
    const Vec3& n = box.normals[v];
    REQUIRE(n.x * n.x + n.y * n.y + n.z * n.z == Approx(1.0));
    // Within a face the normal is the face's; on edges and corners it leans to all sides outward.
    const auto side = [](double x) { return x == 0.0 ? -1.0 : (x == 1.0 ? 1.0 : 0.0); };
    const bool inside_face = std::abs(side(p.x)) + std::abs(side(p.y)) + std::abs(side(p.z)) == 1.0;
    const double along = side(p.x) * n.x + side(p.y) * n.y + side(p.z) * n.z;
    REQUIRE(along > (inside_face ? 0.999 : 1.0));
  }
}

TEST_CASE("Sizes whose squares overflow or vanish still have normals") {
  for (const double size : {1e200, 1e-200}) {
    SurfaceMesh sphere = plush::tests::MakeSphere(size, 6, 8);
    sphere.normals.assign(sphere.positions.size(), Vec3{0.0f, 0.0f, 0.0f});
    FillMissingNormals(std::vector<bool>(sphere.positions.size(), true), &sphere);
    CHECK(sphere.normals[0].y == Approx(1.0));
  }
}

TEST_CASE("A vertex without a triangle of positive area points up") {
  SurfaceMesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  mesh.triangles = {{0, 1, 2}};
  mesh.normals.resize(3);
  FillMissingNormals({true, true, true}, &mesh);
  CHECK(mesh.normals[1].y == 1.0f);
}
