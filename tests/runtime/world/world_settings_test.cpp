// SPDX-License-Identifier: MIT
// Settings of a world that change between steps: gravity, gravity factors and the solver.
#include "runtime/colliders/plane_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace plush;
using namespace plush::test;

namespace world_settings_test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

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

TEST_CASE("Settings of contact and sleep change, clamped, and act in the next step") {
  BoxOnPlane scene;
  scene.Step(20);
  ContactSettings contact = scene.world.contact();
  CHECK(contact.sweeps == 8);
  contact.iterations = 7;
  contact.sweeps = -3;
  contact.penalty_stiffness = -1.0f;
  contact.push_out_time = 0.0f;
  scene.world.SetContact(contact);
  scene.world.SetSleep({.speed = kNan, .time = 0.0f});
  const ContactSettings& read = scene.world.contact();
  CHECK(read.iterations == 7);
  CHECK(read.sweeps == 1);
  CHECK(read.penalty_stiffness == ContactSettings{}.penalty_stiffness);
  CHECK(read.push_out_time == ContactSettings{}.push_out_time);
  CHECK(scene.world.sleep().speed == 0.0f);
  CHECK(scene.world.sleep().time == SleepSettings{}.time);
  for (const auto& [asked, taken] : {std::pair(-2, 2), {1, 2}, {3, 3}, {99, 64}}) {
    scene.world.SetContact({.iterations = asked});
    CHECK(scene.world.contact().iterations == taken);
  }

  BoxOnPlane same({.contact = contact}), changed;
  changed.world.SetContact(contact);
  same.Step(50);
  changed.Step(50);
  CHECK(same.world.StateHash() == changed.world.StateHash());
}

TEST_CASE("A body's splitting settings change, checked, and act in the next step") {
  BoxOnPlane scene;
  for (const SplittingSettings& wrong :
       {SplittingSettings{-1, 0, 4}, SplittingSettings{65, 0, 4}, SplittingSettings{2, -1, 4},
        SplittingSettings{2, 17, 4}, SplittingSettings{2, 0, 0}, SplittingSettings{2, 0, 65}}) {
    CHECK(scene.world.SetSplitting(scene.body, wrong).code == StatusCode::kInvalidArgument);
    BodyId id;
    CHECK(scene.world.AddBody(scene.shape.asset(), {.splitting = wrong}, &id).code ==
          StatusCode::kInvalidArgument);
  }
  SplittingSettings read = {9, 9, 9};
  REQUIRE(scene.world.GetSplitting(scene.body, &read).ok());
  CHECK(read == SplittingSettings{});
  scene.Step(20);
  REQUIRE(scene.world.SetSplitting(scene.body, {.outer_iterations = 7}).ok());
  REQUIRE(scene.world.GetSplitting(scene.body, &read).ok());
  CHECK(read.outer_iterations == 7);
  scene.Step(1);
  CHECK(scene.world.stats().outer_iterations >= 7);
  scene.Step(300);
  REQUIRE(scene.world.IsAsleep(scene.body));
  REQUIRE(scene.world.SetSplitting(scene.body, read).ok());
  CHECK_FALSE(scene.world.IsAsleep(scene.body));
}

TEST_CASE("Deep points come out in the time that the settings say") {
  const float time = GENERATE(0.05f, 0.2f, 1.0f), dt = GENERATE(0.01f, 0.005f);
  CAPTURE(time, dt);
  World world({.gravity = {}, .contact = {.push_out_time = time}});
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, double(dt));
  AddBody(&world, shape.asset(), {.pose = {.position = {0.0f, -0.05f, 0.0f}}});
  AddPlane(&world, {});
  StepWorld(&world, dt);
  // All of its lowest nodes began at one depth.
  CHECK(0.05f - MeasuresOf(world).max_penetration ==
        Approx(0.05f * dt / (dt + time)).epsilon(0.05));
}

TEST_CASE("A world without memory keeps still") {
  CountingMemory memory;
  memory.FailAt(1, false);
  World none({.allocator = memory.allocator(), .reserve_bodies = 9, .reserve_colliders = 9});
  CHECK(none.SetGravity({}).code == StatusCode::kOutOfMemory);
  CHECK(none.gravity().y == 0.0f);
  none.SetContact({});
  none.SetSleep({});
  CHECK(none.contact().sweeps == 8);
  CHECK(none.sleep().time == 0.5f);
  CHECK(none.SetSplitting(BodyId{1}, {}).code == StatusCode::kOutOfMemory);
  ColliderId id;
  CHECK(none.AddCollider({}, &id).code == StatusCode::kOutOfMemory);
  CHECK(none.AddForce({}).code == StatusCode::kOutOfMemory);
  uint32_t count = 5;
  CHECK(none.Colliders({}, &count).code == StatusCode::kOutOfMemory);
  CHECK(count == 0);
  CHECK(none.num_colliders() == 0);
  CHECK_FALSE(none.IsValid(ColliderId{77}));
}

}  // namespace world_settings_test
