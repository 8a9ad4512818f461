// SPDX-License-Identifier: MIT
// ColliderDesc::surface_velocity: friction follows a running surface, and nothing else does.
#include "runtime/colliders/solid_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush;
using namespace plush::test;

namespace conveyor_test {

constexpr double kGravity = 9.81;

ColliderDesc Belt(const Vec3& velocity, float friction) {
  return ColliderDesc{.friction = friction, .surface_velocity = velocity};
}

BodyDesc Resting() { return BodyDesc{.pose = {.position = {0.0f, 1.0e-4f, 0.0f}}}; }

Eigen::Vector3d VelocityOf(const SolidScene& scene) {
  const BodyMoments moments = MomentsOf(scene.world, scene.body);
  return Eigen::Vector3d(moments.linear_momentum) / moments.mass;
}

TEST_CASE("A body on a conveyor reaches its speed in the time that friction takes") {
  const bool has_surface = GENERATE(false, true);
  const float friction = GENERATE(0.2f, 0.8f);
  CAPTURE(has_surface, friction);
  constexpr double kSpeed = 0.6;
  SolidScene scene(has_surface, Resting());
  const ColliderId belt = AddCollider(&scene.world, Belt({}, friction));
  scene.Step(50);  // settle
  REQUIRE(scene.world.SetColliderSurfaceVelocity(belt, {float(kSpeed), 0.0f, 0.0f}).ok());
  const double time = kSpeed / (double(friction) * kGravity);
  const int half = static_cast<int>(0.5 * time / double(scene.kDt));
  scene.Step(half);
  const double expected = double(friction) * kGravity * half * double(scene.kDt);
  CHECK(VelocityOf(scene).x() == Approx(expected).epsilon(0.1));
  scene.Step(static_cast<int>(time / double(scene.kDt)) - half + 60);
  CHECK(VelocityOf(scene).x() == Approx(kSpeed).epsilon(0.005));
  CHECK(std::fabs(VelocityOf(scene).y()) < 1e-3);
  CHECK(std::fabs(VelocityOf(scene).z()) < 1e-3);
}

TEST_CASE("On a conveyor a body moves as on a plane that moves along itself") {
  const bool has_surface = GENERATE(false, true);
  CAPTURE(has_surface);
  SolidScene on_belt(has_surface, Resting()), on_plane(has_surface, Resting());
  AddCollider(&on_belt.world, Belt({0.4f, 0.0f, -0.3f}, 0.5f));
  ColliderDesc moving = Belt({}, 0.5f);
  moving.velocity = {0.4f, 0.0f, -0.3f};
  AddCollider(&on_plane.world, moving);
  double farthest = 0.0;
  for (int step = 0; step < 150; ++step) {
    on_belt.Step(1);
    on_plane.Step(1);
    farthest = std::max(farthest, (on_belt.Centre() - on_plane.Centre()).norm());
  }
  CHECK(on_belt.Centre().x() > 0.4);
  CHECK(farthest < 1e-4);
}

// Their nodes move far beside each other, so that the bound of energy (body/energy_guard.h) is
// looked at: it counts what the belt gives.
TEST_CASE("A fast conveyor takes soft bodies along as a plane that moves does") {
  const float young = GENERATE(2.0e3f, 1.0e4f), speed = GENERATE(3.0f, 8.0f);
  CAPTURE(young, speed);
  BodyDesc desc = Resting();
  desc.material.young = young;
  SolidScene on_belt(false, desc), on_plane(false, desc);
  AddCollider(&on_belt.world, Belt({speed, 0.0f, 0.0f}, 1.0f));
  ColliderDesc moving = Belt({}, 1.0f);
  moving.velocity = {speed, 0.0f, 0.0f};
  AddCollider(&on_plane.world, moving);
  double apart = 0.0;
  for (int step = 0; step < 150; ++step) {
    on_belt.Step(1);
    on_plane.Step(1);
    apart = std::max(apart, (VelocityOf(on_belt) - VelocityOf(on_plane)).norm());
  }
  CHECK(apart < 1e-3 * double(speed));  // without the belt's work 0.75 to 3.6 m/s, but for one
  CHECK(VelocityOf(on_belt).x() > 0.9 * double(speed));
}

TEST_CASE("A conveyor without friction moves nothing, and its part across the surface neither") {
  const bool has_surface = GENERATE(false, true);
  const auto [velocity, friction] = GENERATE(std::make_pair(Vec3{5.0f, 0.0f, 2.0f}, 0.0f),
                                             std::make_pair(Vec3{0.0f, 9.0f, 0.0f}, 1.0f),
                                             std::make_pair(Vec3{0.0f, -9.0f, 0.0f}, 1.0f));
  CAPTURE(has_surface, friction);
  SolidScene still(has_surface, Resting()), runs(has_surface, Resting());
  AddCollider(&still.world, Belt({}, friction));
  AddCollider(&runs.world, Belt(velocity, friction));
  still.Step(100);
  runs.Step(100);
  CHECK((still.Centre() - runs.Centre()).norm() < 1e-6);
}

TEST_CASE("A belt's velocity turns with the collider") {
  // Along the collider's x axis, which points along the world's z axis.
  const Quat turn = TurnOf(-0.5 * 3.14159265358979, {0, 1, 0});
  static const std::vector<float> heights(4, 0.0f);
  std::vector<Vec3> corners;
  for (int i = 0; i < 8; ++i) {
    corners.push_back(
        {(i & 1) != 0 ? 3.0f : -3.0f, (i & 2) != 0 ? 0.5f : -0.5f, (i & 4) != 0 ? 3.0f : -3.0f});
  }
  const Pose middle = {{0.1f, -0.5f, 0.1f}};
  ColliderDesc field = {.type = ShapeType::kHeightField,
                        .height_field = {heights, 2, 2, 6.0f},
                        .pose = {.position = {3.1f, 0.0f, -2.9f}}};
  ColliderDesc desc = std::vector<ColliderDesc>{
      {}, BoxAt(middle, {3.0f, 0.5f, 3.0f}), HullAt(middle, corners), field}[GENERATE(0, 1, 2, 3)];
  CAPTURE(static_cast<int>(desc.type));
  desc.pose.rotation = turn;
  desc.surface_velocity = {0.5f, 0.0f, 0.0f};
  desc.friction = 0.8f;
  SolidScene scene(true, Resting());
  AddCollider(&scene.world, desc);
  scene.Step(100);
  CHECK(VelocityOf(scene).z() == Approx(0.5).epsilon(0.01));
  CHECK(std::fabs(VelocityOf(scene).x()) < 1e-3);
}

TEST_CASE("Bodies do not sleep on a running conveyor, and wake if one starts") {
  SolidScene scene(true, Resting());
  ColliderDesc wall = BoxAt({{0.5f, 0.5f, 0.1f}}, {0.1f, 0.5f, 1.0f});
  AddCollider(&scene.world, wall);  // it holds the body: at rest on the belt
  const ColliderId belt = AddCollider(&scene.world, Belt({0.4f, 0.0f, 0.0f}, 0.3f));
  scene.Step(600);
  CHECK(scene.Speed() < 0.05);
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  REQUIRE(scene.world.SetColliderSurfaceVelocity(belt, {}).ok());
  scene.Step(400);
  REQUIRE(scene.world.IsAsleep(scene.body));
  REQUIRE(scene.world.SetColliderSurfaceVelocity(belt, {-0.4f, 0.0f, 0.0f}).ok());
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  scene.Step(60);
  CHECK(VelocityOf(scene).x() == Approx(-0.4).epsilon(0.02));
}

TEST_CASE("A conveyor's velocity is checked and read back") {
  SolidScene scene(true, Resting());
  const float nan = std::nanf("");
  ColliderId id;
  CHECK(scene.world.AddCollider(Belt({nan, 0.0f, 0.0f}, 0.5f), &id).code ==
        StatusCode::kInvalidArgument);
  id = AddCollider(&scene.world, Belt({0.5f, 0.25f, 0.125f}, 0.5f));
  CHECK(scene.world.SetColliderSurfaceVelocity(id, {0.0f, nan, 0.0f}).code ==
        StatusCode::kInvalidArgument);
  CHECK(scene.world.SetColliderSurfaceVelocity({}, {}).code == StatusCode::kNullId);
  CHECK(DescOf(scene.world, id).surface_velocity.y == 0.25f);
}

}  // namespace conveyor_test
