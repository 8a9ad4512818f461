// SPDX-License-Identifier: MIT
// MovePins: pins reach their targets, alone and in crowds, and the body follows.
#include "plush/pose.h"

#include "asset/regions.h"
#include "body/body.h"
#include "body/pin_motion.h"
#include "runtime/crowds/crowd_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace moving_pins_test {

constexpr float kDt = 0.01f;

std::vector<uint32_t> LowNodes(const ShapeAsset& shape) {
  const RegionView region = shape.asset().region(0);
  return {region.nodes.begin(), region.nodes.end()};
}

double Distance(const Vec3& a, const Vec3& b) { return (ToEigen(a) - ToEigen(b)).norm(); }

// `pose` applied to `p` in double precision.
Eigen::Vector3d Placed(const Pose& pose, const Vec3& p) {
  return plush::test::RotationOf(pose.rotation) * ToEigen(p) + ToEigen(pose.position);
}

Pose TurnedBy(double angle, const Eigen::Vector3d& axis, const Vec3& position) {
  const Eigen::Quaterniond q(Eigen::AngleAxisd(angle, axis.normalized()));
  return {position,
          {static_cast<float>(q.x()), static_cast<float>(q.y()), static_cast<float>(q.z()),
           static_cast<float>(q.w())}};
}

TEST_CASE("Pins reach the pose of their region at the end of the step and then rest") {
  const uint32_t seed = GENERATE(1u, 2u);
  const float scale = GENERATE(1.0f, 2.5f);
  CAPTURE(seed, scale);
  const ShapeAsset shape = CrowdBox(seed);
  const std::vector<uint32_t> pins = LowNodes(shape);
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.scale = scale, .pinned_nodes = pins});
  const std::vector<Vec3> rest = shape.rest();
  for (int step = 0; step < 5; ++step) {
    const std::vector<Vec3> before = PositionsOf(world, id, rest.size());
    const Pose target = TurnedBy(0.05 * (step + 1), {1, 2, 3}, {0.01f * float(step), 0.02f, 0.0f});
    REQUIRE(world.MovePins(id, 0, target).ok());
    CHECK(StepWorld(&world, kDt) == kStepOk);
    const std::vector<Vec3> x = PositionsOf(world, id, rest.size());
    const std::vector<Vec3> v = VelocitiesOf(world, id, rest.size());
    for (const uint32_t node : pins) {
      const Vec3 X = {rest[node].x * scale, rest[node].y * scale, rest[node].z * scale};
      CHECK((ToEigen(x[node]) - Placed(target, X)).norm() < 2e-6 * scale);
      const Eigen::Vector3d moved = (ToEigen(x[node]) - ToEigen(before[node])) / double(kDt);
      CHECK((ToEigen(v[node]) - moved).norm() < 1e-4 * scale);
    }
  }
  // Without a new call they stop where they are.
  const std::vector<Vec3> before = PositionsOf(world, id, rest.size());
  StepWorld(&world, kDt);
  const std::vector<Vec3> x = PositionsOf(world, id, rest.size());
  const std::vector<Vec3> v = VelocitiesOf(world, id, rest.size());
  for (const uint32_t node : pins) {
    CHECK(Distance(x[node], before[node]) == 0.0);
    CHECK(Distance(v[node], {}) == 0.0);
  }
}

TEST_CASE("A body whose pins move along with it keeps its shape") {
  const int others = GENERATE(0, 8);
  CAPTURE(others);
  const ShapeAsset shape = CrowdBox(3);
  const std::vector<uint32_t> pins = LowNodes(shape);
  const Vec3 velocity = {0.7f, -0.3f, 0.4f};
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, shape.asset(), {.velocity = velocity, .pinned_nodes = pins});
  for (int i = 0; i < others; ++i) AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  const std::vector<Vec3> rest = shape.rest();
  for (int step = 1; step <= 50; ++step) {
    const float t = kDt * float(step);
    std::vector<Vec3> targets;
    for (const uint32_t node : pins) {
      targets.push_back({rest[node].x + velocity.x * t, rest[node].y + velocity.y * t,
                         rest[node].z + velocity.z * t});
    }
    REQUIRE(world.MovePins(id, pins, targets).ok());
    StepWorld(&world, kDt);
    const std::vector<Vec3> x = PositionsOf(world, id, rest.size());
    double farthest = 0.0;
    for (size_t i = 0; i < rest.size(); ++i) {
      const Eigen::Vector3d expected = ToEigen(rest[i]) + ToEigen(velocity) * double(t);
      farthest = std::fmax(farthest, (ToEigen(x[i]) - expected).norm());
    }
    CAPTURE(step);
    REQUIRE(farthest < 2e-5);  // pins that came a step late would strain it by 7 mm
  }
}

