// SPDX-License-Identifier: MIT
// Bodies at rest cost nothing until something moves them.

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace sleep_test {

constexpr float kDt = 0.01f;

// Boxes dropped from just above a plane that have come to rest.
struct Resting {
  explicit Resting(int count, double cell = 0.1, const WorldDesc& desc = {})
      : shape(TetBox(2, 2, 2, cell), {2.0e5, 0.4, 1000.0, 0.1}, double(kDt)), world(desc) {
    AddPlane(&world, {});
    for (int i = 0; i < count; ++i) {
      BodyDesc body;
      body.pose.position = {static_cast<float>(3.0 * cell * i), static_cast<float>(0.1 * cell), 0};
      ids.push_back(AddBody(&world, shape.asset(), body));
    }
  }

  int StepUntilAsleep(int most) {
    for (int step = 0; step < most; ++step) {
      StepWorld(&world, kDt);
      if (world.stats().asleep == ids.size()) return step;
    }
    return most;
  }

  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
};

TEST_CASE("Bodies at rest fall asleep, whatever their size, and stay where they are to the bit") {
  const double cell = GENERATE(0.002, 0.1, 5.0);
  CAPTURE(cell);
  Resting scene(3, cell);
  REQUIRE(scene.StepUntilAsleep(2000) < 2000);
  const StepStats settled = scene.world.stats();
  CHECK(settled.max_speed == 0.0f);
  CHECK(settled.contacts > 0);
  const WorldMeasures measures = MeasuresOf(scene.world);
  CHECK(measures.kinetic_j == 0.0);
  CHECK(measures.elastic_j > 0.0);
  const uint64_t hash = scene.world.StateHash();
  for (int step = 0; step < 20; ++step) StepWorld(&scene.world, kDt);
  CHECK(scene.world.StateHash() == hash);
  CHECK(MeasuresOf(scene.world).elastic_j == measures.elastic_j);
  CHECK(scene.world.stats().contacts == settled.contacts);
  CHECK(scene.world.stats().substeps == 0);
}

TEST_CASE("A sleeping body wakes if it is moved or pushed, or if a plane is added") {
  Resting scene(2);
  REQUIRE(scene.StepUntilAsleep(2000) < 2000);
  const BodyId id = scene.ids[1];
  const size_t num_nodes = scene.shape.num_nodes();
  const auto wakes = [&](auto action) {
    REQUIRE(scene.world.IsAsleep(id));
    action();
    CHECK_FALSE(scene.world.IsAsleep(id));
    StepWorld(&scene.world, kDt);
    CHECK(scene.world.stats().substeps > 0);
    REQUIRE(scene.StepUntilAsleep(2000) < 2000);
  };
  wakes([&] {
    std::vector<Vec3> push(num_nodes, Vec3{0.0f, 0.5f, 0.0f});
    REQUIRE(scene.world.SetNodeVelocities(id, push).ok());
    CHECK(scene.world.IsAsleep(scene.ids[0]));
  });
  wakes([&] {
    std::vector<Vec3> lifted = PositionsOf(scene.world, id, num_nodes);
    for (Vec3& x : lifted) x.y += 0.05f;
    REQUIRE(scene.world.SetNodePositions(id, lifted).ok());
  });
  wakes([&] { REQUIRE(scene.world.Wake(id).ok()); });
  wakes([&] { AddPlane(&scene.world, {{0.0f, 1.0f, 0.0f}, 0.01f}); });
}

TEST_CASE("Impulses push nodes by their masses and wake the body, but pinned nodes stay") {
  Resting scene(1);
  REQUIRE(scene.StepUntilAsleep(2000) < 2000);
  const BodyId id = scene.ids[0];
  const size_t num_nodes = scene.shape.num_nodes();
  const std::vector<uint32_t> pins = {2};
  REQUIRE(scene.world.SetPinnedNodes(id, pins).ok());
  CHECK_FALSE(scene.world.IsAsleep(id));
  REQUIRE(scene.StepUntilAsleep(2000) < 2000);
  std::vector<Vec3> impulses(num_nodes, Vec3{0.0f, 0.02f, -0.01f});
  REQUIRE(scene.world.AddImpulses(id, impulses).ok());
  CHECK_FALSE(scene.world.IsAsleep(id));
  const std::vector<Vec3> v = VelocitiesOf(scene.world, id, num_nodes);
  for (size_t i = 0; i < num_nodes; ++i) {
    const double mass = double(scene.shape.simulation().masses[i]);
    CHECK(double(v[i].y) == Approx(i == 2 ? 0.0 : 0.02 / mass));
    CHECK(double(v[i].z) == Approx(i == 2 ? 0.0 : -0.01 / mass));
  }
  REQUIRE(scene.world.AddImpulses(id, impulses).ok());  // adds to the current velocities
  CHECK(VelocitiesOf(scene.world, id, num_nodes)[0].y == Approx(2.0f * v[0].y));

  const uint64_t hash = scene.world.StateHash();
  CHECK(scene.world.AddImpulses({7}, impulses).code == StatusCode::kForeignId);
  CHECK(scene.world.AddImpulses(id, std::span(impulses).first(3)).code ==
        StatusCode::kInvalidArgument);
  impulses[num_nodes - 1].x = 3.0e38f;  // finite, but the velocity is not
  CHECK(scene.world.AddImpulses(id, impulses).code == StatusCode::kInvalidArgument);
  impulses[num_nodes - 1].x = std::numeric_limits<float>::quiet_NaN();
  CHECK(scene.world.AddImpulses(id, impulses).code == StatusCode::kInvalidArgument);
  const BodyId scenery = AddBody(&scene.world, scene.shape.asset(), {.fixed = true});
  CHECK(scene.world.AddImpulses(scenery, std::vector<Vec3>(num_nodes)).code ==
        StatusCode::kInvalidArgument);
  REQUIRE(scene.world.RemoveBody(scenery).ok());
  CHECK(scene.world.StateHash() == hash);
}

TEST_CASE("Bodies of a crowd sleep and wake one by one") {
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1), {2.0e5, 0.4, 1000.0}, double(kDt));
  World world({.gravity = {}});
  std::vector<BodyId> ids;
  for (int i = 0; i < 12; ++i) {
    BodyDesc body = {.pose = {.position = {.x = static_cast<float>(i)}}};
    ids.push_back(AddBody(&world, shape.asset(), body));
  }
  int steps = 0;
  for (; world.stats().asleep < ids.size() && steps < 200; ++steps) StepWorld(&world, kDt);
  CHECK(steps >= 50);
  REQUIRE(steps < 200);
  const uint64_t hash = world.StateHash();
  const std::vector<Vec3> push(shape.num_nodes(), Vec3{0.0f, 0.02f, 0.0f});
  for (int i = 0; i < 7; ++i) REQUIRE(world.AddImpulses(ids[size_t(i)], push).ok());
  for (int step = 0; step < 100; ++step) StepWorld(&world, kDt);
  CHECK(world.stats().asleep == 5);
  for (size_t i = 0; i < ids.size(); ++i) {
    CAPTURE(i);
    const float speed = VelocitiesOf(world, ids[i], shape.num_nodes())[0].y;
    CHECK((i < 7 ? speed > 0.0f : speed == 0.0f));
    CHECK(world.IsAsleep(ids[i]) == (i >= 7));
  }
  CHECK(world.StateHash() != hash);
}

