// SPDX-License-Identifier: MIT
// Bodies on and against static meshes: solid, with a front, with two sides; saved with height
// fields.
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/intersection/baked_solids.h"
#include "runtime/state/state_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace mesh_collider_test {

constexpr float kSize = SolidScene::kSize;

// n x n quads of the plane y = 0, `width` wide, about the origin. Front: up.
SurfaceMesh Sheet(uint32_t n, double width) {
  SurfaceMesh sheet;
  for (uint32_t row = 0; row <= n; ++row) {
    for (uint32_t column = 0; column <= n; ++column) {
      sheet.positions.push_back(
          {width * (double(column) / n - 0.5), 0.0, width * (double(row) / n - 0.5)});
    }
  }
  for (uint32_t row = 0; row < n; ++row) {
    for (uint32_t column = 0; column < n; ++column) {
      const uint32_t a = row * (n + 1) + column, b = a + 1, c = a + n + 1, d = c + 1;
      // Diagonals in turns.
      if ((row + column) % 2 == 0) {
        sheet.triangles.push_back({a, c, d});
        sheet.triangles.push_back({a, d, b});
      } else {
        sheet.triangles.push_back({a, c, b});
        sheet.triangles.push_back({b, c, d});
      }
    }
  }
  plush::tests::CompleteMesh(&sheet);
  return sheet;
}

// A floor of two quads that meet at x = 0.3, and a wall that goes down from there, its front to
// -x. The wall ends at their common border, or below the middle of the first quad.
SurfaceMesh FloorOnWall(bool ends_at_border) {
  SurfaceMesh mesh;
  const auto add = [&](const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
    const auto first = static_cast<uint32_t>(mesh.positions.size());
    mesh.positions.insert(mesh.positions.end(), {a, b, c, d});
    mesh.triangles.push_back({first, first + 1, first + 2});
    mesh.triangles.push_back({first, first + 2, first + 3});
  };
  const double at = 0.3, border = ends_at_border ? at : 3.0;
  add({-3, 0, -2}, {-3, 0, 2}, {border, 0, 2}, {border, 0, -2});
  add({border, 0, -2}, {border, 0, 2}, {6, 0, 2}, {6, 0, -2});
  add({at, 0, -2}, {at, -1, -2}, {at, -1, 2}, {at, 0, 2});
  plush::tests::CompleteMesh(&mesh);
  return mesh;
}

TEST_CASE("On a flat mesh a body slides and stops as on a plane", "[long]") {
  const bool has_surface = GENERATE(false, true);
  const uint32_t quads = GENERATE(3u, 80u);
  const float tilt = GENERATE(0.0f, 0.3f), depth = GENERATE(0.0f, 0.003f);
  CAPTURE(has_surface, quads, tilt, depth);
  const Eigen::Vector3d axis = Eigen::Vector3d(0.6, 0.0, 0.8);
  const Pose pose = TurnedPose({0.1f, 0.0f, -0.05f}, double(tilt), axis);
  const Eigen::Matrix3d turn = RotationOf(pose.rotation);
  BodyDesc start = BodyAt(pose.position, ToVec3(turn * Eigen::Vector3d(2.0, 0.0, 0.5)));
  start.pose.rotation = pose.rotation;
  start.pose.position = start.pose.position - ToVec3(double(depth) * turn.col(1));
  SolidScene on_plane(has_surface, start), on_mesh(has_surface, start);
  const StaticSubject sheet(Sheet(quads, 8.0));
  AddCollider(&on_plane.world, {.pose = pose});
  AddCollider(&on_mesh.world, MeshOf(sheet, pose));
  const MotionDifference difference = StepBoth(&on_plane, &on_mesh, 120, turn.col(1));
  CHECK(on_mesh.world.stats().contacts > 0);
  CHECK((on_plane.Centre() - Eigen::Vector3d(0.1, 0.1, 0.1)).norm() > 0.1);
  CHECK(on_mesh.Speed() < 1e-2);
  // While it is pushed out, other points hold it on the mesh than on the plane.
  CHECK(difference.farthest < (depth > 0.0f ? 3e-4 : 1e-4) * double(kSize));
  CHECK(difference.fastest < 1e-3 * 2.0);
}

