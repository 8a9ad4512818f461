// SPDX-License-Identifier: MIT
// Bodies on and against convex hulls, at rest and fast, still and moving. Saving hulls.
#include "runtime/colliders/solid_scene.h"
#include "runtime/state/state_scene.h"
#include "runtime/world/heap_counter.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace hull_collider_test {

// Points on a ball, cut flat at `ceiling` radii.
std::vector<Vec3> BallPoints(uint32_t count, double radius, double ceiling = 2.0) {
  Random random(5);
  std::vector<Vec3> points;
  for (uint32_t i = 0; i < count; ++i) {
    Eigen::Vector3d p = random.Direction();
    p.y() = std::min(p.y(), ceiling);
    points.push_back(ToVec3(radius * p));
  }
  return points;
}

// A stone: random points in a box, `size` to each side of its middle.
std::vector<Vec3> StonePoints(uint32_t seed, uint32_t count, double size) {
  Random random(seed);
  std::vector<Vec3> points;
  for (uint32_t i = 0; i < count; ++i) points.push_back(ToVec3(random.Vector(size)));
  return points;
}

TEST_CASE("A body moves on a hull of a box's corners as on the box") {
  const bool has_surface = GENERATE(false, true);
  const auto [name, half, pose, start] =
      GENERATE(std::make_tuple("rests", Vec3{2.0f, 0.5f, 2.0f}, Pose{{0.0f, -0.5f, 0.0f}},
                               BodyAt({0.0f, 0.01f, 0.0f})),
               std::make_tuple("slides", Vec3{5.0f, 1.0f, 5.0f}, Pose{{0.0f, -1.0f, 0.0f}},
                               BodyAt({0.0f, 0.0f, 0.0f}, {2.0f, 0.0f, 0.5f})),
               std::make_tuple("on a small one", Vec3{0.05f, 0.05f, 0.05f},
                               Pose{{0.1f, -0.05f, 0.1f}}, BodyAt({0.0f, 0.01f, 0.0f})),
               std::make_tuple("over an edge", Vec3{0.5f, 0.5f, 0.5f},
                               Pose{{-0.35f, -0.5f, 0.1f}, TurnOf(0.3, {0, 1, 0})},
                               BodyAt({0.0f, 0.0f, 0.0f})));
  CAPTURE(name, has_surface);
  SolidScene on_box(has_surface, start), on_hull(has_surface, start);
  AddCollider(&on_box.world, BoxAt(pose, half));
  const std::vector<Vec3> corners = BoxCorners(half);
  AddCollider(&on_hull.world, HullAt(pose, corners));
  const double farthest = StepBoth(&on_box, &on_hull, 100).farthest;
  std::printf("%s, %s: %.2g sizes from the box's motion\n", name, has_surface ? "surface" : "nodes",
              farthest / double(SolidScene::kSize));
  CHECK(on_box.world.stats().contacts > 0);
  CHECK(on_hull.flags == kStepOk);
  CHECK(farthest < 1e-3 * double(SolidScene::kSize));
}

TEST_CASE("A hull's corner presses into the middle of a large triangle", "[long]") {
  const bool is_box = GENERATE(false, true);
  CAPTURE(is_box);
  const std::vector<Vec3> corners =
      is_box ? BoxCorners({0.03f, 0.03f, 0.03f}) : StonePoints(3, 60, 0.03);
  const Pose start = {{0.07f, 0.275f, 0.12f}, TurnOf(0.9, Eigen::Vector3d(1, 0, 0.7))};
  SolidScene scene(true, BodyAt({})), with_box(true, BodyAt({}));
  for (World* world : {&scene.world, &with_box.world}) AddCollider(world);
  const ColliderId id = AddCollider(&scene.world, HullAt(start, corners));
  const ColliderId box = AddCollider(&with_box.world, BoxAt(start, {0.03f, 0.03f, 0.03f}));
  Pose pose = start;
  double deepest = -1.0, farthest = 0.0;
  for (int step = 0; step < 120; ++step) {
    if (step < 60) pose.position.y -= 0.0015f;
    REQUIRE(scene.world.MoveCollider(id, pose).ok());
    REQUIRE(with_box.world.MoveCollider(box, pose).ok());
    scene.Step(1);
    with_box.Step(1);
    deepest = std::max(deepest, scene.DepthOfTrianglesIn(id));
    farthest = std::max(farthest, (scene.Centre() - with_box.Centre()).norm());
  }
  CHECK(scene.flags == kStepOk);
  CHECK(scene.world.stats().contacts > 1);
  CHECK(deepest > -1e-3 * double(scene.kSize));
  CHECK(deepest < 2e-3 * double(scene.kSize));
  if (is_box) CHECK(farthest < 5e-3 * double(scene.kSize));  // 3e-3: each presses its tets flat
}

