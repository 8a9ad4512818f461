// SPDX-License-Identifier: MIT
// Bodies on planes: at rest, dropped, carried, deep.
#include "plush/format/tet_block.h"

#include "contact/point_couplings.h"
#include "runtime/contact/plane_fixtures.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush;
using namespace plush::test;

namespace plane_contact_test {

// How far its own weight lowers the middle of a box 0.2 m high: by rho g h^2 / 3 E if its sides are
// free, by 1 / 2.14 of that if they are held.
void CheckSquash(double squash) {
  const double free = kMaterial.density * kGravity * 0.2 * 0.2 / (3.0 * kMaterial.young);
  const double nu = kMaterial.poisson, held = free * (1.0 + nu) * (1.0 - 2.0 * nu) / (1.0 - nu);
  CAPTURE(held, squash, free);
  CHECK(squash > held);
  CHECK(squash < free);
}

TEST_CASE("A box set down on a plane stays there, and the plane carries its weight") {
  Slope slope({});
  const double mass = MomentsOf(slope.world, slope.id).mass;
  for (int step = 0; step < 300; ++step) {
    StepWorld(&slope.world, kDt);
    REQUIRE(MeasuresOf(slope.world).max_penetration < 1e-3 * SizeOf(slope.shape));
  }
  CHECK(slope.world.stats().contacts > 0);
  CHECK(slope.world.stats().max_speed < 0.02f);
  // The plane's impulse in a step equals gravity's, so the momentum stays.
  const Eigen::Vector3d before = slope.Momentum();
  for (int step = 0; step < 50; ++step) StepWorld(&slope.world, kDt);
  const double impulse = mass * kGravity * 50 * double(kDt);
  CHECK((slope.Momentum() - before).norm() < 1e-3 * impulse);
  const BodyMoments end = MomentsOf(slope.world, slope.id);
  CHECK(std::fabs(end.centre[0] - 0.2) < 1e-3);
  CHECK(std::fabs(end.centre[2] - 0.2) < 1e-3);
  CheckSquash(0.1 - end.centre[1]);
}

TEST_CASE("A plane never pulls: a box that is kicked up leaves it at once") {
  const double angle = GENERATE(0.0, 0.3);
  const float friction = GENERATE(0.0f, 0.5f);
  CAPTURE(angle, friction);
  Slope slope({.angle = angle, .friction = friction});
  for (int step = 0; step < 50; ++step) StepWorld(&slope.world, kDt);
  REQUIRE(slope.world.stats().contacts > 0);
  const double mass = MomentsOf(slope.world, slope.id).mass;
  std::vector<Vec3> kick = VelocitiesOf(slope.world, slope.id, slope.shape.num_nodes());
  for (Vec3& v : kick) v = ToVec3(ToEigen(v) + 2.0 * slope.normal);
  REQUIRE(slope.world.SetNodeVelocities(slope.id, kick).ok());
  const Eigen::Vector3d start = slope.Momentum();
  StepWorld(&slope.world, kDt);  // as it springs back it may push itself off
  const double gained = (slope.Momentum() - start).dot(slope.normal) / mass;
  CHECK(gained > -kGravity * double(kDt) * 1.001);
  CHECK(gained < 0.3);
  const Eigen::Vector3d free = slope.Momentum();
  for (int step = 0; step < 10; ++step) {
    CHECK(slope.world.stats().contacts == 0);
    StepWorld(&slope.world, kDt);
  }
  const Eigen::Vector3d fallen = (slope.Momentum() - free) / mass;
  CHECK((fallen - Eigen::Vector3d(0.0, -10 * kGravity * double(kDt), 0.0)).norm() < 1e-4);
}

TEST_CASE("Pinned nodes below a plane are no contacts") {
  const ShapeAsset shape(TetBox(4, 2, 2, 0.1), kMaterial);
  std::vector<uint32_t> pins;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    if (shape.rest()[i].y < 0.01f) pins.push_back(i);
  }
  BodyDesc body = {.pinned_nodes = pins};
  World world, free;
  AddPlane(&world, {{0.0f, 1.0f, 0.0f}, 0.02f});  // cuts the box
  const BodyId id = AddBody(&world, shape.asset(), body);
  const BodyId other = AddBody(&free, shape.asset(), body);
  for (int step = 0; step < 50; ++step) {
    StepWorld(&world, kDt);
    StepWorld(&free, kDt);
    REQUIRE(world.stats().contacts == 0);
    REQUIRE(MeasuresOf(world).max_penetration == 0.0f);
  }
  const Points a = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  const Points b = ToEigen(PositionsOf(free, other, shape.num_nodes()));
  CHECK((a - b).cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("The energy of an undamped drop stays below its start, whatever its size and stiffness") {
  const double size = GENERATE(1.0, 0.18), young = GENERATE(1.0e4, 1.0e5, 1.0e6, 1.0e7);
  const float dt = GENERATE(0.005f, 0.01f, 1.0f / 60.0f);
  const uint32_t seed = GENERATE(1u, 2u);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  CAPTURE(size, young, dt, seed);
  Random random(seed);
  const ShapeAsset shape(TetBox(4, 3, 3, size / 4.0, 0.09, seed), {young, 0.35, 1000.0},
                         double(dt));
  World world({.sleep = {.speed = 0.0f}});
  AddPlane(&world, {});
  BodyDesc body = {.pose = {.rotation = ToQuat(random.Rotation())}};
  const Points x = RotationOf(body.pose.rotation) * ToEigen(shape.rest());
  body.pose.position.y = static_cast<float>(0.3 * size - x.row(1).minCoeff());
  const BodyId id = AddBody(&world, shape.asset(), body);
  const double fall = MomentsOf(world, id).mass * kGravity * 0.3 * size, start = Energy(world);
  double before = start, gain = 0.0, rise = -fall;
  for (int step = 0; step < 300; ++step) {
    StepWorld(&world, dt);
    const double energy = Energy(world);
    gain = std::max(gain, energy - before);
    rise = std::max(rise, energy - start);
    before = energy;
  }
  CHECK(rise < 1e-5 * fall);  // rounding
  CHECK(gain < 0.01 * fall);  // in one step
}

TEST_CASE("A light stub under a heavy tet is never pressed inside out") {
  const float speed = GENERATE(1.0f, 3.0f, 6.0f, 10.0f);
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(speed, seed);
  tools::TetMesh mesh;  // the upper tet has twenty times the mass
  mesh.nodes = {
      {0.0, 0.0, 0.0}, {0.1, 0.0, 0.0}, {0.0, 0.0, 0.1}, {0.03, -0.05, 0.03}, {0.03, 1.0, 0.03}};
  mesh.tets = {{0, 1, 2, 3}, {0, 2, 1, 4}};
  const ShapeAsset shape(mesh, {3.0e4, 0.4, 1000.0});
  Random random(seed);
  World world;
  AddPlane(&world, {});
  BodyDesc body = {.pose = {.position = {.y = 0.2f}, .rotation = ToQuat(random.Rotation(0.3))},
                   .velocity = {.y = -speed}};
  AddBody(&world, shape.asset(), body);
  float flattest = 1.0f;
  for (int step = 0; step < 200; ++step) {
    REQUIRE((StepWorld(&world, kDt) & kStepBodyFrozen) == 0u);
    flattest = std::min(flattest, MeasuresOf(world).min_det_f);
    REQUIRE(MeasuresOf(world).inverted_tets == 0);
    REQUIRE(MeasuresOf(world).max_penetration < 1e-3 * SizeOf(shape));
  }
  CHECK(flattest > 0.049f);
}

TEST_CASE("An impact takes more iterations, rest does not") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), kMaterial);
  World world({.sleep = {.speed = 0.0f}});
  AddPlane(&world, {});
  BodyDesc body = {.pose = {.position = {.y = 0.2f}, .rotation = {0.1f, 0.0f, 0.2f, 1.0f}},
                   .material = {.damping = 0.05f}};
  AddBody(&world, shape.asset(), body);
  uint32_t most = 0;
  for (int step = 0; step < 300; ++step) {
    StepWorld(&world, kDt);
    most = std::max(most, world.stats().outer_iterations);
  }
  CHECK(most > 2);
  CHECK(most <= 4);
  CHECK(world.stats().contacts > 0);
  CHECK(world.stats().outer_iterations == 2);
}

