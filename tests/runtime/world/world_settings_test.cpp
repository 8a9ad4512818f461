// SPDX-License-Identifier: MIT
// Settings of a world that change between steps: gravity, gravity factors and the solver.
#include "runtime/world/heap_counter.h"
#include "runtime/world/plane_scene.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("Gravity changes from the next step on, and wakes all bodies if it differs") {
  BoxOnPlane scene;
  scene.FallAsleep();
  CHECK(scene.world.gravity().y == -9.81f);
  REQUIRE(scene.world.SetGravity({0.0f, -9.81f, 0.0f}).ok());
  CHECK(scene.world.IsAsleep(scene.body));
  REQUIRE(scene.world.SetGravity({0.0f, 4.0f, 0.0f}).ok());
  CHECK(scene.world.gravity().y == 4.0f);
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
  scene.Step(50);
  CHECK(scene.MeanVelocity().y() == Approx(2.0).epsilon(0.02));
  CHECK(scene.world.SetGravity({0.0f, kNan, 0.0f}).code == StatusCode::kInvalidArgument);
  CHECK(scene.world.gravity().y == 4.0f);
}

TEST_CASE("A body that feels no gravity falls asleep in the air, one that does does not") {
  BoxOnPlane scene;
  const BodyId floats = AddBody(&scene.world, scene.shape.asset(),
                                {.pose = {.position = {0.0f, 3.0f, 0.0f}}, .gravity_factor = 0.0f});
  const BodyId falls =
      AddBody(&scene.world, scene.shape.asset(),
              {.pose = {.position = {3.0f, 9.0f, 0.0f}}, .gravity_factor = 1.0e-5f});
  scene.Step(100);
  CHECK(scene.world.IsAsleep(floats));
  CHECK_FALSE(scene.world.IsAsleep(falls));
}

TEST_CASE("The solver's settings change, clamped, and act in the next step") {
  BoxOnPlane scene;
  scene.Step(20);
  SolverSettings settings = scene.world.solver();
  CHECK(settings.outer_iterations == 2);
  settings.outer_iterations = 7;
  settings.volume_sweeps = -3;
  settings.sleep_speed = kNan;
  settings.sleep_time = 0.0f;
  settings.penalty_stiffness = -1.0f;
  scene.world.SetSolver(settings);
  const SolverSettings& read = scene.world.solver();
  CHECK(read.outer_iterations == 7);
  CHECK(read.volume_sweeps == 0);
  CHECK(read.sleep_speed == 0.0f);
  CHECK(read.sleep_time == SolverSettings{}.sleep_time);
  CHECK(read.penalty_stiffness == SolverSettings{}.penalty_stiffness);
  scene.Step(1);
  CHECK(scene.world.stats().outer_iterations >= 7);

  BoxOnPlane same({.solver = settings}), changed;
  changed.world.SetSolver(settings);
  same.Step(50);
  changed.Step(50);
  CHECK(same.world.StateHash() == changed.world.StateHash());
}

TEST_CASE("A world without memory keeps still") {
  CountingMemory memory;
  memory.FailAt(1, false);
  World none({.allocator = memory.allocator(), .reserve_bodies = 9, .reserve_colliders = 9});
  CHECK(none.SetGravity({}).code == StatusCode::kOutOfMemory);
  CHECK(none.gravity().y == 0.0f);
  none.SetSolver({});
  CHECK(none.solver().outer_iterations == 2);
  ColliderId id;
  CHECK(none.AddCollider({}, &id).code == StatusCode::kOutOfMemory);
  CHECK(none.AddForce({}).code == StatusCode::kOutOfMemory);
  uint32_t count = 5;
  CHECK(none.Colliders({}, &count).code == StatusCode::kOutOfMemory);
  CHECK(count == 0);
  CHECK(none.num_colliders() == 0);
  CHECK_FALSE(none.IsValid(ColliderId{77}));
}
