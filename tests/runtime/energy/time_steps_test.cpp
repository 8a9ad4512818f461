// SPDX-License-Identifier: MIT
// Energy stays bounded with legal time steps of any length in any order.
#include "runtime/contact/plane_fixtures.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace plush;
using namespace plush::test;

namespace time_steps_test {

enum class Setting { kFree, kPinned, kOnPlane, kCrowd };

// Boxes swollen by 2%. On a plane they start 0.3 mm inside it.
struct Swollen {
  explicit Swollen(Setting setting, float nu = 0.4f, int volume_sweeps = 0)
      : shape(TetBox(3, 2, 2, 0.1, 0.05, 1), {1.0e5, nu, 1000.0}),
        world({.gravity = setting == Setting::kOnPlane ? Vec3{0.0f, -9.81f, 0.0f} : Vec3{}}) {
    const std::vector<uint32_t> pins = {0, 1, 2, 3};
    BodyDesc body = {.splitting = {.volume_sweeps = volume_sweeps}};
    if (setting == Setting::kPinned) body.pinned_nodes = pins;
    if (setting == Setting::kOnPlane) AddPlane(&world, {});
    for (int i = 0; i < (setting == Setting::kCrowd ? 8 : 1); ++i) {
      const BodyId id = AddBody(&world, shape.asset(), body);
      Points x = 1.02 * ToEigen(shape.rest());
      const double lowest = x.row(1).minCoeff();
      x.colwise() += Eigen::Vector3d(i, -3e-4 - lowest, 0.0);
      REQUIRE(world.SetNodePositions(id, ToVec3s(x)).ok());
    }
    REQUIRE((StepWorld(&world, kLeastTimeStep) & ~uint32_t{kStepPreparedTimeStep}) == 0u);
  }

  ShapeAsset shape;
  World world;
};

TEST_CASE("Time steps of all legal lengths may be mixed") {
  const Setting setting =
      GENERATE(Setting::kFree, Setting::kPinned, Setting::kOnPlane, Setting::kCrowd);
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(static_cast<int>(setting), seed);
  constexpr float kSteps[] = {kLeastTimeStep, 3.0e-4f, 1.0e-3f, 0.01f, 1.0f / 60, 1.0f / 30};
  Swollen scene(setting);
  for (const float dt : kSteps) REQUIRE(scene.world.PrepareTimeStep(dt).ok());
  for (int step = 0; step < 30; ++step) StepWorld(&scene.world, 0.01f);
  const double start = Energy(scene.world);
  const double scale = MeasuresOf(scene.world).elastic_j + 0.1;  // [J]
  Random random(seed);
  for (int step = 0; step < 300; ++step) {
    REQUIRE(StepWorld(&scene.world, kSteps[random.Below(6)]) == kStepOk);
    REQUIRE(Energy(scene.world) < start + scale);
  }
}

TEST_CASE("Long and short steps in turn add no energy") {
  const Setting setting =
      GENERATE(Setting::kFree, Setting::kPinned, Setting::kOnPlane, Setting::kCrowd);
  const float nu = GENERATE(0.3f, 0.49f);
  const int volume_sweeps = GENERATE(0, 1);
  const float share = GENERATE(1.4f, 2.0f, 8.0f, 32.0f, 128.0f);
  const uint32_t seed = GENERATE(1u, 2u);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  CAPTURE(static_cast<int>(setting), nu, share, seed, volume_sweeps);
  constexpr float kLong = 1.0f / 30;
  Swollen scene(setting, nu, volume_sweeps);
  const double strain = MeasuresOf(scene.world).elastic_j;
  for (const float dt : {kLong, kLong / share}) REQUIRE(scene.world.PrepareTimeStep(dt).ok());
  StepWorld(&scene.world, kLong / share);
  const double start = Energy(scene.world);
  Random random(seed);
  double most = 0.0;
  for (int step = 0; step < 300; ++step) {
    StepWorld(&scene.world, random.Below(2) == 0 ? kLong : kLong / share);
    most = std::max(most, Energy(scene.world));
  }
  CHECK(most <= start + 0.001 * strain);
}

TEST_CASE("Time steps below the least one are refused and move nothing") {
  Swollen scene(Setting::kFree);
  const uint64_t hash = scene.world.StateHash();
  for (const float dt : {0.99f * kLeastTimeStep, 1.0e-12f, 1.0e-15f, 1.0e-38f, 1.0e-45f}) {
    CAPTURE(dt);
    CHECK(scene.world.Step(dt).code == StatusCode::kInvalidArgument);
    CHECK(scene.world.PrepareTimeStep(dt).code == StatusCode::kInvalidArgument);
  }
  CHECK(scene.world.StateHash() == hash);
}

}  // namespace time_steps_test
