// SPDX-License-Identifier: MIT
// World::ColliderReaction: the weight of what rests, the momentum of what hits, the same for any
// number of threads.
#include "base/id_layout.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace collider_reaction_test {

constexpr double kGravity = 9.81;

BodyDesc At(const Vec3& position, const Vec3& velocity = {}, float scale = 1.0f) {
  return BodyDesc{.pose = {.position = position}, .scale = scale, .velocity = velocity};
}

Reaction ReactionOf(const World& world, ColliderId id) {
  Reaction reaction;
  REQUIRE(world.ColliderReaction(id, &reaction).ok());
  return reaction;
}

TEST_CASE("A resting body's weight is the collider's reaction, also of a scaled or sleeping one") {
  const bool has_surface = GENERATE(false, true);
  const float scale = GENERATE(0.5f, 1.0f, 3.0f);
  CAPTURE(has_surface, scale);
  SolidScene scene(has_surface, At({0.0f, 0.01f, 0.0f}, {}, scale));
  const ColliderId box =
      AddCollider(&scene.world, BoxAt({{0.05f, -1.0f, 0.0f}}, {4.0f, 1.0f, 4.0f}));
  const double weight = MomentsOf(scene.world, scene.body).mass * kGravity;
  for (int step = 0; step < 1500 && !scene.world.IsAsleep(scene.body); ++step) scene.Step(1);
  REQUIRE(scene.world.IsAsleep(scene.body));
  scene.Step(3);
  const Reaction reaction = ReactionOf(scene.world, box);
  CHECK(double(reaction.force.y) == Approx(-weight).epsilon(0.01));
  CHECK(std::hypot(reaction.force.x, reaction.force.z) < 0.01 * weight);
  CHECK(reaction.about.y == -1.0f);
  // The weight acts at the body's centre.
  const Eigen::Vector3d arm = scene.Centre() - ToEigen(reaction.about);
  const Eigen::Vector3d expected = arm.cross(Eigen::Vector3d(0.0, -weight, 0.0));
  CHECK((ToEigen(reaction.torque) - expected).norm() < 0.01 * weight * double(scale));
}

TEST_CASE("A body rests with its weight on a shape of every kind") {
  const bool has_surface = GENERATE(false, true);
  const auto name =
      GENERATE(as<std::string>(), "sphere", "capsule", "hull", "mesh", "height field");
  CAPTURE(name, has_surface);
  // A slope of 0.15 for the hull, the mesh and the height field.
  const Pose tilted = TurnedPose({0.0f, -0.5f, 0.0f}, std::atan(0.15), Eigen::Vector3d::UnitZ());
  const std::vector<Vec3> corners = BoxCorners({1.0f, 0.5f, 1.0f});
  const StaticSubject mesh(plush::tests::MakeGridBox({-1.0, -0.5, -1.0}, {1.0, 0.5, 1.0}, 7));
  std::vector<float> heights;
  for (int i = 0; i < 9 * 9; ++i) heights.push_back(0.15f * 0.25f * static_cast<float>(i % 9));
  const Pose level = TurnedPose({0.0f, -0.5f, 0.0f}, std::acos(0.0), Eigen::Vector3d::UnitX());
  ColliderDesc desc;
  if (name == "sphere") desc = SphereAt({0.0f, -1.0f, 0.0f}, 1.0f);
  if (name == "capsule") desc = CapsuleAt(level, 1.0f, 0.5f);
  if (name == "hull") desc = HullAt(tilted, corners);
  if (name == "mesh") desc = MeshOf(mesh, tilted);
  if (name == "height field") {
    desc.type = ShapeType::kHeightField;
    desc.height_field = {heights, 9, 9, 0.25f};
    desc.pose.position = {-1.0f, -0.15f, -1.0f};
  }
  desc.friction = 0.8f;
  BodyDesc body = At({-0.1f, 0.04f, -0.1f});
  body.material.damping = 0.1f;
  SolidScene scene(has_surface, body);
  const ColliderId id = AddCollider(&scene.world, desc);
  const double weight = MomentsOf(scene.world, scene.body).mass * kGravity;
  scene.Step(300);
  const Reaction reaction = ReactionOf(scene.world, id);
  CAPTURE(scene.Speed(), reaction.force.x, reaction.force.y, reaction.force.z, weight);
  // On the sphere two or three points press in turns: until it may sleep, it rocks on its place at
  // up to 0.016 m/s.
  const double most_speed = name == "sphere" ? 0.1 : 5e-3;
  CHECK(scene.Speed() < most_speed * double(SolidScene::kSize));
  CHECK((ToEigen(reaction.force) + Eigen::Vector3d(0.0, weight, 0.0)).norm() < 0.01 * weight);
  CHECK(scene.flags == kStepOk);
  const Eigen::Vector3d before = scene.Centre();
  scene.Step(100);
  CHECK((scene.Centre() - before).norm() < 2e-3 * double(SolidScene::kSize));
}

TEST_CASE("Reactions of several bodies add up, without those that left") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0, 0.1}, 0.01);
  World world;
  const ColliderId plane = AddCollider(&world);
  const ColliderId far = AddCollider(&world, SphereAt({0.0f, 50.0f, 0.0f}, 1.0f));
  std::vector<BodyId> bodies;
  double weight = 0.0;
  for (int i = 0; i < 5; ++i) {
    bodies.push_back(AddBody(&world, shape.asset(), At({float(i), 0.001f, 0.0f})));
    weight += MomentsOf(world, bodies.back()).mass * kGravity;
  }
  for (int step = 0; step < 300; ++step) StepWorld(&world, 0.01f);
  CHECK(double(ReactionOf(world, plane).force.y) == Approx(-weight).epsilon(0.01));
  CHECK(ReactionOf(world, far).force.y == 0.0f);
  REQUIRE(world.RemoveBody(bodies[1]).ok());
  REQUIRE(world.SetEnabled(bodies[3], false).ok());
  StepWorld(&world, 0.01f);
  CHECK(double(ReactionOf(world, plane).force.y) == Approx(-0.6 * weight).epsilon(0.01));
  // A collider in the same slot has nothing of the removed one.
  REQUIRE(world.RemoveCollider(plane).ok());
  Reaction stale;
  CHECK(world.ColliderReaction(plane, &stale).code == StatusCode::kStaleId);
  const ColliderId next = AddCollider(&world);
  CHECK(SlotOf(next.value) == SlotOf(plane.value));
  CHECK(ReactionOf(world, next).force.y == 0.0f);
}

}  // namespace collider_reaction_test
