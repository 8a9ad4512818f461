// SPDX-License-Identifier: MIT
// Colliders: ids, descriptions, removal, slots, filters, refusals.
#include "runtime/colliders/plane_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace colliders_test {

constexpr float kDt = BoxOnPlane::kDt;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Whether the box lies on the plane a second after it was dropped from 5 mm.
bool Rests(BoxOnPlane* scene) {
  scene->Step(100);
  return scene->MeanPosition().y() > 0.0;
}

TEST_CASE("A collider's description reads back, and colliders are listed in the order of slots") {
  World world;
  CHECK(world.num_colliders() == 0);
  ColliderDesc desc = {.plane = {{0.0f, 0.0f, 4.0f}, 2.0f},
                       .pose = {{1.0f, 2.0f, 3.0f}, TurnOf(0.3, {1, 2, 3})},
                       .velocity = {1.0f, 0.0f, -1.0f},
                       .angular_velocity = {0.0f, 2.0f, 0.0f},
                       .friction = 0.25f,
                       .filter = {2, 3, -4},
                       .user_data = 99};
  const ColliderId first = AddCollider(&world, desc), second = AddCollider(&world),
                   third = AddCollider(&world);
  const ColliderDesc read = DescOf(world, first);
  CHECK(read.plane.normal.z == 1.0f);
  CHECK(read.plane.offset == 2.0f);
  CHECK(read.pose.position.y == 2.0f);
  CHECK(read.pose.rotation.w == desc.pose.rotation.w);
  CHECK(read.velocity.z == -1.0f);
  CHECK(read.angular_velocity.y == 2.0f);
  CHECK(read.friction == 0.25f);
  CHECK(read.filter == desc.filter);
  CHECK(read.user_data == 99);
  REQUIRE(world.SetUserData(first, uint64_t{5}).ok());
  uint64_t data = 0;
  REQUIRE(world.GetUserData(first, &data).ok());
  CHECK(data == 5);

  std::vector<ColliderId> ids(2);
  uint32_t count = 0;
  REQUIRE(world.Colliders(ids, &count).ok());
  CHECK(count == 3);
  CHECK(ids == std::vector<ColliderId>{first, second});
  REQUIRE(world.RemoveCollider(second).ok());
  ids.assign(5, {});
  REQUIRE(world.Colliders(ids, &count).ok());
  CHECK(count == 2);
  CHECK(ids[0] == first);
  CHECK(ids[1] == third);
  CHECK_FALSE(ids[2].valid());
  CHECK(world.num_colliders() == 2);
}

TEST_CASE("Normals of any length but zero describe the same plane") {
  const float length = GENERATE(1.0e-40f, 1.0e-20f, 0.3f, 1.0e30f);
  World world;
  ColliderDesc desc = {.plane = {.normal = {0.6f * length, 0.8f * length, 0.0f}}};
  const Vec3 n = DescOf(world, AddCollider(&world, desc)).plane.normal;
  CHECK(n.x == Approx(0.6f).epsilon(1e-5));
  CHECK(n.y == Approx(0.8f).epsilon(1e-5));
}

