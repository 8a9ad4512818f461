// SPDX-License-Identifier: MIT
// Implicit bodies that touch colliders: contacts are part of their Newton steps.
#include "plush/solver.h"

#include "reference/trajectory.h"
#include "runtime/dense_reference.h"
#include "runtime/implicit/hung_bar.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace implicit_contact_test {

constexpr float kDt = 0.01f;
constexpr ImplicitSettings kConverged = {.newton_iterations = 20,
                                         .linear_iterations = 500,
                                         .newton_tolerance = 1.0e-6f,
                                         .linear_tolerance = 1.0e-5f};

double EnergyOf(const World& world, BodyId id) {
  const BodyMoments moments = MomentsOf(world, id);
  return moments.kinetic_j + moments.elastic_j -
         moments.mass * double(WorldDesc().gravity.y) * moments.centre[1];
}

TEST_CASE("Implicit steps with contacts meet those of splitting with 64 outer iterations") {
  const float friction = GENERATE(0.0f, 0.4f);
  const ShapeAsset shape(TetBox(5, 2, 2, 0.1, 0.09, 3), {1.0e5, 0.33, 1000.0}, double(kDt));
  const auto fall = [&](const BodySolver& solver) {
    return FallAskew(shape,
                     {.velocity = {0.3f, -1.0f, 0.0f},
                      .material = {.damping = 0.01f, .friction = friction},
                      .solver = &solver},
                     friction);
  };
  const Trajectory implicit = fall(ImplicitSolver(kConverged));
  const Trajectory splitting = fall(SplittingSolver({.outer_iterations = 64}));
  const Trajectory eight = fall(ImplicitSolver());
  const double error = reference::TrajectoryError(splitting, implicit);
  const double of_eight = reference::TrajectoryError(eight, implicit);
  CAPTURE(friction, error, of_eight);
  CHECK(error < 1e-3);
  CHECK(of_eight < 0.01);
}

TEST_CASE("A press holds an implicit body at rest, whatever Poisson's ratio", "[long]") {
  const float poisson = GENERATE(0.0f, 0.33f, 0.45f, 0.49f, 0.499f);
  const ShapeAsset shape(TetBox(3, 3, 3, 0.1, 0.09, 5), {1.0e5, 0.33, 1000.0}, double(kDt));
  World world(Awake());
  const ColliderId plane = AddPlane(&world, {});
  const BodySolver solver = ImplicitSolver();
  std::vector<uint32_t> pins;
  std::vector<Vec3> targets;
  const std::vector<Vec3> rest = shape.rest();
  for (uint32_t i = 0; i < rest.size(); ++i) {
    if (rest[i].y > 0.25f) pins.push_back(i);
  }
  BodyDesc desc = {.pose = {.position = {0.0f, 0.02f, 0.0f}},
                   .material = {.poisson = poisson, .damping = 0.05f},
                   .pinned_nodes = pins,
                   .solver = &solver,
                   .report_reactions = true};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  const std::vector<Vec3> start = PositionsOf(world, id, rest.size());
  for (int step = 1; step <= 300; ++step) {
    const float down = 0.0006f * static_cast<float>(std::min(step, 150));
    targets.clear();
    for (const uint32_t pin : pins) targets.push_back(start[pin] - Vec3{0.0f, down, 0.0f});
    REQUIRE(world.MovePins(id, pins, targets).ok());
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    CAPTURE(poisson, step);
    REQUIRE(MeasuresOf(world).min_det_f > 0.1f);
  }
  Reaction of_plane;
  REQUIRE(world.ColliderReaction(plane, &of_plane).ok());
  CAPTURE(poisson);
  CHECK(of_plane.force.y < -10.0f);
  CHECK(world.stats().max_speed < 2e-3f);
  for (const Vec3& x : PositionsOf(world, id, rest.size())) CHECK(x.y > -1e-3f);
}