TEST_CASE("A body comes to rest on hulls and stays out of them", "[long]") {
  const bool has_surface = GENERATE(false, true);
  const auto [name, points, y] = GENERATE(
      std::make_tuple("four points",
                      std::vector<Vec3>{{-2, 0, -2}, {2, 0, -2}, {0, 0, 3}, {0, -1, 0}}, 0.0f),
      std::make_tuple("cut ball", BallPoints(250, 1.0, 0.8), -0.8f),
      std::make_tuple(
          "far points",
          [] {
            std::vector<Vec3> corners = BoxCorners({1.0f, 0.5f, 1.0f});
            for (Vec3& p : corners) p = p + Vec3{500.0f, 100.0f, -300.0f};
            return corners;
          }(),
          -100.5f));
  CAPTURE(name, has_surface);
  SolidScene scene(has_surface, BodyAt({0.0f, 0.01f, 0.0f}));
  Pose pose = {{0.0f, y, 0.0f}};
  if (std::string(name) == "far points") pose.position = {-500.0f, y, 300.0f};
  ColliderDesc rough = HullAt(pose, points);
  rough.friction = 1.0f;
  const ColliderId id = AddCollider(&scene.world, rough);
  scene.Step(200);
  CHECK(scene.flags == kStepOk);
  CHECK(scene.Speed() < 1e-3 * double(scene.kSize));
  CHECK(scene.world.stats().contacts > 0);
  const double grid = 6e-5 * (std::string(name) == "far points" ? 1.0 : 0.0);
  CHECK(std::fabs(scene.DepthOfTrianglesIn(id)) < 2e-4 * double(scene.kSize) + grid);
  for (int step = 0; step < 100; ++step) {
    scene.Step(1);
    CHECK(scene.Speed() < 1e-3 * double(scene.kSize));
  }
}

TEST_CASE("Thrown bodies do not pass hulls, however fast") {
  int hits = 0;
  const int count = tests::SweepCount(100);
  for (uint32_t seed = 1; seed <= static_cast<uint32_t>(count); ++seed) {
    Random random(seed);
    const bool has_surface = random.Below(2) == 0;
    const double speed = ThrowSpeed(&random);
    // A wide obstacle in the way: the body cannot miss it, nor go round it.
    const double thickness = random.Uniform(0.005, 0.3);
    std::vector<Vec3> points = BoxCorners({static_cast<float>(thickness), 30.0f, 30.0f});
    if (random.Below(2) == 0) {  // a flat roof with many sides
      points.clear();
      for (int i = 0; i < 60; ++i) {
        const double angle = 2.0 * std::numbers::pi * i / 60;
        points.push_back(ToVec3({0.0, 40.0 * std::cos(angle), 40.0 * std::sin(angle)}));
        points.push_back(ToVec3({2.0 * thickness, 35.0 * std::cos(angle), 35.0 * std::sin(angle)}));
      }
    }
    const ColliderDesc desc =
        HullAt({{1.0f, 0.0f, 0.0f}, TurnOf(random.Uniform(-0.5, 0.5), {0, 0, 1})}, points);
    CAPTURE(seed, has_surface, speed, thickness, points.size());
    const Flight flight = ThrowAt(desc, has_surface, random.Rotation(), speed);
    hits += flight.touches ? 1 : 0;
    CHECK(flight.farthest < 0.01);
  }
  CHECK(hits == count);
}

