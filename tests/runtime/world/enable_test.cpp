// SPDX-License-Identifier: MIT
// Disabled bodies: they neither move nor are found, and come back as they were.
#include "plush/collision.h"

#include "runtime/attachments/attachment_scene.h"
#include "runtime/crowds/crowd_scene.h"
#include "runtime/state/state_scene.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace enable_test {

constexpr float kDt = 0.01f;

TEST_CASE("A disabled body stands still and goes on as if no time had passed") {
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  const ShapeAsset shape = CrowdBox(seed);
  Random random(seed), same(seed);
  World paused, goes_on;
  const BodyId a = RandomMember(shape, {0, 2, 0}, 1.0, &random).AddTo(&paused, shape.asset());
  RandomMember(shape, {0, 2, 0}, 1.0, &same).AddTo(&goes_on, shape.asset());
  CHECK(paused.IsEnabled(a));
  for (int step = 0; step < 10; ++step) StepWorld(&paused, kDt);
  REQUIRE(paused.SetEnabled(a, false).ok());
  CHECK_FALSE(paused.IsEnabled(a));
  const uint64_t hash = paused.StateHash();
  for (int step = 0; step < 7; ++step) {
    CHECK(StepWorld(&paused, kDt) == kStepOk);
    CHECK(paused.StateHash() == hash);
    CHECK(paused.stats().max_speed == 0.0f);
    CHECK(paused.stats().substeps == 0);
    CHECK(paused.stats().asleep == 0);
  }
  REQUIRE(paused.SetEnabled(a, true).ok());
  for (int step = 0; step < 10; ++step) StepWorld(&paused, kDt);
  for (int step = 0; step < 20; ++step) StepWorld(&goes_on, kDt);
  CHECK(paused.StateHash() == goes_on.StateHash());
}

TEST_CASE("Disabled members of a crowd stand still while the others move on") {
  const ShapeAsset shape = CrowdBox(3);
  World some, all;
  std::vector<BodyId> ids, others;
  Random random(4), same(4);
  for (int i = 0; i < 14; ++i) {
    const Vec3 at = {2.0f * static_cast<float>(i), 3.0f, 0.0f};
    ids.push_back(RandomMember(shape, at, 1.0, &random).AddTo(&some, shape.asset()));
    others.push_back(RandomMember(shape, at, 1.0, &same).AddTo(&all, shape.asset()));
  }
  for (int step = 0; step < 5; ++step) {
    StepWorld(&some, kDt);
    StepWorld(&all, kDt);
  }
  for (const size_t i : {size_t{0}, size_t{5}, size_t{13}}) {
    REQUIRE(some.SetEnabled(ids[i], false).ok());
  }
  const std::vector<float> still = StateOf(some, ids[5], shape.num_nodes());
  for (int step = 0; step < 10; ++step) {
    StepWorld(&some, kDt);
    StepWorld(&all, kDt);
  }
  CHECK(StateOf(some, ids[5], shape.num_nodes()) == still);
  CHECK(StateOf(some, ids[7], shape.num_nodes()) == StateOf(all, others[7], shape.num_nodes()));
  // The crowd takes a body back.
  REQUIRE(some.SetEnabled(ids[5], true).ok());
  StepWorld(&some, kDt);
  CHECK(StateOf(some, ids[5], shape.num_nodes()) != still);
  CHECK_FALSE(some.IsEnabled(ids[0]));
}

TEST_CASE("A body may be added disabled, changed, and enabled later") {
  const ShapeAsset shape = CrowdBox(3);
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, shape.asset(), {.velocity = {1, 0, 0}, .enabled = false});
  CHECK_FALSE(world.IsEnabled(id));
  StepWorld(&world, kDt);
  REQUIRE(world.Teleport(id, {{5, 0, 0}, {}}).ok());
  StepWorld(&world, kDt);
  Pose pose;
  REQUIRE(world.BestFitPose(id, &pose).ok());
  CHECK(pose.position.x == Approx(5.0f).margin(1e-5));
  REQUIRE(world.SetEnabled(id, true).ok());
  StepWorld(&world, kDt);
  REQUIRE(world.BestFitPose(id, &pose).ok());
  CHECK(pose.position.x == Approx(5.01f).margin(1e-5));
  REQUIRE(world.SetEnabled(id, false).ok());
  REQUIRE(world.RemoveBody(id).ok());
  CHECK(StepWorld(&world, kDt) == kStepOk);
}

