// SPDX-License-Identifier: MIT
// Sensors that are half-spaces, spheres, capsules and boxes: they report what touches them, and
// push nothing.
#include "base/id_layout.h"
#include "runtime/colliders/reported_contacts.h"
#include "runtime/colliders/solid_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace sensors_test {

using Type = ContactEventType;

TEST_CASE("Sensors push, hold and slow nothing, whatever their shape") {
  const bool has_surface = GENERATE(false, true);
  SolidScene with(has_surface, Reporting({0.0f, 0.6f, 0.0f}, {0.5f, 0.0f, 0.0f}));
  SolidScene without(has_surface, Reporting({0.0f, 0.6f, 0.0f}, {0.5f, 0.0f, 0.0f}));
  AddCollider(&with.world);
  AddCollider(&without.world);
  ColliderDesc half_space = {.plane = {.offset = 0.2f}, .surface_velocity = {3.0f, 0.0f, 0.0f}};
  AddCollider(&with.world, Sensor(half_space));
  AddCollider(&with.world, Sensor(BoxAt({{0.1f, 0.3f, 0.0f}}, {0.3f, 0.1f, 0.3f})));
  ColliderDesc moving = Sensor(CapsuleAt({{0.0f, 0.1f, 0.0f}}, 0.2f, 0.1f));
  moving.velocity = {0.1f, 0.0f, 0.0f};
  AddCollider(&with.world, moving);
  bool sensed = false;
  for (int step = 0; step < 200; ++step) {
    with.Step(1);
    without.Step(1);
    REQUIRE(with.world.StateHash() == without.world.StateHash());
    for (const ContactEvent& event : EventsOf(with.world)) {
      sensed = sensed || DescOf(with.world, event.collider).sensor;
    }
  }
  CHECK(sensed);
  WorldMeasures a = MeasuresOf(with.world), b = MeasuresOf(without.world);
  CHECK(a.max_penetration == b.max_penetration);
}

TEST_CASE("A sensor is touched if a place of a triangle is in it, as brute force finds", "[long]") {
  constexpr uint32_t kSeed = 7;
  Random random(kSeed);
  SolidScene scene(true, Reporting({0.0f, 0.0f, 0.0f}), {.gravity = {}});
  constexpr int kSensors = 40;
  std::vector<ColliderId> ids;
  int touched = 0, apart = 0;
  for (int round = 0; round < 12; ++round) {
    for (const ColliderId id : ids) REQUIRE(scene.world.RemoveCollider(id).ok());
    ids.clear();
    for (int i = 0; i < kSensors; ++i) {
      const Vec3 at = ToVec3(Eigen::Vector3d(0.1, 0.1, 0.1) + random.Vector(0.25));
      const Pose pose = {at, ToQuat(random.Rotation())};
      const auto size = [&] { return static_cast<float>(random.Uniform(0.005, 0.08)); };
      ColliderDesc desc = SphereAt(at, size());
      if (i % 3 == 1) desc = CapsuleAt(pose, size(), size());
      if (i % 3 == 2) desc = BoxAt(pose, {size(), size(), size()});
      ids.push_back(AddCollider(&scene.world, Sensor(desc)));
    }
    scene.Step(1);
    const std::vector<ContactEvent> events = EventsOf(scene.world);
    for (const ColliderId id : ids) {
      const double depth = scene.DepthOfTrianglesIn(id);
      CAPTURE(kSeed, round, SlotOf(id.value), depth);
      const auto event = std::find_if(events.begin(), events.end(), [&](const ContactEvent& e) {
        return e.collider == id && e.type == Type::kBegan;
      });
      // The samples over triangles miss the deepest place a little.
      if (depth > 1e-6) CHECK(event != events.end());
      if (depth < -4e-3) CHECK(event == events.end());
      ++(depth > 1e-6 ? touched : apart);
      if (event == events.end()) continue;
      const double at_point = -DistanceFrom(DescOf(scene.world, id), ToEigen(event->point));
      CHECK(at_point > depth - 1e-6);
      CHECK(event->triangle < scene.shape.asset().collision().num_triangles());
    }
  }
  CHECK(touched > 50);
  CHECK(apart > 50);
}

TEST_CASE("Only the surface counts: a sensor wholly inside a body touches nothing") {
  SolidScene scene(true, Reporting({0.0f, 0.0f, 0.0f}), {.gravity = {}});
  const ColliderId inside = AddCollider(&scene.world, Sensor(SphereAt({0.1f, 0.1f, 0.1f}, 0.03f)));
  scene.Step(1);
  CHECK(scene.world.contact_events().empty());
  // A small one within a triangle, away from its corners.
  REQUIRE(scene.world.SetColliderPose(inside, {{0.13f, 0.2f, 0.117f}}).ok());
  scene.Step(1);
  CHECK(TheEvent(scene.world).type == Type::kBegan);
  REQUIRE(scene.world.SetFilter(inside, {.mask = 0}).ok());
  scene.Step(1);
  CHECK(TheEvent(scene.world).type == Type::kEnded);
}

TEST_CASE("Fixed bodies meet sensors, too") {
  BodyDesc desc = Reporting({0.0f, 0.0f, 0.0f});
  desc.fixed = true;
  SolidScene scene(true, desc);
  AddCollider(&scene.world, Sensor(SphereAt({0.1f, 0.2f, 0.1f}, 0.03f)));
  scene.Step(1);
  CHECK(TheEvent(scene.world).type == Type::kBegan);
  scene.Step(1);
  CHECK(TheEvent(scene.world).type == Type::kStayed);
}

}  // namespace sensors_test