TEST_CASE("A hull that moves carries a body and kicks it away", "[long]") {
  const std::vector<Vec3> plate = BallPoints(120, 1.0, 0.5);
  SECTION("carries") {
    const bool has_surface = GENERATE(false, true);
    SolidScene scene(has_surface, BodyAt({-0.1f, 0.0f, -0.1f}));
    const ColliderId id = AddCollider(&scene.world, HullAt({{0.0f, -0.5f, 0.0f}}, plate));
    scene.Step(50);
    Pose pose = DescOf(scene.world, id).pose;
    const Eigen::Vector3d before = scene.Centre();
    for (int step = 1; step <= 200; ++step) {
      const double share = step / 200.0, angle = 1.5 * share * share * (3.0 - 2.0 * share);
      pose.position.x = static_cast<float>(std::sin(angle));
      pose.rotation = TurnOf(-angle, {0, 1, 0});
      REQUIRE(scene.world.MoveCollider(id, pose).ok());
      scene.Step(1);
      CHECK(scene.DepthIn(id) < 1e-3 * double(scene.kSize));
    }
    scene.Step(50);
    const Eigen::Vector3d local =
        RotationOf(pose.rotation).transpose() * (scene.Centre() - ToEigen(pose.position));
    CHECK(std::fabs(local.x() - before.x()) < 0.02);
    CHECK(std::fabs(local.z() - before.z()) < 0.02);
    CHECK(scene.Speed() < 1e-2);
  }
  SECTION("kicks") {
    for (uint32_t seed = 1; seed <= 10; ++seed) {
      CAPTURE(seed);
      Random random(seed);
      const std::vector<Vec3> stone = StonePoints(seed, 40, 0.15);
      SolidScene scene(seed % 2 == 0, BodyAt({-0.1f, 0.0f, -0.1f}));
      AddCollider(&scene.world);
      const Pose pose = {{-1.0f, 0.15f, 0.0f}};
      const ColliderId foot = AddCollider(&scene.world, HullAt(pose, stone));
      scene.Step(20);
      const float speed = static_cast<float>(random.Uniform(2.0, 10.0));
      scene.KickAway(foot, speed, 0.05 * double(scene.kSize));
    }
  }
}

TEST_CASE("Random bodies among random hulls stay finite") {
  int touching = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    SolidScene scene(seed % 2 == 0, BodyAt({0.0f, 1.2f, 0.0f}, {0.0f, -6.0f, 0.0f}));
    AddBody(&scene.world, scene.shape.asset(), BodyAt({0.3f, 1.0f, 0.1f}, {0.0f, -3.0f, 0.0f}));
    AddCollider(&scene.world, {.plane = {.offset = -0.3f}});
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t count = 4 + random.Below(200);
      const std::vector<Vec3> points = StonePoints(seed * 4 + k, count, random.Uniform(0.05, 0.5));
      ColliderDesc stone = HullAt({ToVec3(random.Vector(0.4)), ToQuat(random.Rotation())}, points);
      if (k >= 2) stone.velocity = ToVec3(random.Vector(1.0));
      if (k >= 2) stone.angular_velocity = ToVec3(random.Vector(3.0));
      AddCollider(&scene.world, stone);
    }
    scene.Step(60);
    CHECK((scene.flags & kStepBodyFrozen) == 0);
    CHECK(scene.Speed() < 40.0);
    touching += scene.world.stats().contacts > 0 ? 1 : 0;
  }
  CHECK(touching > 10);
}