// Without the impulses of the step before it would take over 100.
TEST_CASE("At rest few sweeps suffice, also after a change of the step and a sleep") {
  ShapeAsset shape(SurfaceBytes(TetBox(4, 2, 4, 0.1), {.parts = 3, .depth = 0.0, .num_shells = 0}));
  World world({.contact = {.sweeps = 256}, .sleep = {.speed = 0.0f}});
  AddPlane(&world, {});
  const BodyId id = AddBody(&world, shape.asset(), {.material = {.damping = 0.02f}});
  for (int step = 0; step < 300; ++step) StepWorld(&world, kDt);
  const auto check = [&](float dt) {
    StepWorld(&world, dt);
    CHECK(world.stats().contacts > 3);
    CHECK(world.stats().contact_sweeps <= 4);
    CHECK(world.stats().max_speed < 1.0e-3f * 0.2f);
  };
  for (int step = 0; step < 10; ++step) check(kDt);
  check(0.5f * kDt);  // impulses are scaled by the square of the step
  check(kDt);
  world.SetSleep({.speed = 0.05f, .time = 0.02f});
  for (int step = 0; step < 10; ++step) StepWorld(&world, kDt);
  REQUIRE(world.stats().asleep == 1);
  world.SetSleep({.speed = 0.0f});
  REQUIRE(world.Wake(id).ok());
  check(kDt);
}

