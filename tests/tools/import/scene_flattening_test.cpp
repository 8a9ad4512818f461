// SPDX-License-Identifier: MIT
// Flattening of spheres under transforms, with broken triangles and missing normals.
#include "import/scene_flattening.h"

#include "import/affine_transform.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <random>

namespace scene_flattening_test {

using plush::Vec3;
using plush::tests::SixTimesVolume;
using plush::tools::FlattenScene;
using plush::tools::Placement;
using plush::tools::RawMesh;
using plush::tools::RawNode;
using plush::tools::RawScene;
using plush::tools::SurfaceMesh;
using plush::tools::Vec3d;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

RawMesh RawSphere() {
  const SurfaceMesh sphere = plush::tests::MakeSphere(1.0, 10, 14);
  RawMesh mesh = {.name = "sphere", .material = 0};
  mesh.triangles = sphere.triangles;
  mesh.normals = sphere.normals;
  for (const Vec3d& p : sphere.positions) {
    mesh.positions.push_back({float(p.x), float(p.y), float(p.z)});
  }
  return mesh;
}

RawScene SceneOf(const RawMesh& mesh, const std::vector<std::array<double, 16>>& transforms) {
  RawScene scene = {.materials = {"skin"}, .meshes = {mesh}};
  for (size_t i = 0; i < transforms.size(); ++i) {
    RawNode node;
    node.name = "node" + std::to_string(i);
    node.to_parent = transforms[i];
    node.meshes = {0};
    scene.nodes.push_back(node);
  }
  return scene;
}

SurfaceMesh Flat(const RawScene& scene, const Placement& placement = {}) {
  const auto flat = FlattenScene(scene, placement);
  REQUIRE(flat.ok());
  return flat.value().surface;
}

std::array<double, 16> Diagonal(double x, double y, double z) {
  return {x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1};
}

// The normal at p of an ellipsoid with half axes s is parallel to p / s^2.
void RequireEllipsoidNormals(const SurfaceMesh& mesh, const Vec3d& s) {
  for (size_t v = 0; v < mesh.positions.size(); ++v) {
    const Vec3d& p = mesh.positions[v];
    const Vec3d expected = {p.x / (s.x * s.x), p.y / (s.y * s.y), p.z / (s.z * s.z)};
    const Vec3d n = {mesh.normals[v].x, mesh.normals[v].y, mesh.normals[v].z};
    REQUIRE(Length(n) == Approx(1.0).margin(1e-5));
    REQUIRE(Dot(n, expected) / Length(expected) > 0.95);  // not exact on a faceted sphere
  }
}

TEST_CASE("Without a transform everything is kept bit for bit") {
  RawMesh raw = RawSphere();
  raw.uvs.assign(raw.positions.size(), {0.25f, 0.75f});
  const SurfaceMesh mesh = Flat(SceneOf(raw, {Diagonal(1, 1, 1)}));
  REQUIRE(mesh.positions.size() == raw.positions.size());
  for (size_t v = 0; v < mesh.positions.size(); ++v) {
    REQUIRE(float(mesh.positions[v].x) == raw.positions[v].x);
    REQUIRE(mesh.normals[v].x == raw.normals[v].x);
    REQUIRE(mesh.normals[v].z == raw.normals[v].z);
    REQUIRE(mesh.uvs[v].y == 0.75f);
  }
  CHECK(mesh.triangles == raw.triangles);
  REQUIRE(mesh.parts.size() == 1);
  CHECK(mesh.parts[0].name == "sphere");
  CHECK(mesh.parts[0].material == "skin");
  CHECK(mesh.parts[0].node == "node0");
  // Units change lengths, not normals.
  CHECK(Flat(SceneOf(raw, {Diagonal(1, 1, 1)}), {0.01, 'Y'}).normals[3].y == raw.normals[3].y);
}

TEST_CASE("Scaled and mirrored nodes keep the outside outside") {
  for (const Vec3d& s : {Vec3d{2, 2, 2}, Vec3d{1, 3, 0.5}, Vec3d{-1, 1, 1}, Vec3d{-2, -1, -0.5},
                         Vec3d{-1e-6, 1e-6, 1e-6}}) {
    CAPTURE(s.x, s.y, s.z);
    const SurfaceMesh mesh = Flat(SceneOf(RawSphere(), {Diagonal(s.x, s.y, s.z)}));
    const double scale = std::abs(s.x * s.y * s.z);
    CHECK(SixTimesVolume(mesh) ==
          Approx(SixTimesVolume(Flat(SceneOf(RawSphere(), {Diagonal(1, 1, 1)}))) * scale));
    RequireEllipsoidNormals(mesh, s);
  }
}

TEST_CASE("Transforms go from child to parent to world, then to metres and Y up") {
  RawScene scene = SceneOf(RawSphere(), {Diagonal(2, 2, 2)});
  scene.nodes[0].meshes.clear();
  RawNode child = {.parent = 0};
  child.to_parent[3] = 10.0;
  child.to_parent[11] = 1.0;
  child.meshes = {0};
  scene.nodes.push_back(child);
  const SurfaceMesh y_up = Flat(scene, {0.1, 'Y'});
  CHECK(y_up.positions[0].x == Approx(2.0));  // 10 * 2 * 0.1
  CHECK(y_up.positions[0].y == Approx(0.2));  // the sphere's pole
  CHECK(y_up.positions[0].z == Approx(0.2));
  const SurfaceMesh z_up = Flat(scene, {0.1, 'Z'});
  CHECK(z_up.positions[0].y == Approx(0.2));   // what was z
  CHECK(z_up.positions[0].z == Approx(-0.2));  // what was y
  CHECK(z_up.normals[0].z == Approx(-1.0));
  const SurfaceMesh x_up = Flat(scene, {0.1, 'X'});
  CHECK(x_up.positions[0].y == Approx(2.0));
  CHECK(x_up.positions[0].x == Approx(-0.2));
  for (const SurfaceMesh& mesh : {y_up, z_up, x_up}) CHECK(SixTimesVolume(mesh) > 0.0);
}

TEST_CASE("A mesh placed twice occurs twice, with its attributes") {
  RawMesh raw = RawSphere();
  raw.attributes = {{"_pin", std::vector<float>(raw.positions.size(), 0.5f)}};
  raw.attributes[0].values[1] = kNan;
  RawScene scene = SceneOf(raw, {Diagonal(1, 1, 1), Diagonal(2, 2, 2)});
  RawMesh plain = RawSphere();
  plain.attributes = {{"COLOR_0.r", std::vector<float>(plain.positions.size(), 1.0f)}};
  scene.meshes.push_back(plain);
  scene.nodes[1].meshes.push_back(1);
  const SurfaceMesh mesh = Flat(scene);
  const size_t n = raw.positions.size();
  REQUIRE(mesh.positions.size() == 3 * n);
  REQUIRE(mesh.parts.size() == 3);
  CHECK(mesh.parts[2].first_triangle == 2 * raw.triangles.size());
  REQUIRE(mesh.attributes.size() == 2);
  CHECK(mesh.attributes[0].name == "COLOR_0.r");  // ascending
  CHECK(mesh.attributes[1].name == "_pin");
  for (const auto& attribute : mesh.attributes) REQUIRE(attribute.values.size() == 3 * n);
  CHECK(mesh.attributes[1].values[0] == 0.5f);
  CHECK(mesh.attributes[1].values[1] == 0.0f);  // not a number
  CHECK(mesh.attributes[1].values[n] == 0.5f);
  CHECK(mesh.attributes[1].values[2 * n] == 0.0f);  // the third has none
  CHECK(mesh.attributes[0].values[2 * n] == 1.0f);
}

TEST_CASE("Triangles that point nowhere or are not finite are counted and dropped") {
  RawMesh raw = RawSphere();
  const size_t total = raw.triangles.size();
  raw.positions.push_back({kNan, 0, 0});
  raw.positions.push_back({0, std::numeric_limits<float>::infinity(), 0});
  raw.positions.push_back({5, 5, 5});
  const auto n = static_cast<uint32_t>(raw.positions.size());
  raw.normals.resize(n);
  raw.triangles.push_back({0, 1, n - 3});
  raw.triangles.push_back({0, n - 2, 1});
  raw.triangles.push_back({0, 1, n});
  raw.triangles.push_back({UINT32_MAX, 1, 2});
  const auto flat = FlattenScene(SceneOf(raw, {Diagonal(1, 1, 1)}), {});
  REQUIRE(flat.ok());
  CHECK(flat.value().num_non_finite == 2);
  CHECK(flat.value().num_out_of_range == 2);
  CHECK(flat.value().num_unreferenced == 3);
  CHECK(flat.value().surface.triangles.size() == total);
  CHECK(flat.value().surface.positions.size() == n - 3);
}

TEST_CASE("A transform that is not finite leaves nothing, without harm") {
  const auto flat = FlattenScene(
      SceneOf(RawSphere(), {Diagonal(std::numeric_limits<double>::infinity(), 1, 1)}), {});
  REQUIRE(flat.ok());
  for (const Vec3d& p : flat.value().surface.positions) CHECK(IsFinite(p));
  CHECK(flat.value().num_non_finite > 0);
}

TEST_CASE("Missing and broken normals become smooth ones, across seams") {
  RawMesh raw = RawSphere();
  const SurfaceMesh exploded = plush::tests::Exploded(plush::tests::MakeSphere(1.0, 10, 14));
  raw.positions.clear();
  for (const Vec3d& p : exploded.positions) {
    raw.positions.push_back({float(p.x), float(p.y), float(p.z)});
  }
  raw.triangles = exploded.triangles;
  raw.normals.clear();
  RequireEllipsoidNormals(Flat(SceneOf(raw, {Diagonal(1, 1, 1)})), {1, 1, 1});
  raw.normals.assign(raw.positions.size(), Vec3{kNan, 0, 0});
  RequireEllipsoidNormals(Flat(SceneOf(raw, {Diagonal(-1, 1, 1)})), {1, 1, 1});
  raw.normals.assign(raw.positions.size(), Vec3{});
  RequireEllipsoidNormals(Flat(SceneOf(raw, {Diagonal(1, 1, 1)})), {1, 1, 1});
  raw.normals.assign(raw.positions.size(), Vec3{0, 0, 5});  // kept, at unit length
  CHECK(Flat(SceneOf(raw, {Diagonal(1, 1, 1)})).normals[7].z == 1.0f);
}

TEST_CASE("Thousands of placed copies end at the limit") {
  RawScene scene = SceneOf(RawSphere(), {Diagonal(1, 1, 1)});
  scene.meshes[0].positions.resize(1 << 20);
  scene.meshes[0].normals.clear();
  scene.meshes[0].triangles.clear();
  scene.nodes[0].meshes.assign(1000, 0);
  const auto flat = FlattenScene(scene, {});
  REQUIRE_FALSE(flat.ok());
  CHECK(flat.error().exit_code == plush::tools::ExitCode::kLimit);
  CHECK(flat.error().finding_code == "IMPORT_LIMIT");
}

using plush::Vec3;
using plush::tests::SixTimesVolume;
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
    // Inside a face, the normal is the face's; on edges and corners, it points outwards of all
    // their faces.
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
  SurfaceMesh mesh = {.positions = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}};
  mesh.triangles = {{0, 1, 2}};
  mesh.normals.resize(3);
  FillMissingNormals({true, true, true}, &mesh);
  CHECK(mesh.normals[1].y == 1.0f);
}