TEST_CASE("Calls on colliders refuse numbers out of range and change nothing") {
  BoxOnPlane scene;
  scene.Step(30);
  World& w = scene.world;
  const ColliderDesc before = DescOf(w, scene.plane);
  std::vector<ColliderDesc> wrong(9);
  wrong[0].type = static_cast<ShapeType>(77);
  wrong[1].plane.normal = {};
  wrong[2].plane.normal.x = kNan;
  wrong[3].plane.offset = kInfinity;
  wrong[4].pose.position.z = 1.1e9f;
  wrong[5].pose.rotation = {0.0f, 0.0f, 0.0f, 0.0f};
  wrong[6].velocity.y = kNan;
  wrong[7].angular_velocity.y = kInfinity;
  wrong[8].friction = kNan;
  for (const ColliderDesc& desc : wrong) {
    ColliderId id = scene.plane;
    CHECK(w.AddCollider(desc, &id).code == StatusCode::kInvalidArgument);
    CHECK_FALSE(id.valid());
  }
  const std::vector<Pose> poses = {{{kNan, 0, 0}, {}},
                                   {{0, -2.0e9f, 0}, {}},
                                   {{}, {kNan, 0, 0, 1}},
                                   {{}, {0, 0, 0, 0}},
                                   {{}, {kInfinity, 0, 0, 1}}};
  for (const Pose& pose : poses) {
    CHECK(w.SetColliderPose(scene.plane, pose).code == StatusCode::kInvalidArgument);
    CHECK(w.MoveCollider(scene.plane, pose).code == StatusCode::kInvalidArgument);
  }
  CHECK(w.SetColliderVelocity(scene.plane, {kNan, 0, 0}, {}).code == StatusCode::kInvalidArgument);
  CHECK(w.SetColliderVelocity(scene.plane, {}, {0, 0, kInfinity}).code ==
        StatusCode::kInvalidArgument);
  for (const float friction : {kNan, kInfinity, -kInfinity}) {
    CHECK(w.SetColliderFriction(scene.plane, friction).code == StatusCode::kInvalidArgument);
  }
  for (const float restitution : {kNan, 1.1f, -kInfinity}) {
    CHECK(w.SetColliderRestitution(scene.plane, restitution).code == StatusCode::kInvalidArgument);
    ColliderId id;
    CHECK(w.AddCollider({.restitution = restitution}, &id).code == StatusCode::kInvalidArgument);
  }
  CHECK(w.AddCollider({}, nullptr).code == StatusCode::kInvalidArgument);
  CHECK(w.GetCollider(scene.plane, nullptr).code == StatusCode::kInvalidArgument);
  CHECK(w.GetUserData(scene.plane, nullptr).code == StatusCode::kInvalidArgument);
  CHECK(w.Colliders({}, nullptr).code == StatusCode::kInvalidArgument);
  CHECK(w.GetFilter(scene.body, nullptr).code == StatusCode::kInvalidArgument);

  CHECK(w.num_colliders() == 1);
  const ColliderDesc after = DescOf(w, scene.plane);
  CHECK(after.pose.position.y == before.pose.position.y);
  CHECK(after.friction == before.friction);
  BoxOnPlane same;
  same.Step(60);
  scene.Step(30);
  CHECK(w.StateHash() == same.world.StateHash());
}

TEST_CASE("A body falls once the plane under it is removed") {
  const bool sleeps = GENERATE(false, true);
  CAPTURE(sleeps);
  BoxOnPlane scene;
  sleeps ? scene.FallAsleep() : scene.Step(100);
  REQUIRE(scene.world.stats().contacts > 0);
  const double height = scene.MeanPosition().y(), speed = scene.MeanVelocity().y();
  REQUIRE(scene.world.RemoveCollider(scene.plane).ok());
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  scene.Step(50);
  CHECK(scene.world.stats().contacts == 0);
  CHECK(scene.MeanVelocity().y() == Approx(speed - 9.81 * 0.5).epsilon(1e-3));
  CHECK(scene.MeanPosition().y() < height - 1.0);
}

TEST_CASE("A new collider in a used slot does not inherit contacts") {
  BoxOnPlane scene, bare;
  scene.Step(100);
  bare.Step(100);
  REQUIRE(scene.world.stats().contacts > 0);
  REQUIRE(scene.world.RemoveCollider(scene.plane).ok());
  REQUIRE(bare.world.RemoveCollider(bare.plane).ok());
  const ColliderId id = AddCollider(&scene.world, {.plane = {.offset = -100.0f}});
  REQUIRE((id.value & 0xffffffu) == (scene.plane.value & 0xffffffu));  // the same slot
  AddCollider(&bare.world, {.plane = {.offset = -1.0e6f}});
  for (int step = 0; step < 20; ++step) {
    scene.Step(1);
    bare.Step(1);
    REQUIRE(scene.world.stats().contacts == 0);
    REQUIRE(scene.world.StateHash() == bare.world.StateHash());
  }
}