TEST_CASE("The world has its own copy of a hull, and frees it") {
  CountingMemory memory;
  {
    World world({.allocator = memory.allocator()});
    ColliderId id;
    {
      std::vector<Vec3> points = BoxCorners({1.0f, 2.0f, 3.0f});
      REQUIRE(world.AddCollider(HullAt({}, points), &id).ok());
      std::ranges::fill(points, Vec3{});
    }
    const ColliderDesc desc = DescOf(world, id);
    CHECK(desc.type == ShapeType::kHull);
    REQUIRE(desc.hull.points.size() == 8);
    CHECK(desc.hull.points[7].z == 3.0f);
    // What GetCollider gives makes another one.
    const ColliderId copy = AddCollider(&world, desc);
    const size_t with_two = memory.bytes_out();
    REQUIRE(world.RemoveCollider(id).ok());
    CHECK(memory.bytes_out() < with_two);
    CHECK(DescOf(world, copy).hull.points[0].x == -1.0f);
    // Without memory, nothing changes.
    const size_t before = memory.bytes_out();
    int failed = 0;
    for (uint64_t n = 1; n < 100; ++n) {
      memory.FailAt(n, true);
      ColliderId none;
      const Status status = world.AddCollider(DescOf(world, copy), &none);
      memory.FailNever();
      if (status.ok()) break;
      ++failed;
      CHECK(status.code == StatusCode::kOutOfMemory);
      CHECK_FALSE(none.valid());
      CHECK(memory.bytes_out() == before);
    }
    CHECK(failed > 5);
  }
  CHECK(memory.bytes_out() == 0);
  CHECK(memory.consistent());
}

TEST_CASE("Hulls with wrong points are refused, and their colliders are not added") {
  World world;
  ColliderId id;
  ColliderDesc none = {.type = ShapeType::kHull};
  const std::vector<Vec3> flat = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 1}};
  for (const ColliderDesc& desc : {none, HullAt({}, flat), HullAt({}, {})}) {
    const Status status = world.AddCollider(desc, &id);
    CHECK(status.code == StatusCode::kInvalidArgument);
    CHECK(std::string(status.section) == "hull.points");
    CHECK_FALSE(id.valid());
  }
  CHECK(world.num_colliders() == 0);
}

TEST_CASE("A saved world with hulls goes on bit for bit, wherever it is loaded") {
  const std::vector<Vec3> stone = StonePoints(1, 100, 0.5), other = StonePoints(2, 50, 0.5);
  SolidScene scene(true, BodyAt({0.0f, 0.6f, 0.0f}));
  AddCollider(&scene.world);
  const ColliderId id = AddCollider(&scene.world, HullAt({{0.1f, 0.0f, 0.1f}}, stone));
  AddCollider(&scene.world, HullAt({{0.8f, 0.0f, 0.1f}}, other));
  scene.Step(40);
  REQUIRE(scene.world.stats().contacts > 0);
  const std::vector<std::byte> state = SavedState(scene.world);
  scene.Step(40);
  const uint64_t hash = scene.world.StateHash();
  const Asset* const assets[] = {&scene.shape.asset()};
  CountingMemory memory;
  {
    World fresh({.allocator = memory.allocator()});
    SolidScene twin(true, BodyAt({0.0f, 0.6f, 0.0f}));  // with the same hulls, without, with others
    SECTION("the same") {
      AddCollider(&twin.world);
      AddCollider(&twin.world, HullAt({}, stone));
      AddCollider(&twin.world, HullAt({}, other));
    }
    SECTION("without") {}
    SECTION("others") {
      AddCollider(&twin.world, HullAt({}, stone));
      AddCollider(&twin.world, HullAt({}, other));
    }
    SECTION("more") {
      for (int i = 0; i < 9; ++i) AddCollider(&twin.world, HullAt({}, stone));
    }
    for (World* world : {&fresh, &twin.world, &fresh, &scene.world}) {
      const Status status = world->LoadState(state, assets);
      INFO(status.section << " " << status.reason);
      REQUIRE(status.ok());
      CHECK(DescOf(*world, id).hull.points.size() == stone.size());
      for (int step = 0; step < 40; ++step) StepWorld(world, SolidScene::kDt);
      CHECK(world->StateHash() == hash);
      SavedState(*world);
    }
  }
  CHECK(memory.bytes_out() == 0);
}

}  // namespace hull_collider_test