TEST_CASE("A body slides over solid meshes side by side as over a plane", "[long]") {
  const bool has_surface = GENERATE(false, true);
  const float space = GENERATE(0.0f, 1.0e-6f, 1.0e-3f);
  const double turn = GENERATE(0.0, 0.3);
  CAPTURE(has_surface, space, turn);
  constexpr float kWidth = 0.13f;
  const double half = 0.5 * double(kWidth - space);
  const StaticSubject tile(plush::tests::MakeBox({-half, -0.5, -1.0}, {half, 0.0, 1.0}));
  BodyDesc start = BodyAt({}, {3.0f, 0.0f, 0.1f});
  start.pose.rotation = TurnOf(turn, {0, 1, 0});
  SolidScene on_plane(has_surface, start), on_tiles(has_surface, start);
  AddCollider(&on_plane.world);
  for (int i = -2; i < 12; ++i) {
    AddCollider(&on_tiles.world, MeshOf(tile, {{kWidth * static_cast<float>(i), 0.0f, 0.0f}}));
  }
  const MotionDifference difference = StepBoth(&on_plane, &on_tiles, 100);
  CHECK((on_plane.Centre() - Eigen::Vector3d(0.1, 0.1, 0.1)).norm() > 0.7);
  CHECK(difference.farthest < 2e-3);
}

TEST_CASE("A body slides over a wall of the mesh that ends in the floor") {
  const bool has_surface = GENERATE(false, true), ends_at_border = GENERATE(false, true);
  const MeshSides sides = GENERATE(MeshSides::kFront, MeshSides::kBoth);
  CAPTURE(has_surface, ends_at_border, sides);
  if (!has_surface && sides == MeshSides::kBoth) return;  // nodes alone have no side
  const StaticSubject floor(FloorOnWall(ends_at_border), sides);
  const BodyDesc start = BodyAt({}, {3.0f, 0.0f, 0.1f});
  SolidScene on_plane(has_surface, start), on_mesh(has_surface, start);
  AddCollider(&on_plane.world);
  AddCollider(&on_mesh.world, MeshOf(floor));
  const MotionDifference difference = StepBoth(&on_plane, &on_mesh, 100);
  CHECK(difference.farthest < 2e-3);
}

// Its cage reaches below the surface that touches.
TEST_CASE("A ball rolls on a sheet with two sides, and leaves it, as on one with a front") {
  const BakedSolid ball = BakeSolid(plush::tests::MakeSphere(0.1, 16, 24), 60);
  const StaticSubject front(Sheet(1, 8.0), MeshSides::kFront),
      both(Sheet(1, 8.0), MeshSides::kBoth);
  Eigen::Vector3d rolls[2], leaves[2];
  for (const bool has_two_sides : {false, true}) {
    World world;
    BodyDesc desc = BodyAt({-1.5f, 0.1001f, 0.02f}, {1.0f, 0.0f, 0.0f});
    desc.angular_velocity = {0.0f, 0.0f, -10.0f};
    desc.material = {1.0e6f, 0.4f, 1000.0f, 0.05f};
    const BodyId id = AddBody(&world, ball.body.shape().asset(), desc);
    AddCollider(&world, MeshOf(has_two_sides ? both : front));
    const auto velocity_after = [&](int steps) {
      for (int step = 0; step < steps; ++step) StepWorld(&world, SolidScene::kDt);
      const BodyMoments m = MomentsOf(world, id);
      return Eigen::Vector3d(Eigen::Vector3d(m.linear_momentum) / m.mass);
    };
    rolls[has_two_sides] = velocity_after(100);
    REQUIRE(world.SetGravity({0.0f, 9.81f, 0.0f}).ok());
    leaves[has_two_sides] = velocity_after(30);
  }
  CHECK(rolls[0].x() > 0.5);
  CHECK((rolls[1] - rolls[0]).norm() < 1e-3);
  CHECK((leaves[1] - leaves[0]).norm() < 1e-3);
}

