// SPDX-License-Identifier: MIT
// What a body whose state became non-finite still does to colliders and sensors: its contacts end,
// colliders feel nothing of it and pass it, sensors find it.
#include "runtime/bodies/touching_cubes.h"
#include "runtime/colliders/solid_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace frozen_contacts_test {

constexpr float kDt = 0.01f;

using Type = ContactEventType;

// Two damped boxes that rest on a plane, the first one in a sensor.
struct TwoBoxes {
  TwoBoxes()
      : shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0, 0.1}, double(kDt)),
        world({.sleep = {.speed = 0.0f}}) {
    plane = AddCollider(&world);
    ColliderDesc ball = SphereAt({0.1f, 0.2f, 0.1f}, 0.05f);
    ball.sensor = true;
    sensor = AddCollider(&world, ball);
    for (int i = 0; i < 2; ++i) {
      BodyDesc desc = BodyAt({static_cast<float>(i), 0.001f, 0.0f});
      desc.report_contacts = true;
      ids.push_back(AddBody(&world, shape.asset(), desc));
    }
    for (int step = 0; step < 200; ++step) StepWorld(&world, kDt);
  }

  // The events of a body with a collider in the last step.
  std::vector<ContactEvent> Events(size_t body, ColliderId collider) const {
    std::vector<ContactEvent> out;
    for (const ContactEvent& event : world.contact_events()) {
      const float numbers[] = {event.point.x,  event.point.y,  event.point.z, event.normal.x,
                               event.normal.y, event.normal.z, event.impulse, event.approach_speed};
      for (const float number : numbers) CHECK(std::isfinite(number));
      if (event.body == ids[body] && event.collider == collider) out.push_back(event);
    }
    return out;
  }
  Type TheEvent(size_t body, ColliderId collider) const {
    const std::vector<ContactEvent> events = Events(body, collider);
    REQUIRE(events.size() == 1);
    return events[0].type;
  }
  double WeightOnPlane() const {
    Reaction reaction;
    REQUIRE(world.ColliderReaction(plane, &reaction).ok());
    return -double(reaction.force.y);
  }

  ShapeAsset shape;
  World world;
  ColliderId plane, sensor;
  std::vector<BodyId> ids;
};

TEST_CASE("A body that freezes on a plane lets go of it, sensors still find it") {
  const float speed = GENERATE(3.0e38f, 1.0e27f, 1.0e20f);  // no finite step follows from them
  CAPTURE(speed);
  TwoBoxes boxes;
  World& world = boxes.world;
  const double weight = MomentsOf(world, boxes.ids[1]).mass * 9.81;
  const uint32_t contacts = world.stats().contacts;
  REQUIRE(boxes.WeightOnPlane() == Approx(2.0 * weight).epsilon(0.01));
  REQUIRE(boxes.TheEvent(0, boxes.sensor) == Type::kStayed);
  std::vector<Vec3> v(boxes.shape.num_nodes(), Vec3{speed, -speed, speed});
  v[3] = {-speed, speed, speed};
  const std::vector<Vec3> held = PositionsOf(world, boxes.ids[0], boxes.shape.num_nodes());
  REQUIRE(world.SetNodeVelocities(boxes.ids[0], v).ok());
  CHECK((StepWorld(&world, kDt) & kStepBodyFrozen) != 0);
  REQUIRE(world.IsFrozen(boxes.ids[0]));
  CHECK(std::isfinite(world.stats().max_speed));
  CHECK(boxes.TheEvent(0, boxes.plane) == Type::kEnded);
  for (int step = 0; step < 100; ++step) {
    CAPTURE(step);
    CHECK(boxes.TheEvent(0, boxes.sensor) == Type::kStayed);
    CHECK(boxes.TheEvent(1, boxes.plane) == Type::kStayed);
    CHECK(boxes.WeightOnPlane() == Approx(weight).epsilon(0.01));
    CHECK(world.stats().contacts < contacts);
    StepWorld(&world, kDt);
    CHECK(boxes.Events(0, boxes.plane).empty());
  }
  // The plane passes it, and lifts the other one.
  const double before = MomentsOf(world, boxes.ids[1]).centre[1];
  for (int step = 1; step <= 10; ++step) {
    REQUIRE(world.MoveCollider(boxes.plane, {.position = {0.0f, 0.01f * float(step), 0.0f}}).ok());
    StepWorld(&world, kDt);
    CHECK(boxes.Events(0, boxes.plane).empty());
  }
  CHECK(MomentsOf(world, boxes.ids[1]).centre[1] > before + 0.09);
  const std::vector<Vec3> now = PositionsOf(world, boxes.ids[0], boxes.shape.num_nodes());
  CHECK(std::memcmp(now.data(), held.data(), held.size() * sizeof(Vec3)) == 0);
  // A reset gives it back.
  REQUIRE(world.ResetBody(boxes.ids[0], {.position = {0.0f, 0.0999f, 0.0f}}).ok());
  StepWorld(&world, kDt);
  CHECK(boxes.TheEvent(0, boxes.plane) == Type::kBegan);
}

TEST_CASE("Bodies that touch may all freeze in one substep of several") {
  const bool is_fixed = GENERATE(false, true);  // the lower one
  int num_frozen = 0;
  for (float speed = 1.0e7f; speed < 1.0e13f; speed *= 3.0f) {
    CAPTURE(is_fixed, speed);
    TouchingCubes cubes(TouchingCubes::Awake());
    cubes.Add({0, 0, 0}, 1.0e6f, {.fixed = is_fixed});
    cubes.Add({0.01f, 0.1995f, 0});
    if (!is_fixed) AddPlane(&cubes.world, {});
    cubes.Step(30);
    REQUIRE(cubes.world.stats().body_pairs == 1);
    std::vector<Vec3> v(cubes.shape.num_nodes());
    for (size_t i = 0; i < v.size(); ++i) v[i].y = i % 2 == 0 ? speed : -speed;
    for (const BodyId id : cubes.ids) REQUIRE(cubes.world.SetNodeVelocities(id, v).ok());
    for (int step = 0; step < 5; ++step) {
      const bool was_frozen = cubes.world.IsFrozen(cubes.ids[1]);
      cubes.Step(1);
      const bool freezes = !was_frozen && cubes.world.IsFrozen(cubes.ids[1]);
      const bool has_substeps = is_fixed || cubes.world.stats().substeps > 1;
      num_frozen += freezes && has_substeps ? 1 : 0;
    }
  }
  CHECK(num_frozen > 2);
}

}  // namespace frozen_contacts_test
