// SPDX-License-Identifier: MIT
// Boxes on slopes and floors against the formulas of a rigid block.
#include "runtime/contact/plane_fixtures.h"
#include "shapes/kuhn_box.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("Near the friction angle a box comes to rest on its slope") {
  const int volume_sweeps = GENERATE(0, 1);
  const bool has_surface = GENERATE(false, true);
  CAPTURE(volume_sweeps, has_surface);
  Slope slope({.angle = std::atan(0.95 * 0.6),
               .friction = 0.6f,
               .has_surface = has_surface,
               .splitting = {.volume_sweeps = volume_sweeps}});
  for (int step = 0; step < 300; ++step) StepWorld(&slope.world, kDt);
  CHECK(slope.world.stats().max_speed < 1e-4f);
}

TEST_CASE("Above the friction angle a box slides with Coulomb's acceleration") {
  const double mu = GENERATE(0.0, 0.2, 0.5), angle = std::atan(mu) + 0.25;
  const double cell = GENERATE(0.1, 0.01);  // 0.01: a hundred times stiffer than heavy
  const bool has_surface = GENERATE(false, true);
  CAPTURE(mu, angle, cell, has_surface);
  Slope slope({.angle = angle,
               .friction = static_cast<float>(mu),
               .cell = cell,
               .has_surface = has_surface});
  const double mass = MomentsOf(slope.world, slope.id).mass;
  for (int step = 0; step < 50; ++step) StepWorld(&slope.world, kDt);
  const double before = slope.Momentum().dot(slope.down) / mass;
  const int n = 100;
  for (int step = 0; step < n; ++step) {
    StepWorld(&slope.world, kDt);
    REQUIRE(MeasuresOf(slope.world).max_penetration < 1e-3 * SizeOf(slope.shape));
  }
  const double acceleration =
      (slope.Momentum().dot(slope.down) / mass - before) / (n * double(kDt));
  const double expected = kGravity * (std::sin(angle) - mu * std::cos(angle));
  CAPTURE(acceleration, expected);
  CHECK(acceleration == Approx(expected).epsilon(2e-3));
  CHECK(std::fabs(slope.Momentum().dot(slope.normal)) < 1e-3 * slope.Momentum().norm());
}

TEST_CASE("Friction holds a box against a push inside its cone, and not beyond") {
  const double poisson = GENERATE(0.0, 0.4);
  const double share = GENERATE(0.5, 0.9, 1.02, 1.1, 2.0);  // of what friction can take
  const double mu = GENERATE(0.2, 0.4);
  CAPTURE(poisson, share, mu);
  const ShapeAsset shape(TetBox(4, 2, 4, 0.1), {3.0e5, poisson, 1000.0});
  const double push = share * mu * kGravity;
  World world({.gravity = {static_cast<float>(push), static_cast<float>(-kGravity), 0.0f},
               .sleep = {.speed = 0.0f}});
  AddPlane(&world, {{0.0f, 1.0f, 0.0f}, 0.0f}, static_cast<float>(mu));
  const BodyId id = AddBody(&world, shape.asset());
  const double mass = MomentsOf(world, id).mass;
  for (int step = 0; step < 100; ++step) StepWorld(&world, kDt);
  const BodyMoments before = MomentsOf(world, id);
  for (int step = 0; step < 100; ++step) StepWorld(&world, kDt);
  const BodyMoments after = MomentsOf(world, id);
  const double creep = after.centre[0] - before.centre[0];
  const double acceleration =
      (after.linear_momentum[0] - before.linear_momentum[0]) / (mass * 100 * double(kDt));
  CAPTURE(creep, acceleration);
  if (share < 1.0) {
    CHECK(std::fabs(creep) < 1e-6);
    CHECK(world.stats().max_speed < 1e-5f);
  } else {
    CHECK(acceleration == Approx((share - 1.0) * mu * kGravity).epsilon(0.01));
  }
}