TEST_CASE("Disabling forgets contacts and targets, enabling wakes") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {1.0e5, 0.4, 1000.0, 0.05}, double(kDt));
  World world;
  const ColliderId floor = AddCollider(&world, {});
  const BodyId id = AddBody(&world, shape.asset());
  const std::vector<uint32_t> pins = {0};
  const BodyId pinned =
      AddBody(&world, shape.asset(), {.pose = {{9, 9, 9}, {}}, .pinned_nodes = pins});
  int steps = 0;
  while (!world.IsAsleep(id) && ++steps < 2000) StepWorld(&world, kDt);
  REQUIRE(world.IsAsleep(id));
  REQUIRE(world.stats().contacts > 0);
  REQUIRE(DrawnContacts(world) > 0);
  REQUIRE(world.SetEnabled(id, false).ok());
  StepWorld(&world, kDt);
  CHECK(world.stats().contacts == 0);
  CHECK(DrawnContacts(world) == 0);
  REQUIRE(world.SetEnabled(id, true).ok());
  CHECK(DrawnContacts(world) == 0);
  StepWorld(&world, kDt);
  CHECK(DrawnContacts(world) > 0);
  REQUIRE(world.RemoveCollider(floor).ok());
  CHECK_FALSE(world.IsAsleep(id));
  for (int step = 0; step < 10; ++step) StepWorld(&world, kDt);
  CHECK(MomentsOf(world, id).centre[1] < 0.08);

  const std::vector<Vec3> before = PositionsOf(world, pinned, shape.num_nodes());
  const std::vector<Vec3> target = {{1, 1, 1}};
  REQUIRE(world.MovePins(pinned, pins, target).ok());
  REQUIRE(world.SetEnabled(pinned, false).ok());
  REQUIRE(world.SetEnabled(pinned, true).ok());
  StepWorld(&world, kDt);
  CHECK(PositionsOf(world, pinned, shape.num_nodes())[0].x == before[0].x);
}

TEST_CASE("Queries do not find disabled bodies") {
  const ShapeAsset shape = CrowdBox(3);
  World world;
  const BodyId near = AddBody(&world, shape.asset(), {.pose = {{0, 2, 0}, {}}});
  const BodyId far = AddBody(&world, shape.asset());
  const Ray down = {.origin = {0.2f, 9.0f, 0.1f}};
  SurfacePoint point, points[32];
  uint32_t all = 0, count = 0;
  REQUIRE(world.RaycastAll(down, {}, points, &all).ok());
  REQUIRE(world.Raycast(down, {}, &point).ok());
  CHECK(point.body == near);
  REQUIRE(world.SetEnabled(near, false).ok());
  for (const bool prepared : {false, true}) {
    if (prepared) world.PrepareQueries();
    REQUIRE(world.Raycast(down, {}, &point).ok());
    CHECK(point.body == far);
    REQUIRE(world.Raycast(near, down, &point).ok());
    CHECK_FALSE(point.valid());
    REQUIRE(world.RaycastAll(down, {}, points, &count).ok());
    CHECK(2 * count == all);
    REQUIRE(world.RaycastAll(near, down, points, &count).ok());
    CHECK(count == 0);
    REQUIRE(world.ClosestPoint({0.2f, 2.5f, 0.1f}, 9.0f, {}, &point).ok());
    CHECK(point.body == far);
    REQUIRE(world.ClosestPoint(near, {0.2f, 2.5f, 0.1f}, 9.0f, &point).ok());
    CHECK_FALSE(point.valid());
    REQUIRE(world.OverlapSphere({0.2f, 2.1f, 0.1f}, 0.5f, {}, points, &count).ok());
    CHECK(count == 0);
    REQUIRE(world.OverlapSphere(near, {0.2f, 2.1f, 0.1f}, 0.5f, points, &count).ok());
    CHECK(count == 0);
  }
  REQUIRE(world.SetEnabled(near, true).ok());
  REQUIRE(world.Raycast(down, {}, &point).ok());
  CHECK(point.body == near);
}