TEST_CASE("Pins that move along any one axis wake their body") {
  const ShapeAsset shape = CrowdBox(4);
  World world({.gravity = {}});
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = LowNodes(shape)});
  Pose target;
  for (float* coordinate : {&target.position.x, &target.position.y, &target.position.z}) {
    for (int step = 0; step < 500 && !world.IsAsleep(id); ++step) StepWorld(&world, kDt);
    REQUIRE(world.MovePins(id, 0, target).ok());
    REQUIRE(world.IsAsleep(id));
    *coordinate = 0.01f;
    REQUIRE(world.MovePins(id, 0, target).ok());
    CHECK_FALSE(world.IsAsleep(id));
  }
}

TEST_CASE("A body settles into the pose to which its pins were moved") {
  const ShapeAsset shape = CrowdBox(4);
  const std::vector<uint32_t> pins = LowNodes(shape);
  World world({.gravity = {}});
  const BodyId id =
      AddBody(&world, shape.asset(), {.material = {.damping = 0.1f}, .pinned_nodes = pins});
  const Pose start;
  const Pose end = TurnedBy(1.0, {0.3, -1, 0.5}, {0.5f, -0.2f, 0.3f});
  for (int step = 1; step <= 100; ++step) {
    REQUIRE(world.MovePins(id, 0, Interpolated(start, end, step / 100.0)).ok());
    StepWorld(&world, kDt);
  }
  StepToRest(&world, id, shape.num_nodes(), kDt, 400);
  const std::vector<Vec3> rest = shape.rest(), x = PositionsOf(world, id, rest.size());
  for (size_t i = 0; i < rest.size(); ++i) {
    CHECK((ToEigen(x[i]) - Placed(end, rest[i])).norm() < 1e-3 * 0.4);
  }
}

TEST_CASE("Moving pins act alike in a crowd and alone") {
  const bool extra = GENERATE(false, true);  // pins beyond those of the crowd
  CAPTURE(extra);
  const ShapeAsset shape = CrowdBox(5);
  const std::vector<uint32_t> pins = LowNodes(shape);
  // With a plane, solves of single bodies count as contact, those of crowds do not.
  World crowd, alone;
  AddPlane(&crowd, {.offset = -100.0f});
  AddPlane(&alone, {.offset = -100.0f});
  for (int i = 0; i < 8; ++i) {
    if (extra) {
      AddBody(&crowd, shape.asset());
    } else {
      AddBody(&crowd, shape.asset(), {.pinned_nodes = pins});
    }
  }
  const BodyId a = AddBody(&crowd, shape.asset(), {.pinned_nodes = pins});
  const BodyId b = AddBody(&alone, shape.asset(), {.pinned_nodes = pins});
  for (int step = 0; step < 30; ++step) {
    const Pose target = TurnedBy(0.02 * step, {0, 1, 1}, {0.002f * float(step), 0.0f, 0.0f});
    REQUIRE(crowd.MovePins(a, 0, target).ok());
    REQUIRE(alone.MovePins(b, 0, target).ok());
    StepWorld(&crowd, kDt);
    StepWorld(&alone, kDt);
    REQUIRE(HadCrowds(crowd));
    const std::vector<Vec3> x = PositionsOf(crowd, a, shape.num_nodes());
    const std::vector<Vec3> y = PositionsOf(alone, b, shape.num_nodes());
    const std::vector<Vec3> v = VelocitiesOf(crowd, a, shape.num_nodes());
    const std::vector<Vec3> w = VelocitiesOf(alone, b, shape.num_nodes());
    for (size_t i = 0; i < x.size(); ++i) {
      REQUIRE(Distance(x[i], y[i]) < 2e-5 * 0.4);
      REQUIRE(Distance(v[i], w[i]) < 2e-3);
    }
  }
}