TEST_CASE("An implicit body sticks on a gentle slope and slides on a steep one as Coulomb says") {
  const double degrees = GENERATE(20.0, 35.0);
  const float poisson = GENERATE(0.33f, 0.49f);
  constexpr float kFriction = 0.5f;
  const double angle = degrees * M_PI / 180.0;
  const ShapeAsset shape(TetBox(3, 2, 3, 0.1, 0.0, 7), {3.0e5, 0.33, 1000.0}, double(kDt));
  World world(Awake());
  const Vec3 normal = {static_cast<float>(std::sin(angle)), static_cast<float>(std::cos(angle)),
                       0.0f};
  AddPlane(&world, {.normal = normal}, kFriction);
  const BodySolver solver = ImplicitSolver();
  BodyDesc desc = {.pose = {.rotation = TurnOf(-angle, {0.0, 0.0, 1.0})},
                   .material = {.poisson = poisson, .damping = 0.02f, .friction = kFriction},
                   .solver = &solver};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  constexpr int kSteps = 100;
  for (int step = 0; step < kSteps; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  const BodyMoments at_one = MomentsOf(world, id);
  for (int step = 0; step < kSteps; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  const BodyMoments at_two = MomentsOf(world, id);
  const double slide = (at_two.centre[0] - at_one.centre[0]) / std::cos(angle);
  const double speed = (at_two.linear_momentum[0] - at_one.linear_momentum[0]) / at_two.mass;
  const double g = -double(WorldDesc().gravity.y);
  const double expected =
      std::max(g * (std::sin(angle) - double(kFriction) * std::cos(angle)), 0.0) * std::cos(angle);
  CAPTURE(degrees, poisson, slide, speed, expected);
  if (expected == 0.0) {
    CHECK(std::fabs(slide) < 1e-4);
  } else {
    CHECK(speed == Approx(expected).epsilon(0.02));
  }
}

TEST_CASE("Implicit bodies gain no energy in an impact") {
  const float poisson = GENERATE(0.0f, 0.33f, 0.45f, 0.49f, 0.499f);
  const float young = GENERATE(1.0e4f, 1.0e6f, 1.0e8f), speed = GENERATE(1.0f, 10.0f);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  const ShapeAsset shape(TetBox(4, 2, 2, 0.1, 0.09, 9), {1.0e5, 0.33, 1000.0}, double(kDt));
  World world(Awake());
  AddPlane(&world, {});
  const BodySolver solver = ImplicitSolver();
  BodyDesc desc = {
      .pose = {.position = {0.0f, 0.2f, 0.0f}, .rotation = TurnOf(0.5, {0.3, 0.1, 1.0})},
      .velocity = {0.0f, -speed, 0.0f},
      .material = {.young = young, .poisson = poisson},
      .solver = &solver};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  const double start = EnergyOf(world, id);
  for (int step = 0; step < 100; ++step) {
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    const double now = EnergyOf(world, id);
    CAPTURE(poisson, young, speed, step, now / start);
    REQUIRE(now < 1.01 * start);
  }
}

// Its tets are inside out at rest: the way out must not wait for them.
TEST_CASE("An implicit body that is too soft for its weight comes out of the floor") {
  const ShapeAsset shape(TetBox(4, 4, 4, 0.1, 0.09, 5), {200.0, 0.2, 3000.0}, double(kDt));
  const BodySolver solver = ImplicitSolver();
  World world(Awake());
  AddPlane(&world, {}, 0.5f);
  const BodyId id =
      AddBody(&world, shape.asset(), {.material = {.damping = 0.05f}, .solver = &solver});
  for (int step = 0; step < 150; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  CHECK(MeasuresOf(world).collapsed_tets > 20);
  std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  for (Vec3& node : x) node.y -= 0.02f;
  REQUIRE(world.SetNodePositions(id, x).ok());
  for (int step = 0; step < 100; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  CHECK(MeasuresOf(world).collapsed_tets > 20);
  CHECK(double(MeasuresOf(world).max_penetration) < 1e-3);
}

}  // namespace implicit_contact_test
