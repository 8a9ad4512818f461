// SPDX-License-Identifier: MIT
// Whole steps agree on every instruction set of this machine.
#include "runtime/simd_targets.h"
#include "runtime/world/crowd_scene.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

struct Outcome {
  uint64_t hash = 0;
  std::vector<Vec3> x;
};

Outcome After50Steps(World* world, BodyId id, const ShapeAsset& shape) {
  for (int step = 0; step < 50; ++step) REQUIRE(StepWorld(world, 0.01f) == kStepOk);
  return {world->StateHash(), PositionsOf(*world, id, shape.num_nodes())};
}

// Hung by two nodes, with damping.
Outcome Swing(const ShapeAsset& shape) {
  World world;
  BodyDesc body;
  const std::vector<uint32_t> pins = {0, 1};
  body.pinned_nodes = pins;
  body.material.damping = 0.02f;
  body.angular_velocity = {0.5f, 0.0f, 1.0f};
  const BodyId id = AddBody(&world, shape.asset(), body);
  return After50Steps(&world, id, shape);
}

// Dropped on a plane, edge first.
Outcome Drop(const ShapeAsset& shape) {
  World world;
  AddPlane(&world, {{0.1f, 1.0f, 0.0f}, 0.0f}, 0.3f);
  BodyDesc body;
  body.pose = {{0.0f, 0.3f, 0.0f}, {0.1f, 0.2f, 0.3f, 0.9f}};
  body.velocity.y = -1.0f;
  const BodyId id = AddBody(&world, shape.asset(), body);
  Outcome outcome = After50Steps(&world, id, shape);
  REQUIRE(world.stats().contacts > 0);
  return outcome;
}

// A crowd in free fall; returns the state of its first body.
Outcome Fly(const ShapeAsset& shape) {
  World world;
  AddPlane(&world, {{0.0f, 1.0f, 0.0f}, -100.0f});  // far below: see HadCrowds
  Random random(6);
  BodyId first;
  for (int i = 0; i < 12; ++i) {
    const BodyId id = RandomMember(shape, {static_cast<float>(i), 0.0f, 0.0f}, 0.5, &random)
                          .AddTo(&world, shape.asset());
    if (i == 0) first = id;
  }
  Outcome outcome = After50Steps(&world, first, shape);
  REQUIRE(HadCrowds(world));
  return outcome;
}

struct Scene {
  Outcome (*simulate)(const ShapeAsset& shape);
  double tolerance;  // [m]
};

}  // namespace

TEST_CASE("Every instruction set takes a body through the same motion") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.09, 5), {1.0e5, 0.4, 1000.0});
  const std::vector<int64_t> targets = SimdTargets();
  // Contact amplifies differences in rounding.
  for (const auto& [simulate, tolerance] : {Scene{Swing, 1e-4}, {Fly, 1e-4}, {Drop, 0.02}}) {
    Outcome plain;
    {
      const SimdTargetScope scope(targets.back());
      plain = simulate(shape);
    }
    for (const int64_t target : targets) {
      CAPTURE(NameOf(target));
      const SimdTargetScope scope(target);
      const Outcome outcome = simulate(shape);
      if (kIsDeterministic) CHECK(outcome.hash == plain.hash);
      CHECK((ToEigen(outcome.x) - ToEigen(plain.x)).colwise().norm().maxCoeff() < tolerance);
    }
  }
}
