// SPDX-License-Identifier: MIT
// Whole steps agree on every instruction set of this machine.
#include "plush/solver.h"

#include "base/vector_math.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/crowds/crowd_scene.h"
#include "runtime/simd_targets.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace world_instruction_sets_test {

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

// Cubes on a hull, a height field, a mesh, a ball and a belt; one hangs on a collider, and two on
// each other. Returns the states of all.
Outcome RestOnShapes(const ShapeAsset&) {
  const ShapeAsset cube(
      SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  const StaticSubject torus(plush::tests::MakeTorus(0.4, 0.15, 16, 10));
  const std::vector<float> heights = {0.0f, 0.1f, 0.0f, 0.1f, 0.0f, 0.1f, 0.0f, 0.1f, 0.0f};
  Random random(12);
  std::vector<Vec3> points;
  for (int i = 0; i < 20; ++i) points.push_back(ToVec3(0.3 * random.Direction()));
  World world;
  AddCollider(&world, HullAt({{0.1f, -0.3f, 0.1f}}, points));
  ColliderDesc field;
  field.type = ShapeType::kHeightField;
  field.height_field = {heights, 3, 3, 0.3f};
  field.pose.position = {0.8f, -0.05f, -0.2f};
  AddCollider(&world, field);
  AddCollider(&world, MeshOf(torus, {{2.1f, -0.15f, 0.1f}}));
  AddCollider(&world, SphereAt({3.1f, -0.3f, 0.1f}, 0.3f));
  ColliderDesc belt = BoxAt({{4.1f, -0.1f, 0.1f}}, {0.5f, 0.1f, 0.5f});
  belt.surface_velocity = {0.3f, 0.0f, 0.1f};
  const ColliderId last = AddCollider(&world, belt);
  std::vector<BodyId> ids;
  for (int i = 0; i < 8; ++i) {
    BodyDesc body;
    body.pose.position = {static_cast<float>(i), i < 5 ? 0.1f : 0.5f, 0.0f};
    body.velocity = ToVec3(random.Vector(0.3));
    ids.push_back(AddBody(&world, cube.asset(), body));
  }
  AttachmentDesc spring;
  spring.weights = {1.0f, 0.0f, 0.0f, 0.0f};
  spring.stiffness = 2000.0f;
  spring.damping = 5.0f;
  AttachmentId attachment;
  spring.body = ids[5];
  spring.other_collider = last;
  spring.target = {0.9f, 0.8f, 0.0f};
  REQUIRE(world.Attach(spring, &attachment).ok());
  spring.body = ids[6];
  spring.other_collider = {};
  spring.other_body = ids[7];
  spring.other_weights = {1.0f, 0.0f, 0.0f, 0.0f};
  spring.rest_length = 0.5f;
  REQUIRE(world.Attach(spring, &attachment).ok());
  uint32_t contacts = 0;
  for (int step = 0; step < 50; ++step) {
    StepWorld(&world, 0.01f);
    contacts = std::max(contacts, world.stats().contacts);
  }
  REQUIRE(contacts >= 5);
  Outcome outcome = {world.StateHash(), {}};
  for (const BodyId id : ids) outcome.Add({0, PositionsOf(world, id, cube.num_nodes())});
  return outcome;
}

// Cubes that fall on each other, on the mesh of a torus and on a plane, all of them rough. Returns
// the states of all.
Outcome FallInHeap(const ShapeAsset&) {
  const ShapeAsset cube(
      SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  const StaticSubject torus(plush::tests::MakeTorus(0.3, 0.1, 16, 10));
  WorldDesc desc;
  desc.max_pairs = 64;
  World world(desc);
  AddPlane(&world, {}, 0.5f);
  ColliderDesc ring = MeshOf(torus, {{0.2f, 0.05f, 0.2f}});
  ring.friction = 0.8f;
  const ColliderId mesh = AddCollider(&world, ring);
  Random random(18);
  std::vector<BodyId> ids;
  for (int i = 0; i < 12; ++i) {
    BodyDesc body;
    body.pose = {
        {0.21f * float(i % 2), 0.17f + 0.23f * float(i / 4), 0.21f * float(i / 2 % 2)},
        ToQuat(Eigen::Matrix3d(Eigen::AngleAxisd(random.Uniform(0.0, 0.2), random.Direction())))};
    body.velocity = {0.0f, -1.0f, 0.0f};
    body.material.friction = 0.5f;
    ids.push_back(AddBody(&world, cube.asset(), body));
  }
  uint32_t most_pairs = 0, on_mesh = 0;
  for (int step = 0; step < 30; ++step) {
    StepWorld(&world, 0.01f);
    most_pairs = std::max(most_pairs, world.stats().body_pairs);
    Reaction reaction;
    REQUIRE(world.ColliderReaction(mesh, &reaction).ok());
    on_mesh += Length(reaction.force) > 0.0f;
  }
  REQUIRE(most_pairs >= 12);
  REQUIRE(on_mesh > 10);
  Outcome outcome = {world.StateHash(), {}};
  for (const BodyId id : ids) outcome.Add({0, PositionsOf(world, id, cube.num_nodes())});
  return outcome;
}

struct Scene {
  const char* name;
  Outcome (*simulate)(const ShapeAsset& shape);
  double tolerance;  // [m]
};

TEST_CASE("Every instruction set takes bodies through the same motion", "[long]") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.09, 5), {1.0e5, 0.4, 1000.0});
  const std::vector<int64_t> targets = SimdTargets();
  // Contact amplifies differences in rounding, a heap of bodies more so.
  for (const auto& [name, simulate, tolerance] : {Scene{"swing", Swing, 1e-4},
                                                  {"implicit", SwingImplicitly, 1e-4},
                                                  {"models", SwingOfModels, 1e-4},
                                                  {"fly", Fly, 1e-4},
                                                  {"drop", Drop, 0.02},
                                                  {"touch", Touch, 0.02},
                                                  {"implicit on splitting", TouchImplicitly, 0.02},
                                                  {"heap", FallInHeap, 0.05},
                                                  {"shapes", RestOnShapes, 0.02}}) {
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

}  // namespace world_instruction_sets_test