TEST_CASE("A body falls freely once the other one of its spring is disabled") {
  const bool is_implicit = GENERATE(false, true);
  const int disabled = GENERATE(0, 1);  // side of the spring
  CAPTURE(is_implicit, disabled);
  const ShapeAsset shape = Beam(1.0e5);
  const Asset* const assets[] = {&shape.asset()};
  const SolverMethod* const methods[] = {&kImplicitMethod};
  const BodySolver solver = is_implicit ? ImplicitSolver() : BodySolver();
  World world({.sleep = {.speed = 0.0f}}), loaded;
  BodyId ids[2];
  for (int k = 0; k < 2; ++k) {
    BodyDesc body = {.pose = {.position = {.y = static_cast<float>(k)}}, .solver = &solver};
    ids[k] = AddBody(&world, shape.asset(), body);
  }
  AttachmentDesc spring = {
      .body = ids[0], .other_body = ids[1], .stiffness = 500.0f, .damping = 5.0f};
  spring.weights = spring.other_weights = {1.0f, 0.0f, 0.0f, 0.0f};
  Attach(&world, spring);
  for (int step = 0; step < 10; ++step) StepWorld(&world, kDt);
  REQUIRE(world.SetEnabled(ids[disabled], false).ok());
  REQUIRE(loaded.LoadState(SavedState(world), assets, methods).ok());
  const BodyId other = ids[1 - disabled];
  constexpr int kSteps = 20;
  const Eigen::Vector3d before(MomentsOf(world, other).linear_momentum);
  for (int step = 0; step < kSteps; ++step) {
    StepWorld(&world, kDt);
    StepWorld(&loaded, kDt);
  }
  const Eigen::Vector3d gained = Eigen::Vector3d(MomentsOf(world, other).linear_momentum) - before;
  const double fall = MomentsOf(world, other).mass * 9.81 * double(kDt) * kSteps;
  CHECK((gained + Eigen::Vector3d(0.0, fall, 0.0)).norm() < 1e-4 * fall);
  CHECK(world.StateHash() == loaded.StateHash());
}

TEST_CASE("What hangs asleep from a body falls once that is disabled", "[long]") {
  const int disabled = GENERATE(0, 1);  // side of the spring
  CAPTURE(disabled);
  const ShapeAsset shape = Beam(1.0e5);
  std::vector<uint32_t> all(shape.num_nodes());
  std::iota(all.begin(), all.end(), 0u);
  World world;
  BodyId ids[2];
  for (int k = 0; k < 2; ++k) {
    BodyDesc body;
    if (k == disabled) body.pinned_nodes = all;
    body.material.damping = 0.1f;
    ids[k] = AddBody(&world, shape.asset(), body);
  }
  for (uint32_t node = 0; node < shape.num_nodes(); ++node) {
    AttachmentDesc spring = {
        .body = ids[0], .other_body = ids[1], .stiffness = 500.0f, .damping = 50.0f};
    spring.nodes[0] = spring.other_nodes[0] = node;
    spring.weights = spring.other_weights = {1.0f, 0.0f, 0.0f, 0.0f};
    Attach(&world, spring);
  }
  const BodyId hangs = ids[1 - disabled];
  for (int step = 0; step < 3000 && !world.IsAsleep(hangs); ++step) StepWorld(&world, kDt);
  REQUIRE(world.IsAsleep(hangs));
  const double before = MomentsOf(world, hangs).centre[1];
  REQUIRE(world.SetEnabled(ids[disabled], false).ok());
  for (int step = 0; step < 50; ++step) StepWorld(&world, kDt);
  CHECK(MomentsOf(world, hangs).centre[1] < before - 1.0);
}

}  // namespace enable_test
