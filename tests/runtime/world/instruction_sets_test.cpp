// SPDX-License-Identifier: MIT
// Whole steps agree on every instruction set of this machine.
#include "plush/solver.h"

#include "runtime/collision/surface_fixtures.h"
#include "runtime/simd_targets.h"
#include "runtime/world/crowd_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

struct Outcome {
  uint64_t hash = 0;
  std::vector<Vec3> x;

  void Add(const Outcome& other) {
    hash = hash * 31 + other.hash;
    x.insert(x.end(), other.x.begin(), other.x.end());
  }
};

Outcome After50Steps(World* world, BodyId id, const ShapeAsset& shape) {
  for (int step = 0; step < 50; ++step) REQUIRE(StepWorld(world, 0.01f) == kStepOk);
  return {world->StateHash(), PositionsOf(*world, id, shape.num_nodes())};
}

// Hung by two nodes, with damping.
Outcome SwingBy(const BodySolver& solver, const ShapeAsset& shape) {
  World world;
  BodyDesc body;
  const std::vector<uint32_t> pins = {0, 1};
  body.pinned_nodes = pins;
  body.material.damping = 0.02f;
  body.angular_velocity = {0.5f, 0.0f, 1.0f};
  body.solver = &solver;
  const BodyId id = AddBody(&world, shape.asset(), body);
  return After50Steps(&world, id, shape);
}

Outcome Swing(const ShapeAsset& shape) { return SwingBy(BodySolver(), shape); }

Outcome SwingImplicitly(const ShapeAsset& shape) {
  Outcome outcome = SwingBy(ImplicitSolver(), shape);
  // Other differentials, the assembled matrix and MINRES have kernels of their own.
  for (const ImplicitSettings& settings :
       {ImplicitSettings{.newton_iterations = 3, .differential = StressDifferential::kHybrid},
        {.differential = StressDifferential::kExact,
        .linear_method = LinearMethod::kMinimumResiduals},
        {.preconditioner = Preconditioner::kJacobi, .assembled = true},
        {.model = MaterialModel::kCorotated},
        {.differential = StressDifferential::kExact, .model = MaterialModel::kNeoHookean}}) {
    outcome.Add(SwingBy(ImplicitSolver(settings), shape));
  }
  return outcome;
}

// Other materials and rotations.
Outcome SwingOfModels(const ShapeAsset& shape) {
  Outcome outcome;
  for (const ImplicitSettings& settings :
       {ImplicitSettings{.model = MaterialModel::kNeoHookean},
        {.model = MaterialModel::kCorotated, .rotation = RotationMethod::kDegenerationAware}}) {
    outcome.Add(SwingBy(ImplicitSolver(settings), shape));
  }
  return outcome;
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

// Falls on another one that lies on a plane: on one edge, so that it topples. Returns its state.
Outcome FallOnBody(const BodySolver& solver) {
  const ShapeAsset cube(
      SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  WorldDesc desc;
  desc.max_pairs = 8;
  World world(desc);
  AddPlane(&world, {}, 0.3f);
  BodyDesc body;
  body.pose.position.y = 0.001f;
  AddBody(&world, cube.asset(), body);
  body.pose = {{0.05f, 0.23f, 0.02f}, {0.1f, 0.2f, 0.3f, 0.9f}};
  body.velocity.y = -1.0f;
  body.solver = &solver;
  const BodyId id = AddBody(&world, cube.asset(), body);
  uint32_t most_pairs = 0;
  Outcome outcome;
  for (int step = 0; step < 50; ++step) {
    REQUIRE(StepWorld(&world, 0.01f) == kStepOk);
    most_pairs = std::max(most_pairs, world.stats().body_pairs);
  }
  REQUIRE(most_pairs == 1);
  return {world.StateHash(), PositionsOf(world, id, cube.num_nodes())};
}

Outcome Touch(const ShapeAsset&) { return FallOnBody(BodySolver()); }

Outcome TouchImplicitly(const ShapeAsset&) { return FallOnBody(ImplicitSolver()); }

struct Scene {
  const char* name;
  Outcome (*simulate)(const ShapeAsset& shape);
  double tolerance;  // [m]
};

}  // namespace

TEST_CASE("Every instruction set takes bodies through the same motion") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.09, 5), {1.0e5, 0.4, 1000.0});
  const std::vector<int64_t> targets = SimdTargets();
  // Contact amplifies differences in rounding.
  for (const auto& [name, simulate, tolerance] :
       {Scene{"swing", Swing, 1e-4},
        {"implicit", SwingImplicitly, 1e-4},
        {"models", SwingOfModels, 1e-4},
        {"fly", Fly, 1e-4},
        {"drop", Drop, 0.02},
        {"touch", Touch, 0.02},
        {"implicit on splitting", TouchImplicitly, 0.02}}) {
    CAPTURE(name);
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
