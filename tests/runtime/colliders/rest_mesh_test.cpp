// SPDX-License-Identifier: MIT
// Soft bodies as meshes of colliders: their rest surface is that of the same static mesh. Friction
// by triangle.
#include "collision/rest_mesh.h"

#include "collision/static_mesh.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/state/state_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <map>

using namespace plush;
using namespace plush::test;

namespace rest_mesh_test {

// The collision surface of an asset as triangles without shared vertices.
SurfaceMesh SurfaceAtRest(const Asset& asset) {
  SurfaceMesh surface;
  const CollisionView& view = asset.collision();
  const auto place = [&](uint32_t tet, uint32_t vertex) {
    Vec3 sum;
    const float weights[4] = {view.vertices[vertex].x, view.vertices[vertex].y,
                              view.vertices[vertex].z, view.vertices[vertex].w};
    for (int k = 0; k < 4; ++k) {
      const Vec3 node = asset.cage().nodes[view.tets[tet].nodes[k]];
      sum = {sum.x + node.x * weights[k], sum.y + node.y * weights[k], sum.z + node.z * weights[k]};
    }
    return Vec3d{sum.x, sum.y, sum.z};
  };
  for (uint32_t patch = 0; patch < view.patches.size(); ++patch) {
    const uint32_t end = patch + 1 < view.patches.size() ? view.patches[patch + 1].first_triangle
                                                         : view.num_triangles();
    for (uint32_t t = view.patches[patch].first_triangle; t < end; ++t) {
      const auto first = static_cast<uint32_t>(surface.positions.size());
      for (int k = 0; k < 3; ++k) {
        surface.positions.push_back(place(view.patches[patch].tet, VertexOf(view.triangles[t], k)));
      }
      surface.triangles.push_back({first, first + 1, first + 2});
    }
  }
  plush::tests::CompleteMesh(&surface);
  return surface;
}

// The corners of a triangle, from the least on, and of the one across each edge.
using Corners = std::array<std::array<float, 3>, 3>;

Corners CornersFromLeast(const StaticMeshView& mesh, uint32_t t, uint32_t* first) {
  Corners corners;
  for (size_t k = 0; k < 3; ++k) {
    const Vec3& p = mesh.positions[mesh.triangles[t].vertices[k]];
    corners[k] = {p.x, p.y, p.z};
  }
  *first =
      static_cast<uint32_t>(std::min_element(corners.begin(), corners.end()) - corners.begin());
  std::rotate(corners.begin(), corners.begin() + *first, corners.end());
  return corners;
}

std::map<Corners, std::array<Corners, 3>> TrianglesOf(const StaticMeshView& mesh) {
  std::map<Corners, std::array<Corners, 3>> triangles;
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    uint32_t first = 0, ignored = 0;
    auto& across = triangles[CornersFromLeast(mesh, t, &first)];
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t other = mesh.triangles[t].neighbours[(first + k) % 3];
      if (other != kNoTriangle) across[k] = CornersFromLeast(mesh, other, &ignored);
    }
  }
  return triangles;
}

ColliderDesc MeshOf(const Asset& asset, const Pose& pose) {
  return ColliderDesc{
      .type = ShapeType::kMesh, .mesh = {&asset, 1.5f}, .pose = pose, .friction = 1.0f};
}

const Pose kPlace = {{-0.15f, -0.31f, -0.15f}, {0.0f, 0.1f, 0.0f, 0.995f}};

TEST_CASE("The rest mesh of a soft body is the static mesh of its collision surface") {
  const SolidScene soft(true);
  const Asset& asset = soft.shape.asset();
  RestMesh mesh;
  REQUIRE(MakeRestMesh(DefaultAllocator(), asset, &mesh));
  const StaticSubject baked(SurfaceAtRest(asset));
  CHECK(mesh.view.sides == MeshSides::kSolid);
  CHECK(mesh.view.triangles.size() > 100);
  CHECK(mesh.view.positions.size() == baked.mesh().positions.size());
  CHECK(TrianglesOf(mesh.view) == TrianglesOf(baked.mesh()));
  // Every triangle is found by its box, and no bound is needlessly wide.
  for (uint32_t t = 0; t < mesh.view.triangles.size(); ++t) {
    const auto [a, b, c] = CornersOf(mesh.view, t);
    bool is_found = false;
    ForTrianglesInBox(mesh.view, a, a, [&](uint32_t found) { return !(is_found = found == t); });
    CHECK(is_found);
  }
  uint32_t found = 0;
  const Vec3 far = {mesh.view.grid.high.x, 1e3f, mesh.view.grid.high.z};
  ForTrianglesInBox(mesh.view, far, far, [&](uint32_t) { return ++found > 0; });
  CHECK(found == 0);
}