TEST_CASE("A body rests on meshes of solids and stays out of them") {
  const bool has_surface = GENERATE(false, true);
  const auto [name, top, scale] =
      GENERATE(std::make_tuple("box", -0.01f, 1.0f), std::make_tuple("scaled box", -0.01f, 2.5f),
               std::make_tuple("fine box", -0.01f, 1.0f));
  CAPTURE(name, has_surface);
  const SurfaceMesh surface =
      name == std::string("fine box")
          ? plush::tests::MakeGridBox({-0.5, -1.0, -0.5}, {0.5, 0.0, 0.5}, 12)
          : plush::tests::MakeBox({-0.5, -1.0, -0.5}, {0.5, 0.0, 0.5});
  const StaticSubject box(surface);
  CHECK(box.mesh().sides == MeshSides::kSolid);
  SolidScene scene(has_surface, BodyAt({-0.1f, 0.0f, -0.1f}));
  ColliderDesc desc = MeshOf(box, TurnedPose({0.0f, top, 0.0f}, 0.4, {0, 1, 0}), scale);
  desc.friction = 1.0f;
  AddCollider(&scene.world, desc);
  scene.Step(200);
  CHECK(scene.flags == kStepOk);
  CHECK(scene.Speed() < 1e-3 * double(kSize));
  CHECK(scene.world.stats().contacts > 0);
  CHECK(std::fabs(scene.FarthestAlong({0, -1, 0}) + double(top)) < 1e-4 * double(kSize));
  CHECK(double(MeasuresOf(scene.world).max_penetration) < 1e-4 * double(kSize));
}

TEST_CASE("Thrown bodies do not pass meshes, from any side that holds, however fast", "[long]") {
  std::vector<uint32_t> seeds(120);
  std::iota(seeds.begin(), seeds.end(), 1u);
  // These falls press corners flat. Such corners once passed the sheet.
  for (const uint32_t seed : {136u, 2939u, 3111u, 4199u}) seeds.push_back(seed);
  size_t hits = 0, deep = 0;
  for (const uint32_t seed : seeds) {
    Random random(seed);
    const bool has_surface = random.Below(2) == 0;
    const double speed = ThrowSpeed(&random);
    const uint32_t kind = random.Below(3);
    const bool from_behind = kind == 2 && random.Below(2) == 0;
    const double thickness = random.Uniform(0.01, 0.6);
    const uint32_t cells = 1 + random.Below(40);
    CAPTURE(seed, has_surface, speed, kind, from_behind, thickness, cells);
    const SurfaceMesh wall = kind == 0 ? plush::tests::MakeGridBox({-thickness, -30.0, -30.0},
                                                                   {0.0, 30.0, 30.0}, 1 + cells / 8)
                                       : Sheet(cells, 60.0);
    const StaticSubject subject(
        wall, kind == 2 ? std::optional(MeshSides::kBoth) : std::optional<MeshSides>());
    // The body comes from +x, or for a sheet with two sides also from -x.
    const double lean = random.Uniform(-0.5, 0.5);
    const Pose pose = kind == 0 ? TurnedPose({}, lean, {0, 0, 1})
                                : TurnedPose({}, lean - 0.5 * std::numbers::pi, {0, 0, 1});
    const float side = from_behind ? -1.0f : 1.0f;
    BodyDesc start =
        BodyAt({side * 1.5f, 0.0f, 0.0f}, {-side * static_cast<float>(speed), 0.0f, 0.0f});
    start.pose.rotation = ToQuat(random.Rotation());
    WorldDesc world = {.gravity = {}};
    SolidScene scene(has_surface, start, world);
    AddCollider(&scene.world, MeshOf(subject, pose));
    hits += scene.TouchesIn(100) ? 1 : 0;
    CHECK((scene.flags & kStepBodyFrozen) == 0);
    const Eigen::Vector3d normal = RotationOf(pose.rotation).col(kind == 0 ? 0 : 1);
    const double depth = scene.FarthestAlong(-double(side) * normal);
    deep += depth > 0.01 * double(kSize) ? 1 : 0;
    CHECK(depth < 0.1 * double(kSize));
  }
  CHECK(deep <= 1);  // a corner of seed 87, 0.055
  CHECK(hits == seeds.size());
}