TEST_CASE("A contact with another plane survives when one is removed") {
  BoxOnPlane scene;
  ColliderDesc wall;
  wall.plane = {{1.0f, 0.0f, 0.0f}, -0.2f};  // does not touch
  const ColliderId id = AddCollider(&scene.world, wall);
  BoxOnPlane same;
  AddCollider(&same.world, wall);
  scene.Step(50);
  same.Step(50);
  const uint32_t contacts = scene.world.stats().contacts;
  REQUIRE(contacts > 0);
  REQUIRE(scene.world.RemoveCollider(id).ok());
  scene.Step(1);
  same.Step(1);
  CHECK(scene.world.stats().contacts == contacts);
  CHECK(scene.world.StateHash() == same.world.StateHash());
}

TEST_CASE("A plane given by its pose acts like one given by its normal") {
  const double angle = 0.2;
  const Quat turn = TurnOf(angle, {0, 0, 1});
  const Vec3 n = {static_cast<float>(-std::sin(angle)), static_cast<float>(std::cos(angle)), 0.0f};
  BoxOnPlane by_normal({}, {.plane = {n, 0.0f}});
  BoxOnPlane by_pose({}, {.pose = {{2.0f * n.y, -2.0f * n.x, 5.0f}, turn}});
  by_normal.Step(100);
  by_pose.Step(100);
  REQUIRE(by_normal.world.stats().contacts > 0);
  CHECK((by_normal.MeanPosition() - by_pose.MeanPosition()).norm() < 1e-4);
}

TEST_CASE("A collider that is put elsewhere lets go of its bodies and catches them there") {
  BoxOnPlane scene;
  scene.FallAsleep();
  REQUIRE(scene.world.SetColliderPose(scene.plane, {.position = {0.0f, -0.5f, 0.0f}}).ok());
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  scene.Step(10);
  CHECK(scene.world.stats().contacts == 0);
  scene.FallAsleep();
  CHECK(scene.Gap() == Approx(0.0).margin(1e-4));
  CHECK(scene.MeanPosition().y() == Approx(-0.4).margin(0.01));
}

TEST_CASE("Masks, categories and groups decide what touches, as in box2d") {
  struct Case {
    Filter body, plane;
    bool touches;
  };
  const Case c = GENERATE(values<Case>({
      {{}, {}, true},
      {{.category = 2}, {}, true},
      {{.category = 2}, {.mask = 1}, false},  // the plane's mask
      {{.mask = 2}, {.category = 1}, false},  // the body's mask
      {{.mask = 2}, {.category = 6}, true},
      {{.category = 2, .mask = 4}, {.category = 4, .mask = 2}, true},
      {{.mask = 0, .group = 3}, {.mask = 0, .group = 3}, true},
      {{.group = -3}, {.group = -3}, false},
      {{.group = -3}, {.group = -2}, true},  // different groups do not count
      {{.mask = 0, .group = 3}, {.group = 2}, false},
      {{.mask = 0, .group = 0}, {.group = 0}, false},
  }));
  CAPTURE(c.body.category, c.body.mask, c.body.group, c.plane.category, c.plane.mask,
          c.plane.group);
  BodyDesc body = {.pose = {.position = {0.0f, 0.005f, 0.0f}}, .filter = c.body};
  BoxOnPlane scene({}, {.filter = c.plane}, body);
  CHECK(Rests(&scene) == c.touches);

  // The same by SetFilter.
  BoxOnPlane changed({}, {.filter = {.mask = 0}});
  REQUIRE(changed.world.SetFilter(changed.body, c.body).ok());
  REQUIRE(changed.world.SetFilter(changed.plane, c.plane).ok());
  Filter read;
  REQUIRE(changed.world.GetFilter(changed.body, &read).ok());
  CHECK(read == c.body);
  CHECK(DescOf(changed.world, changed.plane).filter == c.plane);
  CHECK(Rests(&changed) == c.touches);
}

