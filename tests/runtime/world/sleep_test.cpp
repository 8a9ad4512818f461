// SPDX-License-Identifier: MIT
// Bodies at rest cost nothing until something moves them.
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;

// Boxes on a plane, dropped from a little above it, that have come to rest.
struct Resting {
  explicit Resting(int count, double cell = 0.1, const WorldDesc& desc = {})
      : shape(TetBox(2, 2, 2, cell), {2.0e5, 0.4, 1000.0, 0.1}, double(kDt)), world(desc) {
    REQUIRE(world.AddPlane({}).ok());
    for (int i = 0; i < count; ++i) {
      BodyDesc body;
      body.pose.position = {static_cast<float>(3.0 * cell * i), static_cast<float>(0.1 * cell), 0};
      ids.push_back(world.AddBody(shape.asset(), body));
    }
  }

  int StepUntilAsleep(int most) {
    for (int step = 0; step < most; ++step) {
      world.Step(kDt);
      if (world.stats().asleep == ids.size()) return step;
    }
    return most;
  }

  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
};

}  // namespace

TEST_CASE("Bodies at rest fall asleep, whatever their size, and stay where they are to the bit") {
  const double cell = GENERATE(0.002, 0.1, 5.0);
  CAPTURE(cell);
  Resting scene(3, cell);
  REQUIRE(scene.StepUntilAsleep(2000) < 2000);
  const StepStats settled = scene.world.stats();
  CHECK(settled.max_speed == 0.0f);
  CHECK(settled.kinetic_j == 0.0);
  CHECK(settled.contacts > 0);
  CHECK(settled.elastic_j > 0.0);
  const uint64_t hash = scene.world.StateHash();
  for (int step = 0; step < 20; ++step) scene.world.Step(kDt);
  CHECK(scene.world.StateHash() == hash);
  CHECK(scene.world.stats().elastic_j == settled.elastic_j);
  CHECK(scene.world.stats().contacts == settled.contacts);
  CHECK(scene.world.stats().substeps == 0);
}

TEST_CASE("A sleeping body wakes where it is moved, pushed, or a plane is added") {
  Resting scene(2);
  REQUIRE(scene.StepUntilAsleep(2000) < 2000);
  const BodyId id = scene.ids[1];
  const size_t num_nodes = scene.shape.num_nodes();
  const auto wakes = [&](auto action) {
    REQUIRE(scene.world.IsAsleep(id));
    action();
    CHECK_FALSE(scene.world.IsAsleep(id));
    scene.world.Step(kDt);
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
  wakes([&] { scene.world.Wake(id); });
  wakes([&] { REQUIRE(scene.world.AddPlane({{0.0f, 1.0f, 0.0f}, 0.01f, 0.5f}).ok()); });
  CHECK_FALSE(scene.world.IsAsleep({99}));
  scene.world.Wake({99});
}

TEST_CASE("Nothing sleeps that moves, falls, or is told not to") {
  WorldDesc never;
  never.solver.sleep_speed = 0.0f;
  Resting awake(1, 0.1, never);
  CHECK(awake.StepUntilAsleep(600) == 600);

  // A pendulum stands still at the ends of its swing, but not for long.
  const ShapeAsset shape(TetBox(4, 1, 1, 0.1), {1.0e6, 0.3, 1000.0}, double(kDt));
  World world;
  BodyDesc hung;
  std::vector<uint32_t> pins;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    if (shape.simulation().nodes[i].x < 0.01f) pins.push_back(i);
  }
  hung.pinned_nodes = pins;
  const BodyId id = world.AddBody(shape.asset(), hung);
  for (int step = 0; step < 100; ++step) {
    world.Step(kDt);
    REQUIRE_FALSE(world.IsAsleep(id));
  }
}