TEST_CASE("A sheet with two sides holds a body from below, one with a front lets it through") {
  const bool has_surface = GENERATE(false, true), has_two_sides = GENERATE(false, true);
  CAPTURE(has_surface, has_two_sides);
  const StaticSubject sheet(Sheet(7, 3.0), has_two_sides ? MeshSides::kBoth : MeshSides::kFront);
  WorldDesc world = {.gravity = {0.0f, 9.81f, 0.0f}};
  SolidScene scene(has_surface, BodyAt({0.0f, -0.5f, 0.0f}), world);
  AddCollider(&scene.world, MeshOf(sheet));
  scene.Step(150);
  const double highest = scene.FarthestAlong({0, 1, 0});
  if (has_two_sides) {
    CHECK(std::fabs(highest) < 1e-4 * double(kSize));
    CHECK(scene.Speed() < 1e-3 * double(kSize));
  } else {
    CHECK(highest > 1.0);
  }
}

TEST_CASE("A mesh that moves carries and pushes a body") {
  const bool has_surface = GENERATE(false, true);
  const StaticSubject box(plush::tests::MakeGridBox({-0.5, -0.2, -0.5}, {0.5, 0.0, 0.5}, 4));
  SolidScene scene(has_surface, BodyAt({-0.1f, 0.0f, -0.1f}));
  ColliderDesc rough = MeshOf(box);
  rough.friction = 1.0f;
  const ColliderId id = AddCollider(&scene.world, rough);
  scene.Step(30);
  Pose pose;
  for (int step = 1; step <= 200; ++step) {
    const double share = std::fmin(step / 150.0, 1.0), way = share * share * (3.0 - 2.0 * share);
    pose.rotation = TurnOf(way, {0, 1, 0});
    pose.position = {static_cast<float>(way), static_cast<float>(0.3 * way), 0.0f};
    REQUIRE(scene.world.MoveCollider(id, pose).ok());
    scene.Step(1);
    CHECK(scene.FarthestAlong({0, -1, 0}) + 0.3 * way < 1e-3 * double(kSize));
  }
  CHECK(std::fabs(scene.Centre().x() - 1.0) < 0.05);
  CHECK(std::fabs(scene.Centre().z()) < 0.05);
  CHECK(scene.Speed() < 1e-2);
}

TEST_CASE("A mesh that takes the slot of another one holds a body in its place") {
  const StaticSubject fine(Sheet(20, 8.0)), coarse(Sheet(1, 8.0));
  const BodyDesc start = BodyAt({-0.1f, 0.001f, -0.1f});
  const Pose lower = {{0.0f, -0.006f, 0.0f}};
  const auto height_of = [](const SolidScene& scene) { return -scene.FarthestAlong({0, -1, 0}); };
  SECTION("added after the other one was removed, at the same pose") {
    const StaticSubject deep([] {
      SurfaceMesh sheet = Sheet(1, 8.0);
      for (auto& p : sheet.positions) p.y = -0.006;
      return sheet;
    }());
    SolidScene scene(true, start);
    const ColliderId id = AddCollider(&scene.world, MeshOf(fine));
    scene.Step(30);
    REQUIRE(scene.world.RemoveCollider(id).ok());
    AddCollider(&scene.world, MeshOf(deep));
    scene.Step(60);
    CHECK(height_of(scene) == Approx(-0.006).margin(1e-4));
  }
  SECTION("loaded") {
    SolidScene saved(true, start), loading(true, start);
    const Pose far = {{100.0f, 0.0f, 0.0f}};
    AddCollider(&saved.world, MeshOf(coarse, lower));
    AddCollider(&saved.world, MeshOf(fine, far));
    AddCollider(&loading.world, MeshOf(fine, lower));
    AddCollider(&loading.world, MeshOf(coarse, far));
    const std::vector<std::byte> state = SavedState(saved.world);
    loading.Step(30);
    const Asset* const assets[] = {&loading.shape.asset()};
    REQUIRE(loading.world.LoadState(state, assets).ok());
    for (int step = 0; step < 40; ++step) {
      saved.Step(1);
      loading.Step(1);
      REQUIRE(saved.world.StateHash() == loading.world.StateHash());
    }
    CHECK(height_of(loading) == Approx(-0.006).margin(1e-4));
  }
}