TEST_CASE("A large body under weak gravity never sleeps in mid-air") {
  const ShapeAsset shape(TetBox(2, 2, 2, 5.0), {1.0e6, 0.3, 1000.0}, double(kDt));
  World world({.gravity = {0.0f, -0.01f, 0.0f}});
  AddPlane(&world, {{0.0f, 1.0f, 0.0f}, -100.0f});
  const BodyId id = AddBody(&world, shape.asset());
  for (int step = 0; step < 300; ++step) StepWorld(&world, kDt);
  // Always below 3 cm/s, which is slow for a body with a diagonal of 17 m.
  CHECK_FALSE(world.IsAsleep(id));
  CHECK(MomentsOf(world, id).centre[1] == Approx(5.0 - 0.5 * 0.01 * 9.0).margin(1e-3));
  // Held by a pin, it falls asleep.
  const std::vector<uint32_t> pins = {0};
  REQUIRE(world.SetPinnedNodes(id, pins).ok());
  REQUIRE(world.SetNodeVelocities(id, std::vector<Vec3>(shape.num_nodes())).ok());
  for (int step = 0; step < 100; ++step) StepWorld(&world, kDt);
  CHECK(world.IsAsleep(id));
}

TEST_CASE("A body that drifts stays awake if it is faster than the sleep speed") {
  const float speed = GENERATE(0.9f, 1.1f);  // [sleep speeds]
  WorldDesc weightless = {.gravity = {}};
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0}, double(kDt));
  World world(weightless);
  const BodyId id = AddBody(&world, shape.asset());
  const float size = 0.2f * std::sqrt(3.0f);
  const Vec3 drift = {0.0f, speed * weightless.sleep.speed * size, 0.0f};
  REQUIRE(world.SetNodeVelocities(id, std::vector<Vec3>(shape.num_nodes(), drift)).ok());
  for (int step = 0; step < 300; ++step) StepWorld(&world, kDt);
  CHECK(world.IsAsleep(id) == (speed < 1.0f));
}