TEST_CASE("An open surface of a soft body holds from its front") {
  const SolidScene soft(true);
  const SurfaceMesh surface = SurfaceAtRest(soft.shape.asset());
  ExactBuffer file(soft.shape.asset().bytes());
  Asset opened;
  REQUIRE(opened.Open(file.bytes()).ok());
  auto* first = const_cast<CdgTriangle*>(opened.collision().triangles.data());
  CdgTriangleFields fields = UnpackTriangle(first[0]);
  fields.vertices[1] = fields.vertices[0];  // no triangle, but a hole
  first[0] = PackTriangle(fields);
  RestMesh mesh;
  REQUIRE(MakeRestMesh(DefaultAllocator(), opened, &mesh));
  CHECK(mesh.view.sides == MeshSides::kFront);
  CHECK(mesh.view.triangles.size() == surface.triangles.size() - 1);
  size_t open_edges = 0;
  for (const StaticTriangle& triangle : mesh.view.triangles) {
    open_edges += static_cast<size_t>(
        std::count(std::begin(triangle.neighbours), std::end(triangle.neighbours), kNoTriangle));
  }
  CHECK(open_edges == 3);
}

TEST_CASE("Bodies, rays and closest points meet a soft body's mesh as the same static mesh") {
  const SolidScene soft(true);
  const StaticSubject baked(SurfaceAtRest(soft.shape.asset()));
  const BodyDesc start = {.pose = {.position = {-0.1f, 0.03f, -0.1f}}};
  SolidScene on_soft(true, start), on_baked(true, start);
  AddCollider(&on_soft.world, MeshOf(soft.shape.asset(), kPlace));
  AddCollider(&on_baked.world, MeshOf(baked.asset(), kPlace));
  for (int step = 0; step < 150; ++step) {
    on_soft.Step(1);
    on_baked.Step(1);
    REQUIRE((on_soft.Centre() - on_baked.Centre()).norm() < 1e-4 * double(SolidScene::kSize));
  }
  CHECK(on_soft.world.stats().contacts > 0);
  CHECK(on_soft.Speed() < 1e-2);
  Random random(3);
  const QueryFilter colliders = {.targets = kQueryColliders};
  for (int k = 0; k < 200; ++k) {
    const auto near = [&] { return static_cast<float>(random.Uniform(-0.5, 0.5)); };
    const Ray ray = {{near(), near(), near()}, {near(), near(), near()}, 2.0f};
    SurfacePoint one, other;
    REQUIRE(on_soft.world.Raycast(ray, colliders, &one).ok());
    REQUIRE(on_baked.world.Raycast(ray, colliders, &other).ok());
    REQUIRE(one.valid() == other.valid());
    if (one.valid()) CHECK(one.distance == Approx(other.distance).margin(1e-6));
    REQUIRE(on_soft.world.ClosestPoint(ray.origin, 2.0f, colliders, &one).ok());
    REQUIRE(on_baked.world.ClosestPoint(ray.origin, 2.0f, colliders, &other).ok());
    CHECK(one.distance == Approx(other.distance).margin(1e-6));
    CHECK(one.front == other.front);
  }
}

TEST_CASE(
    "States of worlds with a soft body's mesh continue, and its memory goes with its colliders") {
  const SolidScene soft(true);
  const Asset& asset = soft.shape.asset();
  SolidScene scene(true, {.pose = {.position = {-0.1f, 0.0f, -0.1f}}});
  const ColliderDesc desc = MeshOf(asset, kPlace);
  ColliderId one, other;
  REQUIRE(scene.world.AddCollider(desc, &one).ok());
  REQUIRE(scene.world.AddCollider(desc, &other).ok());
  REQUIRE(scene.world.RemoveCollider(one).ok());
  scene.Step(15);
  const Asset* const assets[] = {&scene.shape.asset()};
  const std::vector<std::byte> state = SavedState(scene.world);
  CHECK(scene.world.stats().contacts > 0);
  scene.Step(20);
  World fresh;
  CHECK(fresh.LoadState(state, assets).code == StatusCode::kMismatch);
  AddCollider(&fresh);
  AddCollider(&fresh, desc);
  REQUIRE(fresh.LoadState(state, assets).ok());
  for (int step = 0; step < 20; ++step) StepWorld(&fresh, SolidScene::kDt);
  CHECK(fresh.StateHash() == scene.world.StateHash());
  REQUIRE(scene.world.RemoveCollider(other).ok());  // the sanitizer and LoadState see what is left
  CHECK(scene.world.LoadState(state, assets).code == StatusCode::kMismatch);
  scene.Step(2);
}

