// SPDX-License-Identifier: MIT
// Events of bodies: what slept, woke and froze, in the order of slots, and what is lost.
#include "runtime/colliders/plane_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace events_test {

constexpr float kDt = BoxOnPlane::kDt;

std::vector<BodyEvent> EventsOf(const World& world) {
  const std::span<const BodyEvent> events = world.body_events();
  return {events.begin(), events.end()};
}

size_t Count(const std::vector<BodyEvent>& events, BodyEventType type) {
  return static_cast<size_t>(std::count_if(events.begin(), events.end(),
                                           [type](const BodyEvent& e) { return e.type == type; }));
}

// Damped boxes on a plane.
struct Row {
  explicit Row(int count, const WorldDesc& desc = {})
      : shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0, 0.1}, double(kDt)), world(desc) {
    AddCollider(&world);
    for (int i = 0; i < count; ++i) {
      ids.push_back(AddBody(&world, shape.asset(),
                            {.pose = {.position = {static_cast<float>(i), 0.005f, 0.0f}},
                             .user_data = 100u + static_cast<uint64_t>(i)}));
    }
  }

  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
};

// Makes the next step freeze the body: its state leaves float's range.
void Blow(Row* row, size_t which) {
  std::vector<Vec3> fast(row->shape.num_nodes());
  for (size_t i = 0; i < fast.size(); ++i) fast[i].y = i % 2 == 0 ? 3.0e38f : -3.0e38f;
  REQUIRE(row->world.SetNodeVelocities(row->ids[which], fast).ok());
}

TEST_CASE("Bodies report that they fell asleep and that they woke, once each") {
  Row row(3);
  CHECK(row.world.body_events().empty());
  std::vector<int> slept(3, 0);
  for (int step = 0; step < 2000 && row.world.stats().asleep < 3; ++step) {
    StepWorld(&row.world, kDt);
    for (const BodyEvent& event : EventsOf(row.world)) {
      REQUIRE(event.type == BodyEventType::kSlept);
      const auto at = std::find(row.ids.begin(), row.ids.end(), event.body) - row.ids.begin();
      REQUIRE(at < 3);
      ++slept[static_cast<size_t>(at)];
      CHECK(event.user_data == 100u + static_cast<uint64_t>(at));
      CHECK(row.world.IsAsleep(event.body));
    }
  }
  CHECK(slept == std::vector<int>{1, 1, 1});
  StepWorld(&row.world, kDt);
  CHECK(row.world.body_events().empty());

  REQUIRE(row.world.Wake(row.ids[2]).ok());
  REQUIRE(row.world.Wake(row.ids[0]).ok());
  StepWorld(&row.world, kDt);
  const std::vector<BodyEvent> woke = EventsOf(row.world);
  REQUIRE(woke.size() == 2);
  CHECK(Count(woke, BodyEventType::kWoke) == 2);
  CHECK(woke[0].body == row.ids[0]);  // in the order of slots
  CHECK(woke[1].body == row.ids[2]);
  StepWorld(&row.world, kDt);
  CHECK(row.world.body_events().empty());
}

TEST_CASE("A body that wakes falls asleep once it has stayed in a step from rest") {
  BoxOnPlane scene({.sleep = {.time = 1.0e-6f}});
  scene.FallAsleep();
  REQUIRE(scene.world.Wake(scene.body).ok());
  for (const BodyEventType type : {BodyEventType::kWoke, BodyEventType::kSlept}) {
    scene.Step(1);
    const std::vector<BodyEvent> events = EventsOf(scene.world);
    REQUIRE(events.size() == 1);
    CHECK(events[0].type == type);
  }
}

