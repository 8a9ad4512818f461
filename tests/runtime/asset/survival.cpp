// SPDX-License-Identifier: MIT
#include "runtime/asset/survival.h"

#include "plush/asset.h"
#include "plush/format/asset_check.h"
#include "plush/format/cdg_records.h"
#include "plush/format/factor_panels.h"
#include "plush/format/static_mesh.h"
#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "collision/static_mesh.h"
#include "collision/static_mesh_query.h"
#include "runtime/asset/opened_asset.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <string_view>
#include <vector>

namespace plush::test {
namespace {

bool CountFailure(void* user, CheckKind /*kind*/, const Status& /*status*/) {
  ++*static_cast<size_t*>(user);
  return true;
}

// Reads each byte of a view. A sanitizer reports reads outside the buffer.
template <class T>
unsigned Touch(std::span<const T> view) {
  unsigned sum = 0;
  for (const std::byte byte : std::as_bytes(view)) sum += static_cast<unsigned>(byte);
  return sum;
}

unsigned Touch(std::string_view text) { return Touch(std::span(text.data(), text.size())); }

unsigned TouchEverything(const Asset& asset) {
  const VisualView& v = asset.visual();
  const SimulationView& s = asset.simulation();
  const FactorView& f = asset.factor();
  const CollisionView& c = asset.collision();
  const StaticMeshView& m = asset.static_mesh();
  unsigned sum = Touch(v.positions) + Touch(v.normals) + Touch(v.tangents) + Touch(v.uvs) +
                 Touch(v.indices) + Touch(v.tet_ids) + Touch(v.weights) + Touch(s.nodes) +
                 Touch(s.masses) + Touch(s.tets) + Touch(s.tet_slots) + Touch(s.blocks) +
                 Touch(s.tet_masses) + Touch(s.tet_materials) + Touch(s.clusters) + Touch(c.tets) +
                 Touch(c.tree) + Touch(c.patches) + Touch(c.links) + Touch(c.triangles) +
                 Touch(c.wide_triangles) + Touch(c.vertices) + Touch(c.source_triangles) +
                 Touch(f.supernodes) + Touch(f.supernode_of) + Touch(f.rows) + Touch(f.values) +
                 Touch(m.positions) + Touch(m.triangles) + Touch(m.materials) + Touch(m.tree) +
                 Touch(asset.tool_version()) + Touch(asset.settings());
  for (uint32_t i = 0; i < asset.num_parts(); ++i) {
    const PartView part = asset.part(i);
    sum += Touch(part.name) + Touch(part.material) + Touch(part.node);
  }
  for (uint32_t i = 0; i < asset.num_materials(); ++i) sum += Touch(asset.material(i).name);
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    sum += Touch(region.name) + Touch(region.nodes) + Touch(std::span(&region.rest, 1));
  }
  return sum;
}

// Queries the collision surface. If the file's numbers are absurd, results may be wrong, but must
// lie within the file's sections.
void Query(const World& world, const Asset& asset) {
  const Vec3 x = asset.simulation().nodes[0];
  SurfacePoint found[4];
  uint32_t count = 0;
  REQUIRE(world.RaycastAll({.origin = {x.x, x.y + 1.0f, x.z}}, {}, found, &count).ok());
  REQUIRE(world.RaycastAll({.origin = x, .direction = {1.0f, 2.0f, 3.0f}}, {}, found, &count).ok());
  REQUIRE(world.OverlapSphere(x, 0.1f, {}, found, &count).ok());
  REQUIRE(
      world.Raycast({.origin = {9.0f, 9.0f, 9.0f}, .direction = {-1.0f, -1.0f, -1.0f}}, {}, found)
          .ok());
  REQUIRE(world.ClosestPoint({1.0f, 2.0f, 3.0f}, 1.0e9f, {}, found).ok());
  if (found[0].valid()) REQUIRE(found[0].triangle < asset.collision().num_triangles());
}

// Drops the body on a plane, rotated so that nothing is aligned with an axis. If the file's numbers
// are absurd, the body may be refused or freeze, but nothing undefined may be read or computed.
void Simulate(const Asset& asset) {
  World world;
  ColliderId plane;
  REQUIRE(world.AddCollider({.plane = {.normal = {0.1f, 1.0f, 0.0f}}}, &plane).ok());
  BodyDesc desc = {.pose = {{0.0f, 0.02f, 0.0f}, {0.1f, 0.2f, 0.3f, 0.9f}},
                   .velocity = {0.1f, -2.0f, 0.0f}};
  uint32_t region = 0;
  if (FindRegion(asset, "high", &region).ok()) {
    const std::span<const uint32_t> pins = asset.region(region).nodes;
    desc.pinned_nodes = pins.first(pins.size() / 2);
  }
  BodyId id;
  if (!world.AddBody(asset, desc, &id).ok()) return;
  BodyId other;
  (void)world.AddBody(asset, {.material = {.young = 2.0e5f}}, &other);
  for (int step = 0; step < 10; ++step) (void)world.Step(0.01f);
  (void)world.Step(1.0f / 60);  // no factor for it yet: refactors on the file's structure
  std::vector<Vec3> positions(asset.visual().positions.size());
  std::vector<Vec3> normals(positions.size());
  const SkinTarget target = {.positions = positions.data(),
                             .normals = normals.data(),
                             .num_vertices = static_cast<uint32_t>(positions.size())};
  REQUIRE(world.Skin(id, 1.0f, target).ok());
  BodyMoments moments;
  Pose pose;
  REQUIRE(world.Moments(id, &moments).ok());
  REQUIRE(world.BestFitPose(id, &pose).ok());
  WorldMeasures measures;
  REQUIRE(world.Measure(&measures).ok());
  world.StateHash();
  Query(world, asset);
  ColliderDesc mesh;  // its own surface at rest
  mesh.type = ShapeType::kMesh;
  mesh.mesh = {&asset};
  mesh.pose.position.y = -0.1f;
  if (world.AddCollider(mesh, &plane).ok()) {
    for (int step = 0; step < 3; ++step) (void)world.Step(0.01f);
    SurfacePoint found;
    const QueryFilter colliders = {.targets = kQueryColliders};
    REQUIRE(world
                .Raycast({.origin = {9.0f, 9.0f, 9.0f}, .direction = {-1.0f, -1.0f, -1.0f}},
                         colliders, &found)
                .ok());
    REQUIRE(world.ClosestPoint({1.0f, 2.0f, 3.0f}, 1.0e9f, colliders, &found).ok());
  }
  for (uint32_t patch = 0; patch < asset.collision().patches.size(); ++patch) {
    DeformedPatch deformed;
    REQUIRE(world.PatchOf(id, patch, &deformed).ok());
  }
}

// Asks a static mesh for all its triangles, and for lines and points around it. If its numbers are
// absurd, results may be wrong, but no query may read outside the file or run for ever.
void QueryStatic(const Asset& asset) {
  const StaticMeshView& mesh = asset.static_mesh();
  uint32_t expected = 0;
  const auto count = [&](uint32_t t) {
    REQUIRE(t >= expected);
    REQUIRE(t < mesh.triangles.size());
    expected = t + 1;
    return true;
  };
  ForTrianglesInBox(mesh, mesh.grid.low, mesh.grid.high, count);
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = CornersOf(mesh, t);
    for (const Vec3& p : {a, b, c, Vec3{0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 2.0f * a.z}}) {
      const StaticNearest nearest = NearestOfStaticMesh(mesh, p, 1.0e9f);
      REQUIRE((!nearest.valid() || nearest.triangle < mesh.triangles.size()));
    }
    const StaticHit hit = RaycastStaticMesh(mesh, {1.0f, 2.0f, 3.0f}, c, MeshSides::kBoth);
    REQUIRE((!hit.valid() || hit.triangle < mesh.triangles.size()));
  }
  World world;
  BodyId id;
  uint32_t region = 0;
  REQUIRE(world.AddBody(asset, {}, &id).code == StatusCode::kUnsupported);
  REQUIRE(world.PrepareSystem(asset, {}).code == StatusCode::kUnsupported);
  REQUIRE(FindRegion(asset, "high", &region).code == StatusCode::kInvalidArgument);
  // As a collider, below a body.
  static const ShapeAsset* const cube = new ShapeAsset(
      SurfaceBytes(TetBox(1, 1, 1, 0.2), {.parts = 1, .depth = 0.0, .num_shells = 0}));
  ColliderDesc desc = {.type = ShapeType::kMesh, .mesh = {&asset}};
  ColliderId collider;
  if (!world.AddCollider(desc, &collider).ok()) return;
  BodyDesc above = {.pose = {.position = CornersOf(mesh, 0)[0]}};
  if (!world.AddBody(cube->asset(), above, &id).ok()) return;  // beyond what positions may be
  for (int step = 0; step < 5; ++step) REQUIRE(world.Step(0.01f).ok());
  SurfacePoint found;
  const QueryFilter colliders = {.targets = kQueryColliders};
  REQUIRE(world.ClosestPoint({1.0f, 2.0f, 3.0f}, 1.0e9f, colliders, &found).ok());
}

}  // namespace

bool IsSanitized() {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer);
#else
  return false;
#endif
}

Survival Survive(std::span<const std::byte> bytes) {
  Asset asset;
  const Status status = asset.Open(bytes);
  size_t failures = 0;
  CheckAsset(bytes, &failures, CountFailure);
  REQUIRE((failures == 0) == status.ok());
  if (!status.ok()) {
    REQUIRE(status.code != StatusCode::kOk);
    REQUIRE(*status.section != '\0');
    REQUIRE(*status.reason != '\0');
    return Survival::kRefused;
  }
  REQUIRE(FindFlaw(asset) == "");
  volatile unsigned keep = TouchEverything(asset);
  static_cast<void>(keep);
  asset.is_static() ? QueryStatic(asset) : Simulate(asset);
  return Survival::kStepped;
}

}  // namespace plush::test
