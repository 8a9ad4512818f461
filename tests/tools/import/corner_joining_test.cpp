// SPDX-License-Identifier: MIT
#include "import/corner_joining.h"

#include "skip.h"
#include "tools/procedural_meshes.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <limits>

namespace corner_joining_test {

using plush::tools::JoinEqualVertices;
using plush::tools::RawMesh;
using plush::tools::RawWeight;

// Two triangles of six vertices, of which 3 equals 0 and 4 equals 2.
RawMesh TwoTriangles() {
  RawMesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {0, 1, 0}, {-1, 0, 0}};
  mesh.normals.assign(6, {0, 0, 1});
  mesh.uvs = {{0, 0}, {1, 0}, {0, 1}, {0, 0}, {0, 1}, {2, 0}};
  mesh.attributes = {{"_a", {0, 1, 2, 0, 2, 5}}};
  mesh.triangles = {{0, 1, 2}, {3, 4, 5}};
  return mesh;
}

TEST_CASE("Vertices equal in everything are one, in the order of the first ones") {
  RawMesh mesh = TwoTriangles();
  JoinEqualVertices(&mesh);
  CHECK(mesh.positions.size() == 4);
  CHECK(mesh.triangles[1] == std::array<uint32_t, 3>{0, 2, 3});
  CHECK(mesh.attributes[0].values == std::vector<float>{0, 1, 2, 5});
  CHECK(mesh.normals.size() == 4);
  CHECK(mesh.uvs[3].x == 2.0f);
  const RawMesh once = mesh;
  JoinEqualVertices(&mesh);
  CHECK(mesh.triangles == once.triangles);
}

TEST_CASE("One number that differs keeps vertices apart") {
  const auto joined = [](const auto& change) {
    RawMesh mesh = TwoTriangles();
    change(&mesh);
    JoinEqualVertices(&mesh);
    return 6 - mesh.positions.size();
  };
  CHECK(joined([](RawMesh*) {}) == 2);
  CHECK(joined([](RawMesh* mesh) { mesh->positions[3].z = -0.0f; }) == 1);  // bits
  CHECK(joined([](RawMesh* mesh) { mesh->normals[3].x = 1e-6f; }) == 1);
  CHECK(joined([](RawMesh* mesh) { mesh->uvs[4].y = 0.5f; }) == 1);
  CHECK(joined([](RawMesh* mesh) { mesh->attributes[0].values[4] = 3; }) == 1);
  CHECK(joined([](RawMesh* mesh) { mesh->uvs.clear(); }) == 2);
  CHECK(joined([](RawMesh* mesh) {
          mesh->joints.resize(2);
          mesh->weights = {{3, 1, 0.5f}, {0, 0, 0.5f}};
        }) == 1);
}

TEST_CASE("Weights follow the vertices that stay, and indices out of range stay so") {
  RawMesh mesh = TwoTriangles();
  mesh.joints.resize(2);
  mesh.weights = {{5, 1, 1.0f}, {3, 0, 0.5f}, {0, 0, 0.5f}, {99, 0, 1.0f}};
  mesh.triangles.push_back({0, 77, 5});
  JoinEqualVertices(&mesh);
  REQUIRE(mesh.weights.size() == 2);
  CHECK(mesh.weights[0].vertex == 0);
  CHECK(mesh.weights[1].vertex == 3);
  CHECK(mesh.triangles[2][1] >= mesh.positions.size());
  CHECK(mesh.triangles[2][2] == 3);
  RawMesh empty;
  JoinEqualVertices(&empty);
  CHECK(empty.positions.empty());
}

TEST_CASE("A model with a vertex per corner comes in with one per point") {
  const std::string path = plush::tests::TestModelOrSkip("armadillo_10k.obj");
  if (path.empty()) return;
  CHECK(plush::tests::ImportOrFail(path).surface.positions.size() == 5002);
}

}  // namespace corner_joining_test
