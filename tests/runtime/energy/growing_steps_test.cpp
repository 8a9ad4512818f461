// SPDX-License-Identifier: MIT
// Steps of different lengths in turn: pressures follow them (kMostGrowth).
#include "runtime/tet_fixtures.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("Steps of different lengths do not kick bodies at rest") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const double young = GENERATE(1.0e5, 1.0e6), poisson = GENERATE(0.3, 0.45);
  using Steps = std::vector<float>;
  const Steps steps = GENERATE(Steps{0.0167f, 0.004f}, Steps{0.004f, 0.033f},
                               Steps{0.0167f, 0.033f}, Steps{0.002f, 0.005f, 0.013f, 0.033f});
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  CAPTURE(seed, young, poisson, steps);
  const ShapeAsset shape(TetBox(4, 3, 3, 0.25, 0.09, seed), {young, poisson, 1000.0}, 0.01);
  World world({.sleep = {.speed = 0.0f}});
  BodyDesc desc;
  desc.material.damping = 0.1f;
  desc.pose.position.y = static_cast<float>(0.001 - ToEigen(shape.rest()).row(1).minCoeff());
  AddBody(&world, shape.asset(), desc);
  AddPlane(&world, {}, 0.5f);
  for (int step = 0; step < 400; ++step) StepWorld(&world, 0.01f);
  REQUIRE(world.stats().max_speed < 1.0e-3f);
  float fastest = 0.0f;
  for (size_t step = 0; step < 200; ++step) {
    StepWorld(&world, steps[step % steps.size()]);
    fastest = std::max(fastest, world.stats().max_speed);
  }
  CHECK(fastest < 5.0e-3f);
}

TEST_CASE("Steps of different lengths add no energy to bodies that vibrate") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const double young = GENERATE(1.0e4, 1.0e6), poisson = GENERATE(0.3, 0.45, 0.49);
  const size_t copies = GENERATE(1u, 5u);  // alone and in a crowd
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  CAPTURE(seed, young, poisson, copies);
  const ShapeAsset shape(TetBox(4, 3, 3, 0.25, 0.09, seed), {young, poisson, 1000.0}, 0.01);
  World world({.gravity = {}});
  for (size_t k = 0; k < copies; ++k) {
    BodyDesc desc = {.pose = {.position = {.x = 4.0f * static_cast<float>(k)}}};
    const BodyId id = AddBody(&world, shape.asset(), desc);
    std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
    for (Vec3& at : x) at.y *= 1.2f;
    REQUIRE(world.SetNodePositions(id, x).ok());
  }
  const double start = MeasuresOf(world).elastic_j;
  double before = start, most = 0.0;
  for (int step = 0; step < 180; ++step) {
    StepWorld(&world, 0.001f * static_cast<float>(1 << step % 6));
    const WorldMeasures m = MeasuresOf(world);
    most = std::max(most, m.kinetic_j + m.elastic_j - before);
    before = m.kinetic_j + m.elastic_j;
  }
  CHECK(most < 0.02 * start);
}