TEST_CASE(
    "A body that shakes falls asleep if its nodes go no farther than the sleep speed takes them") {
  constexpr float kShortDt = 0.004f, kRate = 20.0f;  // of the bar's slowest stretching [1/s]
  const bool is_small = GENERATE(true, false);
  WorldDesc weightless = {.gravity = {}};
  weightless.sleep = {.speed = 0.02f, .time = 0.3f};  // 0.6% of the size
  const double length = 0.4, young = 1000.0 * std::pow(kRate * length / std::numbers::pi, 2.0);
  const ShapeAsset shape(TetBox(4, 1, 1, 0.1), {young, 0.0, 1000.0}, double(kShortDt));
  World world(weightless);
  const BodyId id = AddBody(&world, shape.asset());
  const float size = 0.1f * std::sqrt(18.0f), farthest = is_small ? 2.0e-3f : 3.0e-2f;  // [sizes]
  std::vector<Vec3> velocities;
  for (const Vec3& x : shape.simulation().nodes) {
    const double along = double(x.x) / length * std::numbers::pi;
    velocities.push_back({-farthest * size * kRate * static_cast<float>(std::cos(along)), 0, 0});
  }
  REQUIRE(world.SetNodeVelocities(id, velocities).ok());
  float slowest = std::numeric_limits<float>::infinity();  // of a swing
  float fastest = 0.0f;
  for (int step = 1; step <= 80 && !world.IsAsleep(id); ++step) {
    StepWorld(&world, kShortDt);
    if (world.stats().asleep > 0) break;
    fastest = std::fmax(fastest, world.stats().max_speed);
    if (step % 40 != 0) continue;  // half a swing takes 39
    slowest = std::fmin(slowest, fastest);
    fastest = 0.0f;
  }
  CHECK(world.IsAsleep(id) == is_small);
  CHECK(slowest > 1.1f * weightless.sleep.speed * size);
}

TEST_CASE("A body that planes leave too little room falls asleep in them") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0, 0.1}, double(kDt));
  World world;
  AddPlane(&world, {{0.0f, 1.0f, 0.0f}, 0.11f});
  AddPlane(&world, {{0.0f, -1.0f, 0.0f}, -0.09f});
  const BodyId id = AddBody(&world, shape.asset());
  for (int step = 0; step < 400; ++step) StepWorld(&world, kDt);
  CHECK(world.IsAsleep(id));
  CHECK(MeasuresOf(world).max_penetration > 0.005);
}

TEST_CASE("A body in a floor does not fall asleep before it has come out") {
  const auto [time, sleep_time] =
      GENERATE(std::pair(0.2f, 0.5f), std::pair(0.2f, 1.0e-6f), std::pair(10.0f, 0.5f));
  CAPTURE(time, sleep_time);
  WorldDesc desc = {.contact = {.push_out_time = time}, .sleep = {.time = sleep_time}};
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {2.0e5, 0.4, 1000.0, 0.1}, double(kDt));
  World world(desc);
  AddPlane(&world, {});
  const BodyId id = AddBody(&world, shape.asset(), {.pose = {.position = {.y = -0.02f}}});
  int steps = 0;
  for (; steps < 20000 && !world.IsAsleep(id); ++steps) StepWorld(&world, kDt);
  REQUIRE(steps < 20000);
  CHECK(MeasuresOf(world).max_penetration < 1e-3 * 0.2);
}

TEST_CASE("An infinite sleep speed puts nothing to sleep") {
  WorldDesc desc = {.sleep = {.speed = GENERATE(std::numeric_limits<float>::infinity(),
                                                std::numeric_limits<float>::quiet_NaN(), -1.0f),
                              .time = 0.02f}};
  Resting scene(1, 0.1, desc);
  CHECK(scene.StepUntilAsleep(30) == 30);
}

TEST_CASE("A body that moves, falls or may not sleep stays awake") {
  Resting awake(1, 0.1, {.sleep = {.speed = 0.0f}});
  CHECK(awake.StepUntilAsleep(600) == 600);

  // A pendulum is still at the ends of its swing, but not for long.
  const ShapeAsset shape(TetBox(4, 1, 1, 0.1), {1.0e6, 0.3, 1000.0}, double(kDt));
  World world;
  BodyDesc hung;
  std::vector<uint32_t> pins;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    if (shape.simulation().nodes[i].x < 0.01f) pins.push_back(i);
  }
  hung.pinned_nodes = pins;
  const BodyId id = AddBody(&world, shape.asset(), hung);
  for (int step = 0; step < 100; ++step) {
    StepWorld(&world, kDt);
    REQUIRE_FALSE(world.IsAsleep(id));
  }
}

}  // namespace sleep_test
