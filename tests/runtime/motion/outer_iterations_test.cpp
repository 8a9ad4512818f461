// SPDX-License-Identifier: MIT
// How many outer iterations bodies make by default, in crowds and alone.
#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace outer_iterations_test {

constexpr float kDt = 0.01f;

TEST_CASE("Outer iterations follow the stiffness, in crowds as alone") {
  struct Case {
    double young;      // [Pa]
    float scale;       // Young's modulus grows with its square: the same motion
    int free, pinned;  // iterations
  };
  const Case c =
      GENERATE(Case{1.0e3, 1.0f, 1, 1}, Case{1.0e5, 10.0f, 1, 1}, Case{3.0e6, 1.0f, 2, 2},
               Case{1.0e8, 1.0f, 2, 3}, Case{1.0e10, 10.0f, 2, 3});
  const bool is_pinned = GENERATE(false, true);
  CAPTURE(c.young, c.scale, is_pinned);
  const ShapeAsset shape =
      ShapeAsset::Baked(TetBox(6, 2, 2, 0.1), {c.young, 0.3, 1000.0}, double(kDt));
  REQUIRE(shape.simulation().num_clusters > 1);
  std::vector<Vec3> bending, turning;
  for (const Vec3& x : shape.rest()) {
    bending.push_back({0.0f, 20.0f * c.scale * x.x * x.x, c.scale * x.x});
    turning.push_back(Vec3{-x.y, x.x, 0.0f} * c.scale);
  }
  // Where body number `which` is in the end. Of bodies [0, pinned_from), none has pins.
  const auto steps = [&](int bodies, int pinned_from, int which, int iterations) {
    World world;
    const uint32_t pins[] = {0, 1, 2, 3};
    BodyId id;
    for (int i = 0; i < bodies; ++i) {
      BodyDesc desc = {.scale = c.scale, .splitting = {.outer_iterations = iterations}};
      if (i >= pinned_from) desc.pinned_nodes = pins;
      desc.pose.position = {100.0f * static_cast<float>(i - which), 0.0f, 0.0f};
      const BodyId added = AddBody(&world, shape.asset(), desc);
      // Gravity alone moves the stiffest ones on pins: this bending would make them iterate on.
      // Free ones turn.
      const bool is_stiffest = c.pinned > c.free, is_fixed = is_stiffest && i >= pinned_from;
      const std::vector<Vec3>& velocities = is_stiffest ? turning : bending;
      if (!is_fixed) REQUIRE(world.SetNodeVelocities(added, velocities).ok());
      if (i == which) id = added;
    }
    for (int step = 0; step < 20; ++step) StepWorld(&world, kDt);
    const int expected = pinned_from < bodies ? c.pinned : c.free;
    CHECK(world.stats().outer_iterations ==
          static_cast<uint32_t>(iterations > 0 ? iterations : expected));
    return ToEigen(PositionsOf(world, id, shape.num_nodes()));
  };
  const int from = is_pinned ? 0 : 1;
  const Points alone = steps(1, from, 0, 0);
  CHECK(alone == steps(1, from, 0, is_pinned ? c.pinned : c.free));
  const auto apart = [&](const Points& a, const Points& b) {
    return (a - b).colwise().norm().maxCoeff() / (SizeOf(shape) * double(c.scale));
  };
  CHECK(apart(alone, steps(7, 7 * from, 0, 0)) < 1e-4);
  // A pinned body among free ones of its kind, and one of these.
  CHECK(apart(steps(1, 0, 0, 0), steps(7, 6, 6, 0)) < 1e-4);
  CHECK(apart(steps(1, 1, 0, 0), steps(7, 6, 0, 0)) < 1e-4);
}

TEST_CASE("A soft body makes one outer iteration in the air, and at least two while it touches") {
  const int asked = GENERATE(0, 1);
  CAPTURE(asked);
  const ShapeAsset shape =
      ShapeAsset::Baked(TetBox(6, 2, 2, 0.1), {2.0e3, 0.3, 100.0}, double(kDt));
  World world({.sleep = {.speed = 0.0f}});
  AddPlane(&world, {});
  AddBody(&world, shape.asset(),
          {.pose = {.position = {0.0f, 0.1f, 0.0f}}, .splitting = {.outer_iterations = asked}});
  StepWorld(&world, kDt);
  CHECK(world.stats().outer_iterations == 1);
  int touching = 0;
  for (int step = 0; step < 200; ++step) {
    StepWorld(&world, kDt);
    if (world.stats().contacts == 0) continue;
    ++touching;
    REQUIRE(world.stats().outer_iterations >= 2);
  }
  CHECK(touching > 100);
}

}  // namespace outer_iterations_test
