// SPDX-License-Identifier: MIT
// Blocks on slopes and floors against the formulas of a rigid block.
#include "runtime/collision/surface_fixtures.h"
#include "runtime/dense_reference.h"
#include "runtime/world/state_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;
constexpr double kGravity = 9.81;
constexpr double kHeight = 0.2;  // of the blocks [m]

// A block on a plane that is tilted by `angle` about z. It touches with a collision surface, or
// with the nodes of its cage: these are so many that it creeps by 5e-5 m/s on slopes.
struct Block {
  Block(bool has_surface, double angle, float friction)
      : shape(has_surface
                  ? ShapeAsset(SurfaceBytes(TetBox(4, 2, 4, 0.1), {.parts = 3, .depth = 0.0}))
                  : ShapeAsset(TetBox(4, 2, 4, 0.1))),
        world(Desc()) {
    const Eigen::Matrix3d R = Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitZ()).toRotationMatrix();
    down = -R.col(0);
    AddPlane(&world, {ToVec3(R.col(1)), 0.0f}, friction);
    BodyDesc body;
    body.pose.rotation = ToQuat(R);
    body.material = {.young = 1.0e6f, .poisson = 0.3f, .damping = 0.02f};
    id = AddBody(&world, shape.asset(), body);
  }
  static WorldDesc Desc() {
    WorldDesc desc;
    desc.solver.sleep_speed = 0.0f;
    return desc;
  }

  void Step(int count) {
    for (int k = 0; k < count; ++k) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  }
  double Speed() const {
    const BodyMoments m = MomentsOf(world, id);
    return Eigen::Vector3d(m.linear_momentum).dot(down) / m.mass;
  }
  double Place() const { return Eigen::Vector3d(MomentsOf(world, id).centre).dot(down); }

  ShapeAsset shape;
  World world;
  BodyId id;
  Eigen::Vector3d down;
};

}  // namespace

TEST_CASE("Friction just above the slope's tangent holds a block, just below it lets it go") {
  const double angle = GENERATE(0.2, 0.5);
  CAPTURE(angle);
  Block held(true, angle, static_cast<float>(1.01 * std::tan(angle)));
  held.Step(200);
  CHECK(std::fabs(held.Speed()) < 1e-3 * kHeight);
  const double mu = 0.99 * std::tan(angle);
  Block loose(true, angle, static_cast<float>(mu));
  loose.Step(100);
  const double before = loose.Speed();
  loose.Step(100);
  const double expected = kGravity * (std::sin(angle) - mu * std::cos(angle));
  CHECK(loose.Speed() - before == Approx(expected).epsilon(0.2));
}

TEST_CASE("A block does not creep on a slope of 20 degrees at 0.75, and slides at 0.1") {
  const double angle = 20.0 / 180.0 * std::acos(-1.0);
  Block held(true, angle, 0.75f);
  held.Step(200);
  const double place = held.Place();
  held.Step(1000);
  CHECK(std::fabs(held.Place() - place) < 1e-3 * kHeight / 6.0);  // 1e-3 in 60 s
  Block loose(true, angle, 0.1f);
  loose.Step(50);
  const double before = loose.Speed();
  loose.Step(100);
  const double expected = kGravity * (std::sin(angle) - 0.1 * std::cos(angle));
  CHECK(loose.Speed() - before == Approx(expected).epsilon(0.02));
}

TEST_CASE("A sliding block slows down by friction times gravity") {
  const bool has_surface = GENERATE(false, true);
  const float mu = GENERATE(0.1f, 0.3f);
  CAPTURE(has_surface, mu);
  Block block(has_surface, 0.0, mu);
  block.Step(100);
  std::vector<Vec3> velocities = VelocitiesOf(block.world, block.id, block.shape.num_nodes());
  for (Vec3& v : velocities) v = ToVec3(ToEigen(v) + 3.0 * block.down);
  REQUIRE(block.world.SetNodeVelocities(block.id, velocities).ok());
  block.Step(20);
  const double before = block.Speed();
  block.Step(50);
  CHECK(before - block.Speed() == Approx(double(mu) * kGravity * 0.5).epsilon(0.01));
}

TEST_CASE("A body that touches with its surface continues from a state bit for bit") {
  const ShapeAsset shape(SurfaceBytes(TetBox(3, 2, 2, 0.1, 0.05, 7), {.parts = 5}));
  const auto fill = [&](World* world) {
    AddPlane(world, {{0.0f, 1.0f, 0.0f}, 0.0f}, 0.5f);
    AddPlane(world, {{1.0f, 0.5f, 0.0f}, -0.05f}, 0.2f);
    BodyDesc body;
    body.pose.position = {0.0f, 0.1f, 0.0f};
    body.pose.rotation = {0.1f, 0.2f, 0.3f, 0.9f};
    body.velocity = {-0.5f, -1.0f, 0.2f};
    AddBody(world, shape.asset(), body);
  };
  constexpr int kSteps = 60, kMore = 3;
  World world;
  fill(&world);
  uint32_t contacts = 0;
  std::vector<uint64_t> hashes;
  std::vector<std::vector<std::byte>> states;
  for (int step = 0; step < kSteps + kMore; ++step) {
    states.push_back(SavedState(world));
    StepWorld(&world, kDt);
    hashes.push_back(world.StateHash());
    contacts = std::max(contacts, world.stats().contacts);
  }
  CHECK(contacts > 5);
  const Asset* const assets[] = {&shape.asset()};
  for (size_t step = 0; step < kSteps; step += 4) {
    CAPTURE(step);
    World fresh;
    REQUIRE(fresh.LoadState(states[step], assets).ok());
    CHECK(SavedState(fresh) == states[step]);
    for (size_t k = 0; k < kMore; ++k) {
      StepWorld(&fresh, kDt);
      CHECK(fresh.StateHash() == hashes[step + k]);
    }
  }
}
