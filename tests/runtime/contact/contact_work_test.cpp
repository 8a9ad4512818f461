// SPDX-License-Identifier: MIT
// What contact adds to a body's energy: the work of colliders that move, and of the way out of
// depth.
#include "runtime/colliders/plane_scene.h"
#include "runtime/contact/plane_fixtures.h"
#include "runtime/state/state_scene.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace contact_work_test {

constexpr double kDrop = 0.3;  // [heights]

// A box of 1 or 0.18 m in any pose above a plane, soft or stiff, damped or not.
struct Drop {
  explicit Drop(uint32_t seed)
      : random(seed),
        has_surface(random.Below(2) == 0),
        size(random.Below(2) == 0 ? 1.0 : 0.18),
        shape(ShapeOf()),
        world(SlopeDesc::Awake()) {
    const double steps[] = {0.0025, 0.005, 0.01, 1.0 / 60.0};
    dt = static_cast<float>(steps[random.Below(4)]);
    body.pose.rotation = ToQuat(random.Rotation());
    body.material.young = static_cast<float>(std::pow(10.0, random.Uniform(4.0, 7.0)));
    body.material.poisson = 0.35f;
    body.material.density = 1000.0f;
    body.material.damping = random.Below(2) == 0 ? 0.0f : 0.15f;
    friction = static_cast<float>(random.Uniform(0.0, 1.0));
    const Points x = RotationOf(body.pose.rotation) * ToEigen(shape.rest());
    body.pose.position.y = static_cast<float>(kDrop * size - x.row(1).minCoeff());
    id = AddBody(&world, shape.asset(), body);
    plane = AddPlane(&world, {}, friction);
  }

  ShapeAsset ShapeOf() {
    const tools::TetMesh mesh = TetBox(4, 3, 3, size / 4.0, 0.09, random.Below(1000));
    if (!has_surface) return ShapeAsset(mesh);
    return ShapeAsset(SurfaceBytes(mesh, {.parts = 2, .depth = 0.0, .num_shells = 0}));
  }

  Random random;
  bool has_surface;
  double size;
  ShapeAsset shape;
  World world;
  BodyDesc body;
  BodyId id;
  ColliderId plane;
  float dt = 0.01f, friction = 0.0f;
};

// Takes each step twice from the same state: with a way out of depth that takes for ever, and as it
// is. Where points come out, in one substep: in later ones, contacts would answer to where the
// first one put points.
class PushMeter {
 public:
  PushMeter(int max_substeps, Drop* drop) : drop_(*drop) {
    settings_.max_substeps = max_substeps;
    drop_.world.SetContact(settings_);
  }

  void Step() {
    World& world = drop_.world;
    const std::vector<std::byte> state = SavedState(world);
    ContactSettings never = settings_;
    never.push_out_time = 1.0e9f;
    world.SetContact(never);
    REQUIRE((StepWorld(&world, drop_.dt) & kStepBodyFrozen) == 0);
    const double without = Energy(world);
    const Asset* const assets[] = {&drop_.shape.asset()};
    REQUIRE(world.LoadState(state, assets).ok());
    REQUIRE((StepWorld(&world, drop_.dt) & kStepBodyFrozen) == 0);
    const double of_step = Energy(world) - without;
    pushes += of_step != 0.0 ? 1 : 0;
    work += of_step;
    most = std::max(most, work);
    kinetic = std::max(kinetic, MeasuresOf(world).kinetic_j);
  }

  double work = 0.0, most = 0.0;  // so far; its largest sum [J]
  double kinetic = 0.0;           // largest [J]
  int pushes = 0;                 // steps in which points came out

 private:
  Drop& drop_;
  ContactSettings settings_;
};