// The solid of the same shape says how deep the mesh is in the body.
// Deeper, the edge may slip across a side of the triangle, and sinks in by up to 3% of the size.
TEST_CASE("A small mesh presses 6 cm into the middle of a large triangle", "[long]") {
  const int nudge = GENERATE(0, 3, 6, 9);
  const Vec3 place = {0.07f + 1.0e-5f * static_cast<float>(nudge), 0.275f, 0.12f};
  const ColliderDesc corner = BoxAt(TurnedPose(place, 0.9, {1, 0, 0.7}), {0.03f, 0.03f, 0.03f});
  const ColliderDesc edge = BoxAt(TurnedPose(place, 0.8, {1, 0, 0}), {0.03f, 0.03f, 0.03f});
  const ColliderDesc beam = BoxAt(TurnedPose(place, 0.8, {1, 0, 0.2}), {0.3f, 0.03f, 0.03f});
  const auto [name, desc] = GENERATE_COPY(
      std::make_pair("corner", corner), std::make_pair("edge", edge), std::make_pair("beam", beam),
      std::make_pair("ball", SphereAt({place.x, 0.26f, 0.12f}, 0.02f)));
  CAPTURE(name, nudge);
  const Vec3& half = desc.box.half_extents;
  const tools::Vec3d high = {double(half.x), double(half.y), double(half.z)};
  const StaticSubject subject(desc.type == ShapeType::kBox
                                  ? plush::tests::MakeBox(high * -1.0, high)
                                  : plush::tests::MakeSphere(0.02, 24, 48));
  SolidScene scene(true, BodyAt({}));
  AddCollider(&scene.world);
  const ColliderId id = AddCollider(&scene.world, MeshOf(subject, desc.pose));
  ColliderDesc solid = desc;
  double deepest = -1.0;
  for (int step = 0; step < 120; ++step) {
    if (step < 40) solid.pose.position.y -= 0.0015f;
    REQUIRE(scene.world.MoveCollider(id, solid.pose).ok());
    scene.Step(1);
    deepest = std::max(deepest, scene.DepthOfTrianglesIn(solid));
  }
  CHECK(scene.flags == kStepOk);
  CHECK(scene.world.stats().contacts > 1);
  CHECK(deepest > -1e-3 * double(kSize));
  CHECK(deepest < 2e-3 * double(kSize));
  CHECK(scene.DepthOfTrianglesIn(solid) < 1e-3 * double(kSize));
}

TEST_CASE("Meshes that cannot be colliders are refused by name") {
  World world;
  const StaticSubject box(plush::tests::MakeBox({-1, -1, -1}, {1, 1, 1}));
  const auto refusal = [&](const ColliderDesc& desc) {
    ColliderId id;
    const Status status = world.AddCollider(desc, &id);
    CHECK_FALSE(id.valid());
    return std::make_pair(status.code, std::string(status.section));
  };
  ColliderDesc desc = MeshOf(box);
  desc.mesh.scale = GENERATE(0.0f, -1.0f, 1.0e7f, std::numeric_limits<float>::quiet_NaN());
  CHECK(refusal(desc) == std::make_pair(StatusCode::kInvalidArgument, std::string("mesh.scale")));
  ColliderDesc in_parts;  // does not link the code of meshes
  in_parts.type = ShapeType::kMesh;
  in_parts.mesh.asset = &box.asset();
  CHECK(refusal(in_parts) ==
        std::make_pair(StatusCode::kInvalidArgument, std::string("mesh.code")));
  desc.mesh = {nullptr, 1.0f};
  CHECK(refusal(desc) == std::make_pair(StatusCode::kInvalidArgument, std::string("mesh.asset")));
  tools::AssetContent content = ContentOf(TetBox(1, 1, 1, 0.1));
  content.collision = {};
  const auto bytes = tools::WriteAsset(content);
  REQUIRE(bytes.ok());
  const ShapeAsset no_surface(bytes.value());
  desc.mesh = {&no_surface.asset(), 1.0f};
  CHECK(refusal(desc) == std::make_pair(StatusCode::kUnsupported, std::string("mesh.asset")));
}

}  // namespace mesh_collider_test