TEST_CASE("A filter that changes under a sleeping body wakes it and drops it") {
  const bool of_body = GENERATE(false, true);
  CAPTURE(of_body);
  BoxOnPlane scene;
  scene.FallAsleep();
  const Filter none = {.mask = 0};
  REQUIRE(
      (of_body ? scene.world.SetFilter(scene.body, none) : scene.world.SetFilter(scene.plane, none))
          .ok());
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  scene.Step(50);
  CHECK(scene.world.stats().contacts == 0);
  CHECK(scene.MeanPosition().y() < -0.5);
}

TEST_CASE("Friction that changes lets a sleeping body slide") {
  const double angle = 0.3;  // its tangent is 0.31
  BoxOnPlane scene({}, {.pose = {{}, TurnOf(angle, {0, 0, 1})}, .friction = 0.8f},
                   {.pose = {.position = {0.0f, 0.07f, 0.0f}}});
  scene.FallAsleep();
  const Eigen::Vector3d before = scene.MeanPosition();
  REQUIRE(scene.world.SetColliderFriction(scene.plane, 0.0f).ok());
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  scene.Step(50);
  const double slid = (scene.MeanPosition() - before).norm();
  CHECK(slid == Approx(0.5 * 9.81 * std::sin(angle) * 0.25).epsilon(0.05));
}

TEST_CASE("A new collider wakes only the bodies that its filter lets it touch") {
  BoxOnPlane scene;
  scene.FallAsleep();
  AddCollider(&scene.world, {.plane = {.offset = -5.0f}, .filter = {.mask = 2}});
  CHECK(scene.world.IsAsleep(scene.body));
  AddCollider(&scene.world, {.plane = {.offset = -5.0f}});
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
}

TEST_CASE("Reserved bodies and colliders come from memory of the world's start") {
  CountingMemory memory;
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  World world({.allocator = memory.allocator(), .reserve_bodies = 200, .reserve_colliders = 20});
  const BodyId body = AddBody(&world, shape.asset());
  const uint64_t before = memory.requests();
  std::vector<ColliderId> ids;
  for (int i = 0; i < 20; ++i) {
    ids.push_back(AddCollider(&world, {.plane = {.offset = -1.0f - static_cast<float>(i)}}));
  }
  CHECK(memory.requests() == before);
  for (int step = 0; step < 100; ++step) StepWorld(&world, kDt);
  CHECK(world.stats().contacts > 0);
  AddCollider(&world);
  CHECK(memory.requests() > before);

  // Every body needs as many blocks as the one before: no list of bodies grows on the way to 200.
  const auto blocks_of_a_body = [&] {
    const uint64_t start = memory.requests();
    AddBody(&world, shape.asset(), {.fixed = true});
    return memory.requests() - start;
  };
  blocks_of_a_body();
  const uint64_t each = blocks_of_a_body();
  for (int i = 3; i < 200; ++i) CHECK(blocks_of_a_body() == each);
  CHECK(world.IsValid(body));
}

TEST_CASE("A world whose allocator refuses what is reserved works without it") {
  CountingMemory memory;
  const uint64_t n = GENERATE(range(2, 14));
  CAPTURE(n);
  memory.FailAt(n, true);
  World world({.allocator = memory.allocator(), .reserve_bodies = 100, .reserve_colliders = 10});
  memory.FailNever();
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1), {}, double(kDt));
  AddBody(&world, shape.asset(), {.pose = {.position = {0.0f, 0.01f, 0.0f}}});
  AddCollider(&world);
  for (int step = 0; step < 20; ++step) StepWorld(&world, kDt);
  CHECK(world.stats().contacts > 0);
}

}  // namespace colliders_test