TEST_CASE("Substeps turn pins about their pose and let an offset fade") {
  // Two nodes: one exactly on its way, one 0.1 m off it.
  Body body;
  const Allocator allocator = DefaultAllocator();
  REQUIRE(body.x.Allocate(allocator, 2));
  REQUIRE(body.y.Allocate(allocator, 3));
  REQUIRE(ReserveTargets(allocator, 1, &body));
  body.simulation.median_edge = 100.0f;
  body.origin[0] = 5.0;
  body.scale = 2.0f;
  const Vec3 off = {0.0f, 0.1f, 0.0f};
  // About the point (5, 0, 0) of the world: the body's origin.
  RegionMotion& motion = body.pins.motions[0];
  motion.known = true;
  motion.from = {{5.0f, 0.0f, 0.0f}, {}};
  motion.to = TurnedBy(std::acos(0.0), {0, 0, 1}, {5.0f, 0.0f, 1.0f});
  motion.moves = true;
  body.pins.moves = true;
  const Vec3 X = {1.0f, 0.0f, 0.0f};
  for (int i = 0; i < 2; ++i) {
    body.pins.regions[size_t(i)] = 0;
    body.pins.targets[size_t(i)] = Vec3{0.0f, 1.0f, 0.5f};
  }
  body.x[0] = X;
  body.x[1] = X + off;
  StepStats stats;
  const int count = GENERATE(1, 2, 3, 4);
  for (int k = 0; k < count; ++k) {
    PlacePins(k, count, &body, &stats);
    const double t = double(k + 1) / count, angle = t * std::acos(0.0);
    const Eigen::Vector3d expected(std::cos(angle), std::sin(angle), 0.5 * t);
    CAPTURE(k, count);
    CHECK((ToEigen(body.y[0]) - expected).norm() < 1e-6);
    CHECK((ToEigen(body.y[1]) - expected - ToEigen(off) * (1.0 - t)).norm() < 1e-6);
    body.x[0] = body.y[0];
    body.x[1] = body.y[1];
  }
  CHECK(stats.flags == kStepOk);
}

TEST_CASE("Substeps move pins without a region on straight lines") {
  Body body;
  const Allocator allocator = DefaultAllocator();
  REQUIRE(body.x.Allocate(allocator, 1));
  REQUIRE(body.y.Allocate(allocator, 2));
  REQUIRE(ReserveTargets(allocator, 0, &body));
  body.simulation.median_edge = 100.0f;
  body.pins.regions[0] = PinMotion::kStraight;
  const Vec3 start = {1.0f, -2.0f, 0.5f}, end = {3.0f, 2.0f, -4.0f};
  body.x[0] = start;
  body.pins.targets[0] = end;
  StepStats stats;
  const int count = GENERATE(1, 2, 4);
  for (int k = 0; k < count; ++k) {
    PlacePins(k, count, &body, &stats);
    const double t = double(k + 1) / count;
    CAPTURE(k, count);
    CHECK((ToEigen(body.y[0]) - ToEigen(start) * (1.0 - t) - ToEigen(end) * t).norm() < 1e-6);
    body.x[0] = body.y[0];
  }
}

TEST_CASE("Targets and nodes keep their places in the world if the body's origin moves") {
  Body body;
  const Allocator allocator = DefaultAllocator();
  REQUIRE(body.x.Allocate(allocator, 2));
  REQUIRE(ReserveTargets(allocator, 0, &body));
  body.size = 0.3f;
  body.scale = 2.5f;
  body.origin[1] = 7.0;
  body.x[0] = Vec3{40.25f, -20.5f, 3.0f};
  body.x[1] = Vec3{40.5f, -20.25f, 3.25f};
  body.pins.targets[1] = Vec3{41.0f, -20.0f, 3.5f};
  body.pins.regions[1] = PinMotion::kStraight;
  body.pins.moves = true;
  const Vec3 node = WorldPosition(body, body.x[1]);
  const Vec3 target = WorldPosition(body, body.pins.targets[1]);
  FollowOrigin(&body);
  REQUIRE(std::fabs(body.origin[0]) > 90.0);
  CHECK(Distance(WorldPosition(body, body.x[1]), node) == 0.0);
  CHECK(Distance(WorldPosition(body, body.pins.targets[1]), target) == 0.0);
}

TEST_CASE("Pins that move further than two median edges raise a flag") {
  const ShapeAsset shape = CrowdBox(6);
  const std::vector<uint32_t> pins = LowNodes(shape);
  const bool fixed = GENERATE(false, true);
  const int others = fixed ? 0 : GENERATE(0, 8);
  CAPTURE(fixed, others);
  const float edge = shape.simulation().median_edge;
  for (const float share : {1.9f, 2.1f}) {
    World world({.gravity = {}});
    BodyDesc desc = {.fixed = fixed};
    if (!fixed) desc.pinned_nodes = pins;
    const BodyId id = AddBody(&world, shape.asset(), desc);
    for (int i = 0; i < others; ++i) AddBody(&world, shape.asset(), desc);
    REQUIRE(world.MovePins(id, 0, {.position = {share * edge, 0.0f, 0.0f}}).ok());
    CHECK(StepWorld(&world, kDt) == (share > 2.0f ? kStepPinsFar : kStepOk));
    CHECK(StepWorld(&world, kDt) == kStepOk);
  }
}

