// SPDX-License-Identifier: MIT
// What restitution adds to the energy of bodies that no force but contact acts on: nothing.
#include "runtime/contact/plane_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

using namespace plush;
using namespace plush::test;

namespace bounce_energy_test {

WorldDesc InSpace() {
  WorldDesc desc = SlopeDesc::Awake();
  desc.gravity = {};
  desc.max_pairs = 4;
  return desc;
}

// A bar of 0.6 m in any pose about the origin. It spins so fast that a corner that gets its speed
// back could throw the whole bar off with more energy than it had.
BodyDesc SpinningBar(Random* random) {
  BodyDesc desc;
  const Eigen::Matrix3d R = random->Rotation();
  desc.pose.rotation = ToQuat(R);
  desc.pose.position = ToVec3((R * Eigen::Vector3d(-0.3, -0.1, -0.1)).eval());
  desc.material.young = static_cast<float>(std::pow(10.0, random->Uniform(4.5, 8.0)));
  desc.material.poisson = 0.3f;
  desc.material.density = 1000.0f;
  desc.material.friction = 0.0f;
  desc.material.restitution = random->Below(2) == 0 ? 1.0f : 0.6f;
  desc.angular_velocity = ToVec3(random->Vector(10.0));
  return desc;
}

ShapeAsset Bar() {
  return ShapeAsset(
      SurfaceBytes(TetBox(6, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
}

// Kinetic energy in a frame that moves at `frame`, and elastic energy [J].
double EnergyIn(const World& world, BodyId id, const Eigen::Vector3d& frame) {
  const BodyMoments m = MomentsOf(world, id);
  return m.kinetic_j + m.elastic_j - frame.dot(Eigen::Vector3d(m.linear_momentum)) +
         0.5 * m.mass * frame.squaredNorm();
}

// By how much steps raise an energy above all that it was before, as shares of it.
struct Rises {
  explicit Rises(double start) : highest(start) {}

  void Note(bool touches, double energy) {
    double& most = touches ? touching : free;
    most = std::max(most, energy / highest - 1.0);
    highest = std::max(highest, energy);
    num_touching += touches ? 1 : 0;
  }

  double highest;
  double touching = 0.0, free = 0.0;  // at most, in steps with contact and in others
  int num_touching = 0;
};

TEST_CASE("A rebound off a plane leaves a body no more energy relative to it than it had",
          "[long]") {
  const double speed = GENERATE(0.0, 3.0);  // of the plane along its normal [m/s]
  const ShapeAsset bar = Bar();
  int thrown = 0;
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    World world(InSpace());
    ColliderDesc floor = {.pose = {.position = {.y = -0.5f}},
                          .velocity = {0.0f, static_cast<float>(speed), 0.0f}};
    ColliderId plane;
    REQUIRE(world.AddCollider(floor, &plane).ok());
    BodyDesc body = SpinningBar(&random);
    body.velocity = {1.0f, static_cast<float>(speed - random.Uniform(0.5, 4.0)), 0.0f};
    const BodyId id = AddBody(&world, bar.asset(), body);
    CAPTURE(speed, seed, body.material.young, body.material.restitution);
    const Eigen::Vector3d frame(0.0, speed, 0.0);
    Rises rises(EnergyIn(world, id, frame));
    for (int step = 0; step < 120; ++step) {
      REQUIRE((StepWorld(&world, kDt) & kStepBodyFrozen) == 0);
      rises.Note(world.stats().contacts > 0, EnergyIn(world, id, frame));
    }
    const BodyMoments m = MomentsOf(world, id);
    thrown += m.linear_momentum[1] / m.mass - speed > 0.5 && rises.num_touching > 0 ? 1 : 0;
    CAPTURE(rises.touching, rises.free);
    CHECK(rises.touching < 1e-4);
    CHECK(rises.free < 5e-3);  // it begins unstrained, and the spin stretches it
  }
  CHECK(thrown > 10);
}

TEST_CASE("A rebound between two bodies leaves them hardly more energy than they had") {
  const bool is_fixed = GENERATE(false, true);
  const ShapeAsset bar = Bar();
  int touching = 0;
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    Random random(seed + 100);
    World world(InSpace());
    BodyDesc other = SpinningBar(&random);
    other.fixed = is_fixed;
    other.angular_velocity = {};
    other.pose = {{-0.3f, -0.1f, -0.1f}, {}};
    other.scale = static_cast<float>(random.Uniform(1.0, 1.2));
    BodyDesc body = SpinningBar(&random);
    body.material.young = other.material.young;
    body.pose.position.y += 0.8f;
    body.velocity = {0.0f, -4.0f, 0.0f};
    const BodyId ids[2] = {AddBody(&world, bar.asset(), body), AddBody(&world, bar.asset(), other)};
    CAPTURE(is_fixed, seed, body.material.young);
    const auto energy = [&] {
      return EnergyIn(world, ids[0], {0.0, 0.0, 0.0}) + EnergyIn(world, ids[1], {0.0, 0.0, 0.0});
    };
    Rises rises(energy());
    for (int step = 0; step < 60; ++step) {
      REQUIRE((StepWorld(&world, kDt) & kStepBodyFrozen) == 0);
      rises.Note(world.stats().body_pairs > 0, energy());
    }
    touching += rises.num_touching > 0 ? 1 : 0;
    CAPTURE(rises.touching, rises.free);
    // None in the step that throws them apart. In the next one, stiff bars of 2e7 Pa gain 0.3% and
    // 0.8%. If a rebound took no heed of the energy, it would add up to 5%.
    CHECK(rises.touching < 0.01);
    CHECK(rises.free < 0.015);
  }
  CHECK(touching > 20);
}

}  // namespace bounce_energy_test
