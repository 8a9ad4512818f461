// SPDX-License-Identifier: MIT
// Meshes and height fields as sensors, against distances in doubles.
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("A closed mesh and a height field sense the vertices inside them") {
  constexpr uint32_t kSeed = 11;
  Random random(kSeed);
  const Vec3 half = {0.07f, 0.05f, 0.12f};
  const tools::Vec3d high = {0.07, 0.05, 0.12};
  const StaticSubject box(plush::tests::MakeGridBox(high * -1.0, high, 3));
  const std::vector<float> heights = {0.0f, 0.0f, 0.0f, 0.0f};
  BodyDesc reporting = BodyAt({});
  reporting.report_contacts = true;
  SolidScene scene(true, reporting, {.gravity = {}});
  int touched = 0, apart = 0;
  for (int round = 0; round < 120; ++round) {
    const Pose pose = {ToVec3(Eigen::Vector3d(0.1, 0.1, 0.1) + random.Vector(0.3)),
                       ToQuat(random.Rotation())};
    const bool is_mesh = round % 2 == 0;
    ColliderDesc sensor, solid = BoxAt(pose, half);
    sensor.pose = pose;
    if (is_mesh) {
      sensor = MeshOf(box, pose);
    } else {
      // Below a flat square of 4 m, whose middle is at the pose.
      sensor.type = ShapeType::kHeightField;
      sensor.height_field = {heights, 2, 2, 4.0f};
      const Eigen::Matrix3d turn = RotationOf(pose.rotation);
      sensor.pose.position = ToVec3(ToEigen(pose.position) - turn * Eigen::Vector3d(2.0, 0.0, 2.0));
      const Vec3 below = ToVec3(ToEigen(pose.position) - turn * Eigen::Vector3d(0.0, 2.0, 0.0));
      solid = BoxAt({below, pose.rotation}, {2.0f, 2.0f, 2.0f});
    }
    CAPTURE(kSeed, round);
    sensor.sensor = true;
    const ColliderId id = AddCollider(&scene.world, sensor);
    scene.Step(1);
    double depth = -1.0;
    for (const Eigen::Vector3d& point : scene.Points()) {
      depth = std::max(depth, -DistanceFrom(solid, point));
    }
    const std::span<const ContactEvent> events = scene.world.contact_events();
    const auto event = std::ranges::find_if(events, [&](const ContactEvent& e) {
      return e.collider == id && e.type == ContactEventType::kBegan;
    });
    if (depth > 1e-6) CHECK(event != events.end());
    if (depth < -1e-6) CHECK(event == events.end());
    ++(depth > 1e-6 ? touched : apart);
    if (event != events.end()) {
      CHECK(-DistanceFrom(solid, ToEigen(event->point)) == Approx(depth).margin(1e-6));
      CHECK(event->other_triangle < (is_mesh ? box.mesh().triangles.size() : 2u));
      CHECK(ToEigen(event->normal).norm() == Approx(1.0));
    }
    REQUIRE(scene.world.RemoveCollider(id).ok());
  }
  CHECK(touched > 20);
  CHECK(apart > 20);
  const StaticSubject open(plush::tests::MakeGridBox(high * -1.0, high, 3), MeshSides::kBoth);
  ColliderDesc sheet = MeshOf(open);
  sheet.sensor = true;
  ColliderId id;
  const Status status = scene.world.AddCollider(sheet, &id);
  CHECK(status.code == StatusCode::kUnsupported);
  CHECK(std::string(status.section) == "sensor");
}

TEST_CASE("A height field senses deep vertices of tets that reach beyond its border") {
  constexpr uint32_t kSeed = 13;
  Random random(kSeed);
  const std::vector<float> heights = {0.0f, 0.0f, 0.0f, 0.0f};
  BodyDesc reporting = BodyAt({});
  reporting.report_contacts = true;
  SolidScene scene(true, reporting, {.gravity = {}});
  int touched = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(kSeed, round);
    const float side = 0.5f;
    const Eigen::Matrix3d turn = random.Rotation();
    // The body's middle is below the square's border.
    const Eigen::Vector3d centre(random.Uniform(-0.05, 0.05), -random.Uniform(0.3, 2.0),
                                 random.Uniform(0.0, double(side)));
    ColliderDesc sensor;
    sensor.type = ShapeType::kHeightField;
    sensor.height_field = {heights, 2, 2, side};
    sensor.pose = {ToVec3(Eigen::Vector3d(0.1, 0.1, 0.1) - turn * centre), ToQuat(turn)};
    sensor.sensor = true;
    const ColliderId id = AddCollider(&scene.world, sensor);
    scene.Step(1);
    double depth = -1.0;
    for (const Eigen::Vector3d& point : scene.Points()) {
      const Eigen::Vector3d at = turn.transpose() * (point - ToEigen(sensor.pose.position));
      if (at.x() < 0.0 || at.z() < 0.0 || at.x() > double(side) || at.z() > double(side)) continue;
      depth = std::max(depth, -at.y());
    }
    const std::span<const ContactEvent> events = scene.world.contact_events();
    const auto event = std::ranges::find_if(events, [&](const ContactEvent& e) {
      return e.collider == id && e.type == ContactEventType::kBegan;
    });
    CHECK((event != events.end()) == (depth > 0.0));
    if (event != events.end()) {
      const Eigen::Vector3d at =
          turn.transpose() * (ToEigen(event->point) - ToEigen(sensor.pose.position));
      CHECK(-at.y() == Approx(depth).margin(1e-5));
      ++touched;
    }
    REQUIRE(scene.world.RemoveCollider(id).ok());
  }
  CHECK(touched > 40);
}