TEST_CASE("Forces, colliders and gravity that wake a body are reported") {
  BoxOnPlane scene;
  scene.FallAsleep();
  SECTION("force") {
    REQUIRE(scene.world.AddForce({.vector = {0.0f, 20.0f, 0.0f}, .wake = true}).ok());
  }
  SECTION("collider") {
    REQUIRE(scene.world.MoveCollider(scene.plane, {.position = {0.0f, 0.01f, 0.0f}}).ok());
  }
  SECTION("collider that moves by itself") {
    AddCollider(&scene.world, {.plane = {{1.0f, 0.0f, 0.0f}, 0.0f},
                               .pose = {.position = {-0.1f, 0.0f, 0.0f}},
                               .velocity = {10.0f, 0.0f, 0.0f},
                               .filter = {.mask = 1}});
  }
  SECTION("gravity") { REQUIRE(scene.world.SetGravity({0.0f, -9.0f, 0.0f}).ok()); }
  CHECK(EventsOf(scene.world).size() == 1);  // still those of the last step
  scene.Step(1);
  const std::vector<BodyEvent> events = EventsOf(scene.world);
  REQUIRE(events.size() == 1);
  CHECK(events[0].type == BodyEventType::kWoke);
  CHECK(events[0].body == scene.body);
}

TEST_CASE("A body that freezes reports it once, and again after it was revived") {
  Row row(2, {.gravity = {}});
  for (int round = 0; round < 2; ++round) {
    Blow(&row, 1);
    CHECK((StepWorld(&row.world, kDt) & kStepBodyFrozen) != 0);
    const std::vector<BodyEvent> events = EventsOf(row.world);
    REQUIRE(events.size() == 1);
    CHECK(events[0].type == BodyEventType::kFroze);
    CHECK(events[0].body == row.ids[1]);
    CHECK(row.world.IsFrozen(row.ids[1]));
    for (int step = 0; step < 3; ++step) {
      StepWorld(&row.world, kDt);
      CHECK(row.world.body_events().empty());
    }
    REQUIRE(row.world.ResetBody(row.ids[1], {.position = {1.0f, 1.0f, 0.0f}}).ok());
  }
}

TEST_CASE("Events beyond max_events are lost, and a flag says so") {
  const uint32_t most = GENERATE(0u, 2u, 5u);
  CAPTURE(most);
  Row row(5, {.max_events = most});
  for (int step = 0; step < 2000 && row.world.stats().asleep < 5; ++step) {
    StepWorld(&row.world, kDt);
  }
  REQUIRE(row.world.stats().asleep == 5);
  for (const BodyId id : row.ids) REQUIRE(row.world.Wake(id).ok());
  const uint32_t flags = StepWorld(&row.world, kDt);
  const std::vector<BodyEvent> events = EventsOf(row.world);
  REQUIRE(events.size() == most);
  for (size_t i = 0; i < events.size(); ++i) CHECK(events[i].body == row.ids[i]);
  CHECK(((flags & kStepEventsLost) != 0) == (most < 5));
  CHECK((StepWorld(&row.world, kDt) & kStepEventsLost) == 0);
}

TEST_CASE("A disabled body reports nothing until it is back") {
  Row row(1);
  for (int step = 0; step < 2000 && row.world.stats().asleep < 1; ++step) {
    StepWorld(&row.world, kDt);
  }
  REQUIRE(row.world.SetEnabled(row.ids[0], false).ok());
  REQUIRE(row.world.Wake(row.ids[0]).ok());
  StepWorld(&row.world, kDt);
  CHECK(row.world.body_events().empty());
  CHECK(row.world.stats().asleep == 0);
  REQUIRE(row.world.SetEnabled(row.ids[0], true).ok());
  StepWorld(&row.world, kDt);
  const std::vector<BodyEvent> events = EventsOf(row.world);
  REQUIRE(events.size() == 1);
  CHECK(events[0].type == BodyEventType::kWoke);
}

TEST_CASE("A failed step keeps the events, and a world without memory has none") {
  BoxOnPlane scene;
  scene.FallAsleep();
  REQUIRE(EventsOf(scene.world).size() == 1);
  CHECK_FALSE(scene.world.Step(-1.0f).ok());
  CHECK(EventsOf(scene.world).size() == 1);
  CountingMemory memory;
  memory.FailAt(1, false);
  World none({.allocator = memory.allocator()});
  CHECK(none.body_events().empty());
}

}  // namespace events_test
