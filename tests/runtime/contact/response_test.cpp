// SPDX-License-Identifier: MIT
// kPenaltyContact and kSnapContact.
#include "runtime/contact/plane_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush;
using namespace plush::test;

TEST_CASE("A penalty pushes each node by its stiffness times its depth") {
  const float stiffness = GENERATE(1.0e4f, 4.0e4f), dt = GENERATE(0.01f, 0.005f);
  const float depth = GENERATE(0.001f, 0.003f);
  CAPTURE(stiffness, dt, depth);
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), kMaterial, double(dt));
  World world(
      {.gravity = {}, .contact = {.method = &kPenaltyContact, .penalty_stiffness = stiffness}});
  AddPlane(&world, {{0.6f, 0.8f, 0.0f}, 0.0f}, 0.0f);
  BodyDesc body;
  body.pose.rotation = ToQuat(Eigen::Matrix3d(
      Eigen::AngleAxisd(-std::atan2(0.6, 0.8), Eigen::Vector3d::UnitZ()).toRotationMatrix()));
  body.pose.position = {-0.6f * depth, -0.8f * depth, 0.0f};
  const BodyId id = AddBody(&world, shape.asset(), body);
  StepWorld(&world, dt);
  const Eigen::Vector3d momentum(MomentsOf(world, id).linear_momentum);
  const Eigen::Vector3d expected =
      12 * double(stiffness) * double(depth) * double(dt) * Eigen::Vector3d(0.6, 0.8, 0.0);
  CAPTURE(momentum.transpose(), expected.transpose());
  CHECK((momentum - expected).norm() < 1e-3 * expected.norm());
}

TEST_CASE("On penalties a box sinks until they carry its weight") {
  const float stiffness = GENERATE(5.0e3f, 1.0e4f);
  CAPTURE(stiffness);
  const float dt = 0.005f;
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), kMaterial, double(dt));
  World world({.contact = {.method = &kPenaltyContact, .penalty_stiffness = stiffness},
               .sleep = {.speed = 0.0f}});
  AddPlane(&world, {});
  const BodyId id = AddBody(&world, shape.asset(), {.material = {.damping = 0.05f}});
  for (int step = 0; step < 600; ++step) REQUIRE(StepWorld(&world, dt) == kStepOk);
  CHECK(world.stats().max_speed < 1e-3f);
  double depths = 0.0;
  for (const Vec3& x : PositionsOf(world, id, shape.num_nodes())) depths -= std::fmin(x.y, 0.0f);
  CHECK(depths == Approx(MomentsOf(world, id).mass * kGravity / double(stiffness)).epsilon(0.01));
}

TEST_CASE("Snapped nodes lie on the plane, and the box on them") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), kMaterial);
  World world({.contact = {.method = &kSnapContact}, .sleep = {.speed = 0.0f}});
  AddPlane(&world, {});
  const BodyId id = AddBody(&world, shape.asset(), {.pose = {.position = {.y = 0.1f}}});
  double lowest = 1.0;
  for (int step = 0; step < 300; ++step) {
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    REQUIRE(std::isfinite(Energy(world)));
    REQUIRE(MeasuresOf(world).max_penetration < 1e-5f);
    lowest = std::min(lowest, MomentsOf(world, id).centre[1]);
  }
  CHECK(lowest > 0.07);
  // It rests a little lower than one that is held: snapping is no part of the solve.
  CHECK(MomentsOf(world, id).centre[1] == Approx(0.0975).margin(0.002));
  CHECK(world.stats().max_speed < 1e-3f);
}

TEST_CASE("A method holds the nodes of a pinned box that a plane crushes") {
  const ContactMethod* const method = GENERATE(&kSnapContact, &kPseudoImpulseContact);
  const float speed = GENERATE(0.3f, 1.0f);
  CAPTURE(method == &kSnapContact, speed);
  constexpr float kTop = 0.16f, kEnd = 0.03f;
  const ShapeAsset shape(TetBox(6, 2, 6, 0.05), kMaterial);
  World world({.contact = {.method = method}, .sleep = {.speed = 0.0f}});
  const ColliderId plane = AddPlane(&world, {{0.0f, -1.0f, 0.0f}, -kTop});
  REQUIRE(world.SetColliderVelocity(plane, {0.0f, -speed, 0.0f}, {}).ok());
  std::vector<uint32_t> pins;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    if (shape.simulation().nodes[i].y < 0.01f) pins.push_back(i);
  }
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  float top = kTop;
  while (top > kEnd) {
    StepWorld(&world, kDt);
    top -= speed * kDt;
    for (const Vec3& x : PositionsOf(world, id, shape.num_nodes())) CHECK(x.y < top + 1e-5f);
  }
}