TEST_CASE("In a drop in one substep a step, no point comes out of depth by positions alone",
          "[long]") {
  const int max_substeps = GENERATE(1, ContactSettings().max_substeps);
  int several = 0, pushes = 0;  // steps of more than one substep; in which points came out
  const uint32_t count = max_substeps > 1 ? 24 : tests::SweepCount(24u);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    if (max_substeps > 1 && seed % 2 == 1) continue;  // only thrown ones take several
    Drop drop(seed);
    CAPTURE(max_substeps, seed, drop.has_surface, drop.size, drop.dt, drop.body.material.young,
            drop.body.material.damping, drop.friction);
    // Half of them are thrown down at up to 20 sizes per second.
    if (seed % 2 == 0) {
      const double speed = drop.random.Uniform(0.0, 20.0) * drop.size;
      const Vec3 v = ToVec3(drop.random.Vector(0.5 * speed) - speed * Eigen::Vector3d::UnitY());
      REQUIRE(
          drop.world.SetNodeVelocities(drop.id, std::vector<Vec3>(drop.shape.num_nodes(), v)).ok());
    }
    PushMeter meter(max_substeps, &drop);
    const int steps = static_cast<int>(1.2 / double(drop.dt));
    for (int step = 0; step < steps; ++step) {
      meter.Step();
      several += drop.world.stats().substeps > 1 ? 1 : 0;
    }
    pushes += meter.pushes;
    CAPTURE(meter.most / meter.kinetic, meter.pushes);
    CHECK((max_substeps > 1 || meter.pushes == 0));
    CHECK(meter.most < 0.005 * meter.kinetic);
  }
  CAPTURE(several, pushes);
  CHECK((several > 0) == (max_substeps > 1));
  CHECK(pushes <= 4);  // 2, of a small stiff box in long steps
}

// So that PushMeter measures something: what the way out does not do, elasticity does.
TEST_CASE("The way out of depth works at most the weight along the depth") {
  constexpr double kDepth = 0.02;  // [sizes]
  for (uint32_t seed = 1; seed <= 8; ++seed) {
    Drop drop(seed);
    CAPTURE(seed, drop.has_surface, drop.size, drop.dt, drop.body.material.young);
    Pose pose = drop.body.pose;
    pose.position.y -= static_cast<float>((kDrop + kDepth) * drop.size);
    REQUIRE(drop.world.ResetBody(drop.id, pose).ok());
    const double weight = MomentsOf(drop.world, drop.id).mass * kGravity;
    PushMeter meter(1, &drop);
    for (int step = 0; step < 60; ++step) meter.Step();
    CAPTURE(meter.work, weight, meter.pushes);
    CHECK(meter.pushes > 5);
    CHECK(meter.work > 0.0);
    CHECK(meter.most < weight * kDepth * drop.size);
  }
}

// The work of a collider that moves without turning is its force times its way.
TEST_CASE("A plane that moves gives a body its work and no more") {
  const uint32_t count = tests::SweepCount(40u);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    Drop drop(seed + 1000);
    Random& random = drop.random;
    // To and fro in any direction, at up to twice the speed of the fall.
    const double period = random.Uniform(0.2, 1.0);
    const double speed = random.Uniform(0.0, 2.0) * std::sqrt(2.0 * kGravity * kDrop * drop.size);
    const Eigen::Vector3d way = random.Direction() * speed * period / (2.0 * std::numbers::pi);
    CAPTURE(seed, drop.has_surface, drop.size, drop.dt, drop.body.material.young,
            drop.body.material.damping, drop.friction, period, speed);
    // Without the work; `rise` is above the least so far.
    const double start = Energy(drop.world);
    double least = start, most = start, rise = 0.0, work = 0.0, kinetic = 0.0;
    Eigen::Vector3d before = Eigen::Vector3d::Zero();
    const int steps = static_cast<int>(1.5 / double(drop.dt));
    for (int step = 1; step <= steps; ++step) {
      const double phase = 2.0 * std::numbers::pi * step * double(drop.dt) / period;
      const Vec3 at = ToVec3(std::sin(phase) * way);
      REQUIRE(drop.world.MoveCollider(drop.plane, {.position = at}).ok());
      REQUIRE((StepWorld(&drop.world, drop.dt) & kStepBodyFrozen) == 0);
      Reaction reaction;
      REQUIRE(drop.world.ColliderReaction(drop.plane, &reaction).ok());
      work -= ToEigen(reaction.force).dot(ToEigen(at) - before);
      before = ToEigen(at);
      kinetic = std::max(kinetic, MeasuresOf(drop.world).kinetic_j);
      const double left = Energy(drop.world) - work;
      rise = std::max(rise, left - least);
      least = std::min(least, left);
      most = std::max(most, left);
    }
    CAPTURE((most - start) / kinetic, rise / kinetic);
    CHECK(most < start + 0.01 * kinetic);
    CHECK(rise < 0.02 * kinetic);  // 0.0154: a body of 1 m and 1e4 Pa, which the plane presses flat
  }
}

}  // namespace contact_work_test