using plush::tools::AffineTransform;
using plush::tools::Vec3d;

AffineTransform RandomTransform(std::mt19937* random) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  std::array<double, 16> m = {};
  for (double& x : m) x = unit(*random);
  return AffineTransform::FromRowMajor(m);
}

TEST_CASE("Transforms compose, and normals stay perpendicular to surfaces") {
  std::mt19937 random(12);
  for (int i = 0; i < 200; ++i) {
    const AffineTransform a = RandomTransform(&random), b = RandomTransform(&random);
    const Vec3d x = {0.3, -0.7, 0.2}, y = {-0.1, 0.4, 0.9};
    CHECK(Length(a.After(b).Point(x) - a.Point(b.Point(x))) < 1e-12);
    CHECK(a.After(b).Determinant() == Approx(a.Determinant() * b.Determinant()).margin(1e-12));
    const Vec3d n = Cross(x, y), moved = a.ForNormals().Direction(n);
    CHECK(Dot(moved, a.Direction(x)) == Approx(0.0).margin(1e-12));
    CHECK(Dot(moved, a.Direction(y)) == Approx(0.0).margin(1e-12));
    // What was outside before is outside after, mirrored or not.
    CHECK(Dot(moved, a.Direction(n)) > 0.0);
  }
}

TEST_CASE("Only positive multiples of the identity keep directions") {
  const auto diagonal = [](double x, double y, double z) {
    return AffineTransform::FromRowMajor(
        std::array<double, 16>{x, 0, 0, 5, 0, y, 0, 6, 0, 0, z, 7, 0, 0, 0, 1});
  };
  CHECK(diagonal(1, 1, 1).KeepsDirections());
  CHECK(diagonal(0.01, 0.01, 0.01).KeepsDirections());
  CHECK_FALSE(diagonal(-1, -1, -1).KeepsDirections());
  CHECK_FALSE(diagonal(1, 2, 1).KeepsDirections());
  CHECK_FALSE(diagonal(0, 0, 0).KeepsDirections());
}

}  // namespace scene_flattening_test