TEST_CASE("A sheet on more nodes than there is room for stays on its plane") {
  const ShapeAsset shape(TetBox(20, 1, 20, 0.1), {1.0e5, 0.3, 1000.0});
  REQUIRE(MostTouchingPoints(static_cast<uint32_t>(shape.num_nodes())) < 21 * 21);
  World world({.sleep = {.speed = 0.0f}});
  AddPlane(&world, {});
  AddBody(&world, shape.asset(), {.pose = {.position = {.y = 0.02f}}});
  uint32_t flags = 0;
  float deepest = 0.0f;
  for (int step = 0; step < 60; ++step) {
    flags |= StepWorld(&world, kDt);
    deepest = std::fmax(deepest, MeasuresOf(world).max_penetration);
  }
  CHECK(flags == kStepContactsDropped);
  CHECK(deepest < 0.02f);
}

TEST_CASE("A plane that turns about a distant point carries a body without letting it in") {
  const float speed = GENERATE(1.0f, 3.0f, 8.0f);  // [rad/s]
  CAPTURE(speed);
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), kMaterial);
  World world;
  // A wall of a drum of radius 1 m.
  ColliderId wall;
  REQUIRE(world
              .AddCollider(
                  {.plane = {{0.0f, 1.0f, 0.0f}, -1.0f}, .angular_velocity = {0.0f, 0.0f, speed}},
                  &wall)
              .ok());
  AddBody(&world, shape.asset(), {.pose = {.position = {-0.15f, -1.0f, -0.1f}}});
  for (int step = 0; step < 25; ++step) {
    StepWorld(&world, kDt);
    CAPTURE(step);
    REQUIRE(MeasuresOf(world).max_penetration < 1e-4 * SizeOf(shape));
  }
}