TEST_CASE("The memory of a soft body's mesh is taken once, released, and missed without a change") {
  CountingMemory memory;
  const SolidScene soft(true);
  const ColliderDesc desc = MeshOf(soft.shape.asset(), kPlace);
  {
    World world({.allocator = memory.allocator(), .reserve_colliders = 4});
    AddBody(&world, soft.shape.asset());
    const ColliderId plane = AddCollider(&world);
    ColliderId one, other;
    REQUIRE(world.AddCollider(desc, &one).ok());
    const size_t with_one = memory.bytes_out();
    REQUIRE(world.AddCollider(desc, &other).ok());
    CHECK(memory.bytes_out() == with_one);
    REQUIRE(world.RemoveCollider(one).ok());
    CHECK(memory.bytes_out() == with_one);
    REQUIRE(world.RemoveCollider(other).ok());
    const size_t before = memory.bytes_out();
    CHECK(before + 10000 < with_one);
    int failed = 0;
    for (uint64_t n = 1; n < 100; ++n) {
      memory.FailAt(n, true);
      const Status status = world.AddCollider(desc, &one);
      memory.FailNever();
      if (status.ok()) break;
      ++failed;
      CHECK(status.code == StatusCode::kOutOfMemory);
      CHECK_FALSE(one.valid());
      CHECK(memory.bytes_out() == before);
    }
    CHECK(failed > 10);
    ColliderDesc far = desc;
    far.mesh.scale = 1.0e8f;
    REQUIRE(world.RemoveCollider(one).ok());
    CHECK(world.AddCollider(far, &other).code == StatusCode::kInvalidArgument);
    CHECK(memory.bytes_out() == before);
    CHECK(world.IsValid(plane));
  }
  CHECK(memory.bytes_out() == 0);
  CHECK(memory.consistent());
}

TEST_CASE("A body slides on one material of a mesh and stops on the other") {
  // Floors beyond and before x = 0, of two parts; a tile has no friction of its own.
  const float of_tile = GENERATE(-1.0f, 0.05f);
  SurfaceMesh floor = plush::tests::MakeGridBox({-3, -1, -3}, {3, 0, 3}, 12);
  std::stable_partition(floor.triangles.begin(), floor.triangles.end(), [&](const auto& t) {
    return floor.positions[t[0]].x + floor.positions[t[1]].x + floor.positions[t[2]].x < 0.0;
  });
  uint32_t before = 0;
  for (const auto& t : floor.triangles) {
    before += floor.positions[t[0]].x + floor.positions[t[1]].x + floor.positions[t[2]].x < 0.0;
  }
  const auto after = static_cast<uint32_t>(floor.triangles.size()) - before;
  floor.parts = {{.material = "ice", .first_triangle = 0, .num_triangles = before},
                 {.material = "rubber", .first_triangle = before, .num_triangles = after}};
  tools::StaticContent content = StaticContentOf(floor);
  REQUIRE(content.materials.size() == 2);
  for (tools::NamedMaterial& material : content.materials) {
    if (material.name == "rubber") material.material.friction = 0.9;
    if (material.name == "ice" && of_tile >= 0.0f) material.material.friction = double(of_tile);
  }
  const auto bytes = tools::WriteStaticAsset(content);
  REQUIRE(bytes.ok());
  const ExactBuffer file(bytes.value());
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const bool is_near = GENERATE(true, false);
  CAPTURE(of_tile, is_near);
  const float x = is_near ? -2.5f : 0.5f;
  SolidScene scene(true, {.pose = {.position = {x, 0.0f, 0.0f}}, .velocity = {3.0f, 0.0f, 0.0f}});
  ColliderDesc desc = MeshOf(asset, {});
  desc.mesh.scale = 1.0f;
  desc.friction = 0.05f;  // of what has none
  AddCollider(&scene.world, desc);
  const double start = scene.Centre().x();
  scene.Step(50);
  const double went = scene.Centre().x() - start;
  if (is_near) {
    // v t - mu g t^2 / 2.
    CHECK(went == Approx(3.0 * 0.5 - 0.5 * 0.05 * 9.81 * 0.25).margin(0.03));
    scene.Step(150);
    CHECK(scene.Speed() < 1e-2);
    // v^2 / (2 g) after the ice.
    const double fast = 9.0 - 2.0 * 0.05 * 9.81 * (2.5 - 0.1);
    CHECK(scene.Centre().x() == Approx(fast / (2.0 * 0.9 * 9.81)).margin(0.12));
  } else {
    CHECK(went == Approx(9.0 / (2.0 * 0.9 * 9.81)).margin(0.03));
    CHECK(scene.Speed() < 1e-2);
  }
}

}  // namespace rest_mesh_test