// With the nodes of its cage, a box touches at so many points that it creeps by 5e-5 m/s on slopes.
TEST_CASE("Friction just above the slope's tangent holds a box, just below it lets it go") {
  const double angle = GENERATE(0.2, 0.5);
  CAPTURE(angle);
  const auto slope_of = [&](double mu) {
    return SlopeDesc{
        .angle = angle, .friction = static_cast<float>(mu), .has_surface = true, .damping = 0.02f};
  };
  Slope held(slope_of(1.01 * std::tan(angle)));
  held.Step(200);
  CHECK(std::fabs(held.Speed()) < 1e-3 * held.height);
  const double mu = 0.99 * std::tan(angle);
  Slope loose(slope_of(mu));
  loose.Step(100);
  const double before = loose.Speed();
  loose.Step(100);
  const double expected = kGravity * (std::sin(angle) - mu * std::cos(angle));
  CHECK(loose.Speed() - before == Approx(expected).epsilon(0.2));
}

TEST_CASE("A box does not creep on a slope of 20 degrees at 0.75") {
  Slope slope({.angle = 20.0 / 180.0 * std::acos(-1.0),
               .friction = 0.75f,
               .has_surface = true,
               .damping = 0.02f});
  slope.Step(200);
  const Eigen::Vector3d before = slope.Centre();
  slope.Step(6000);
  CHECK((slope.Centre() - before).norm() < 1e-3 * slope.height);
}

// [Civ, Fig. 3.19]: Beam3D, of 6 x 3 x 3 cells, on a ramp of 20 degrees. It is pushed down the
// ramp.
TEST_CASE("A beam on a ramp of 20 degrees stops at a friction of 0.75 and slides at 0.1") {
  const double young = GENERATE(1.0e3, 1.0e5);  // of a beam of 1.6 kg
  const bool has_surface = GENERATE(false, true);
  const float mu = GENERATE(0.75f, 0.1f);
  CAPTURE(young, has_surface, mu);
  const double angle = 20.0 / 180.0 * std::acos(-1.0), height = 0.6, push = 1.0;
  const tools::Material material = {young, 0.35, 1.6 / (2.1 * height * height)};
  const tools::TetMesh mesh = KuhnBox(6, 3, 3, 0.35, 0.2, 0.2);
  const ShapeAsset shape =
      has_surface ? ShapeAsset(SurfaceBytes(mesh, {.parts = 3, .depth = 0.0, .num_shells = 0}))
                  : ShapeAsset(mesh, material);
  World world({.sleep = {.speed = 0.0f}});
  const Eigen::Matrix3d R = Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitZ()).toRotationMatrix();
  const Eigen::Vector3d down = -R.col(0);
  AddPlane(&world, {ToVec3(R.col(1)), 0.0f}, mu);
  BodyDesc of_body = {.pose = {.rotation = ToQuat(R)},
                      .material = {.young = static_cast<float>(young),
                                   .poisson = static_cast<float>(material.poisson),
                                   .density = static_cast<float>(material.density),
                                   .damping = 0.05f}};
  const BodyId id = AddBody(&world, shape.asset(), of_body);
  const auto steps = [&](int count) {
    for (int k = 0; k < count; ++k) StepWorld(&world, kDt);
  };
  const auto speed = [&] {
    const BodyMoments now = MomentsOf(world, id);
    return Eigen::Vector3d(now.linear_momentum).dot(down) / now.mass;
  };
  const auto place = [&] { return Eigen::Vector3d(MomentsOf(world, id).centre).dot(down); };
  steps(100);  // it settles; at 0.1 it slides
  std::vector<Vec3> velocities = VelocitiesOf(world, id, shape.num_nodes());
  for (Vec3& v : velocities) v = ToVec3(ToEigen(v) + push * down);
  REQUIRE(world.SetNodeVelocities(id, velocities).ok());
  const double before = speed(), start = place();
  const double pull = kGravity * (std::sin(angle) - double(mu) * std::cos(angle));  // [m/s^2]
  steps(100);
  CAPTURE(before, speed(), place() - start, pull);
  if (mu > 0.5f) {
    CHECK(place() - start == Approx(before * before / (-2.0 * pull)).epsilon(0.1));
    const double stopped = place();
    steps(200);
    CHECK(std::fabs(place() - stopped) < 1e-3 * height);
    CHECK(std::fabs(speed()) < 1e-3 * height);
  } else {
    CHECK(speed() - before == Approx(pull).epsilon(2e-3));
    // By velocities at the ends of steps.
    CHECK(place() - start == Approx(before + 0.505 * pull).epsilon(2e-3));
  }
  CHECK(MeasuresOf(world).max_penetration < 1e-3 * height);
}