TEST_CASE("A body falls asleep if its pins' targets are where they are") {
  const ShapeAsset shape = CrowdBox(7);
  const std::vector<uint32_t> pins = LowNodes(shape);
  World world;
  const BodyId id =
      AddBody(&world, shape.asset(), {.material = {.damping = 0.1f}, .pinned_nodes = pins});
  const Pose target = {.position = {0.01f, 0.0f, 0.0f}};
  int steps = 0;
  for (; steps < 2000 && !world.IsAsleep(id); ++steps) {
    REQUIRE(world.MovePins(id, 0, target).ok());
    StepWorld(&world, kDt);
  }
  CHECK(steps < 2000);
  REQUIRE(world.MovePins(id, 0, target).ok());
  CHECK(world.IsAsleep(id));
  REQUIRE(world.MovePins(id, 0, {.position = {0.02f, 0.0f, 0.0f}}).ok());
  CHECK_FALSE(world.IsAsleep(id));
}

TEST_CASE("Pins of fixed scenery move") {
  const ShapeAsset shape = CrowdBox(7);
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.fixed = true});
  const std::vector<Vec3> rest = shape.rest();
  std::vector<uint32_t> all(rest.size());
  std::vector<Vec3> targets(rest.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    all[i] = i;
    targets[i] = {rest[i].x + 0.01f, rest[i].y, rest[i].z};
  }
  REQUIRE(world.MovePins(id, all, targets).ok());
  StepWorld(&world, kDt);
  const std::vector<Vec3> x = PositionsOf(world, id, rest.size());
  const std::vector<Vec3> v = VelocitiesOf(world, id, rest.size());
  for (size_t i = 0; i < rest.size(); ++i) {
    CHECK(Distance(x[i], targets[i]) < 1e-6);
    CHECK(Distance(v[i], {1.0f, 0.0f, 0.0f}) < 1e-3);
  }
  StepWorld(&world, kDt);
  for (const Vec3& velocity : VelocitiesOf(world, id, rest.size())) {
    CHECK(Distance(velocity, {}) == 0.0);
  }
}

TEST_CASE("Without memory a first call of MovePins changes nothing") {
  const ShapeAsset shape = CrowdBox(8);
  const std::vector<uint32_t> pins = LowNodes(shape);
  CountingMemory memory;
  World world({.allocator = memory.allocator()});
  AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  const BodyId other = AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  const uint64_t hash = world.StateHash();
  memory.FailAt(1, false);
  CHECK(world.MovePins(other, 0, {}).code == StatusCode::kOutOfMemory);
  memory.FailNever();
  CHECK(world.StateHash() == hash);
  REQUIRE(world.MovePins(other, 0, {}).ok());
}

TEST_CASE("MovePins refuses what is not a pin or not a number") {
  const ShapeAsset shape = CrowdBox(9);
  const std::vector<uint32_t> pins = LowNodes(shape);
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  const BodyId free = AddBody(&world, shape.asset());
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const uint64_t hash = world.StateHash();
  const auto invalid = [](const Status& status) {
    return status.code == StatusCode::kInvalidArgument;
  };
  CHECK(invalid(world.MovePins(id, shape.asset().num_regions(), Pose{})));
  CHECK(invalid(world.MovePins(id, 0, Pose{.position = {kNan, 0, 0}})));
  CHECK(invalid(world.MovePins(id, 0, Pose{.position = {2e9f, 0, 0}})));
  CHECK(invalid(world.MovePins(id, 0, Pose{.rotation = {0, 0, 0, 0}})));
  CHECK(invalid(world.MovePins(id, 0, Pose{.rotation = {0, kNan, 0, 1}})));
  CHECK(invalid(world.MovePins(free, 0, Pose{})));
  uint32_t unpinned = 0;
  while (std::find(pins.begin(), pins.end(), unpinned) != pins.end()) ++unpinned;
  const Vec3 targets[] = {{}, {}};
  for (const uint32_t wrong : {unpinned, uint32_t(shape.num_nodes()), UINT32_MAX}) {
    const uint32_t nodes[] = {pins[0], wrong};
    const Status status = world.MovePins(id, nodes, targets);
    CHECK(invalid(status));
    CHECK(status.index == 1);
  }
  const uint32_t one[] = {pins[0]};
  CHECK(invalid(world.MovePins(id, one, targets)));
  const Vec3 not_a_number[] = {{0, kNan, 0}};
  CHECK(invalid(world.MovePins(id, one, not_a_number)));
  CHECK(world.MovePins(id, {}, {}).ok());
  CHECK(world.MovePins(BodyId{}, 0, Pose{}).code == StatusCode::kNullId);
  CHECK(world.StateHash() == hash);
  // A refused call leaves no target behind.
  World same;
  AddBody(&same, shape.asset(), {.pinned_nodes = pins});
  AddBody(&same, shape.asset());
  StepWorld(&world, kDt);
  StepWorld(&same, kDt);
  CHECK(world.StateHash() == same.StateHash());
}

}  // namespace moving_pins_test