// Beside the way out by positions, contacts lift deep points a little in each step.
TEST_CASE("Contacts lift deep points slowly, however short the steps") {
  const float dt = GENERATE(as<float>{}, kLeastTimeStep, 1.0e-3f, 0.01f);
  const double young = GENERATE(1.0e3, 1.0e5, 1.0e7);
  CAPTURE(dt, young);
  const ShapeAsset shape(TetBox(4, 4, 4, 0.1, 0.05, 6), {young, 0.4, 1000.0});
  World world({.gravity = {}, .contact = {.push_out_time = 1.0e6f}});
  AddBody(&world, shape.asset(), {.pose = {.position = {0.0f, -0.05f, 0.0f}}});
  AddPlane(&world, {});
  StepWorld(&world, dt);
  const double start = MeasuresOf(world).max_penetration;
  const float edge = shape.simulation().median_edge;
  float fastest = 0.0f;
  for (int step = 0; step < 50; ++step) {
    StepWorld(&world, dt);
    fastest = std::fmax(fastest, world.stats().max_speed);
  }
  CHECK(MeasuresOf(world).max_penetration < start);
  CHECK(fastest < 0.5f * edge);
}

TEST_CASE("A body put deep into a plane comes out of it step by step, in shape") {
  const bool snaps = GENERATE(false, true);
  const double tilt = GENERATE(0.0, 0.5);
  CAPTURE(snaps, tilt);
  const ShapeAsset shape(TetBox(4, 4, 4, 0.1, 0.05, 6), {1.0e5, 0.4, 1000.0});
  const float edge = shape.simulation().median_edge;
  WorldDesc desc;
  if (snaps) desc.contact.method = &kSnapContact;
  World world(desc);
  BodyDesc body;
  body.pose = {{0.0f, -0.2f, 0.0f},
               ToQuat(Eigen::AngleAxisd(tilt, Eigen::Vector3d::UnitZ()).toRotationMatrix())};
  const BodyId id = AddBody(&world, shape.asset(), body);
  AddPlane(&world, {});  // like a level that closes over the body
  float depth = 1.0f;
  int steps = 0;
  for (; depth > 1e-3f && steps < 200; ++steps) {
    REQUIRE((StepWorld(&world, kDt) & kStepBodyFrozen) == 0u);
    const float now = MeasuresOf(world).max_penetration;
    if (!snaps) {
      if (steps > 0) CHECK(now < std::fmax(1.05f * depth, 1e-3f));  // it presses back
      CHECK(MeasuresOf(world).inverted_tets == 0);
      CHECK(world.stats().max_speed < 20.0f * edge);  // the way out itself is no speed
    } else {
      if (steps > 0) CHECK(now < std::fmax(depth - 0.2f * edge, 1e-3f));
      CHECK(world.stats().max_speed < 100.0f * edge);  // of which 25 come from the push
    }
    depth = now;
  }
  CHECK(steps > 3);
  CHECK(steps < (snaps ? 15 : 150));
  for (int step = 0; step < 200; ++step) REQUIRE((StepWorld(&world, kDt) & kStepBodyFrozen) == 0u);
  CHECK(MeasuresOf(world).max_penetration < 1e-3 * SizeOf(shape));
  CHECK(MomentsOf(world, id).volume == Approx(0.064).epsilon(0.03));
}

TEST_CASE("Substeps come with fast approach only") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), kMaterial);
  for (const float speed : {0.5f, 12.0f, 60.0f}) {
    World world;
    AddPlane(&world, {});
    BodyDesc body = {.pose = {.position = {.y = 0.02f}}, .velocity = {.y = -speed}};
    AddBody(&world, shape.asset(), body);
    StepWorld(&world, kDt);
    // n = clamp(ceil(2 v dt / e), 1, 4), where v includes the step's gravity.
    const double v = double(speed) + kGravity * double(kDt);
    const double wanted = std::ceil(2.0 * v * double(kDt) / double(shape.simulation().median_edge));
    CHECK(world.stats().substeps == static_cast<uint32_t>(std::clamp(wanted, 1.0, 4.0)));
    World away;
    AddPlane(&away, {});
    body.velocity.y = speed;
    AddBody(&away, shape.asset(), body);
    StepWorld(&away, kDt);
    CHECK(away.stats().substeps == 1);
    CHECK(away.stats().contacts == 0);
  }
}

}  // namespace plane_contact_test
