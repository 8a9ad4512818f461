// SPDX-License-Identifier: MIT
// Implicit bodies that touch other bodies: of splitting, or implicit ones.
#include "plush/solver.h"

#include "reference/trajectory.h"
#include "runtime/bodies/touching_cubes.h"
#include "runtime/colliders/solid_scene.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace implicit_touching_test {

constexpr float kDt = 0.01f;
constexpr float kSize = 0.2f;  // of the cubes [m]

constexpr ImplicitSettings kConverged = {.newton_iterations = 20,
                                         .linear_iterations = 500,
                                         .newton_tolerance = 1.0e-6f,
                                         .linear_tolerance = 1.0e-5f};

// Which of two bodies are implicit: the first or lower one, the other one.
struct Which {
  bool first, second;
};

WorldDesc Awake() { return WorldDesc{.sleep = {.speed = 0.0f}, .max_pairs = 16}; }

// Cubes in a world where bodies touch each other.
struct Cubes {
  explicit Cubes(const WorldDesc& desc = Awake())
      : shape(SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0})),
        world(desc) {}

  BodyId Add(const Vec3& position, const BodySolver& solver, const BodyDesc& of = {}) {
    BodyDesc desc = of;
    desc.pose.position = position;
    desc.solver = &solver;
    desc.material.damping = 0.02f;
    ids.push_back(AddBody(&world, shape.asset(), desc));
    return ids.back();
  }
  void Step(int steps) {
    for (int k = 0; k < steps; ++k) {
      flags |= StepWorld(&world, kDt);
      most_linear = std::max(most_linear, world.stats().linear_iterations);
    }
  }
  std::vector<Vec3> Nodes(BodyId id) const { return PositionsOf(world, id, shape.num_nodes()); }
  double Mass(BodyId id) const { return MomentsOf(world, id).mass; }
  // On the first of two bodies by the other one [N].
  Eigen::Vector3d Force() const {
    std::vector<BodyContactPoint> points(1000);
    uint32_t count = 0;
    REQUIRE(world.BodyContacts(points, &count).ok());
    Eigen::Vector3d force = Eigen::Vector3d::Zero();
    for (uint32_t i = 0; i < count; ++i) force += ToEigen(points[i].force);
    return force;
  }

  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
  uint32_t flags = 0, most_linear = 0;
};

BodySolver SolverFor(bool is_implicit) { return is_implicit ? ImplicitSolver() : BodySolver(); }

TEST_CASE("A body rests on another one with its whole weight, if any of them is implicit",
          "[long]") {
  const Which which = GENERATE(Which{true, false}, Which{false, true}, Which{true, true});
  const float poisson = GENERATE(0.35f, 0.49f);
  const float scale = GENERATE(1.0f, 1.5f);  // of the lower one
  CAPTURE(which.first, which.second, poisson, scale);
  Cubes cubes;
  const ColliderId plane = AddPlane(&cubes.world, {});
  BodyDesc desc = {.scale = scale,
                   .material = {.young = 3.0e5f, .poisson = which.first ? poisson : 0.35f}};
  const BodyId low = cubes.Add({0, 0.002f, 0}, SolverFor(which.first), desc);
  desc.material.poisson = which.second ? poisson : 0.35f;
  desc.scale = 1.0f;
  const BodyId high =
      cubes.Add({0.02f, kSize * scale + 0.05f, 0.01f}, SolverFor(which.second), desc);
  cubes.Step(200);
  CHECK(cubes.most_linear > 0);
  CHECK(cubes.world.stats().body_pairs == 1);
  CHECK(cubes.world.stats().max_speed < 1e-3f);
  CHECK((cubes.flags & kStepContactsDropped) == 0);
  const double weight = cubes.Mass(high) * 9.81, of_both = weight + cubes.Mass(low) * 9.81;
  const Eigen::Vector3d force = cubes.Force();
  CHECK(-force.y() == Approx(weight).epsilon(0.01));
  CHECK(std::hypot(force.x(), force.z()) < 0.01 * weight);
  Reaction of_plane;
  REQUIRE(cubes.world.ColliderReaction(plane, &of_plane).ok());
  CHECK(-double(of_plane.force.y) == Approx(of_both).epsilon(0.01));
  double lowest = 1e9;
  for (const Vec3& x : cubes.Nodes(high)) lowest = std::min(lowest, double(x.y));
  CHECK(lowest > double(kSize * scale) - 0.01);
  CHECK(lowest < double(kSize * scale) + 1e-4);
}

// Turns converge slowly if a body is nearly incompressible, so it makes more iterations.
TEST_CASE("An implicit body and another one that collide keep their momenta and gain no energy",
          "[long]") {
  const Which which = GENERATE(Which{true, false}, Which{false, true}, Which{true, true});
  const float poisson = GENERATE(0.35f, 0.49f);
  const float scale = GENERATE(1.0f, 1.5f);  // of the second one
  CAPTURE(which.first, which.second, poisson, scale);
  WorldDesc desc = Awake();
  desc.gravity = {};
  Cubes cubes(desc);
  BodyDesc left = {
      .velocity = {1.0f, 0.0f, 0.0f},
      .material = {.young = 3.0e5f, .poisson = which.first ? poisson : 0.35f, .friction = 0.3f}};
  const bool is_stiff = poisson > 0.4f;
  const BodySolver more = ImplicitSolver({.newton_iterations = 10, .linear_iterations = 100});
  const auto solver = [&](bool is_implicit) {
    return is_implicit && is_stiff ? more : SolverFor(is_implicit);
  };
  cubes.Add({-0.3f, 0.03f, 0.02f}, solver(which.first), left);
  BodyDesc right = left;
  right.velocity = {};
  right.scale = scale;
  right.material.poisson = which.second ? poisson : 0.35f;
  const BodyId b = cubes.Add({}, solver(which.second), right);
  const auto sums = [&] { return SumsOf(cubes.world, cubes.ids); };
  const WorldSums before = sums();
  uint32_t most = 0;
  for (int step = 0; step < 100; ++step) {
    cubes.Step(1);
    most = std::max(most, cubes.world.stats().body_pairs);
    CHECK(sums().energy <= 1.001 * before.energy);
  }
  const WorldSums after = sums();
  CHECK(most == 1);
  CHECK(cubes.most_linear > 0);
  CHECK((after.momentum - before.momentum).norm() < 3e-5 * before.momentum.norm());
  const double most_turn = (is_stiff ? 15e-3 : 6e-3) * before.momentum.norm() * double(kSize);
  CHECK((after.turn - before.turn).norm() < most_turn);
  CHECK(MomentsOf(cubes.world, b).linear_momentum[0] > 0.3 * before.momentum.x());
}

TEST_CASE("An implicit body and another one gain no energy in an impact") {
  const Which which = GENERATE(Which{true, false}, Which{false, true}, Which{true, true});
  const float poisson = GENERATE(0.0f, 0.45f, 0.49f, 0.499f);
  const float young = GENERATE(1.0e4f, 1.0e6f, 1.0e8f), speed = GENERATE(1.0f, 10.0f);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  // After the impact: a single iteration strains a nearly incompressible body that turns fast.
  const BodySolver more = ImplicitSolver({.newton_iterations = 8});
  const auto solver = [&](bool is_implicit) {
    return is_implicit && poisson > 0.495f ? more : SolverFor(is_implicit);
  };
  WorldDesc desc = Awake();
  desc.gravity = {};
  Cubes cubes(desc);
  BodyDesc of = {.material = {.young = young, .poisson = which.first ? poisson : 0.35f}};
  cubes.Add({}, solver(which.first), of);
  of.material.poisson = which.second ? poisson : 0.35f;
  of.pose.rotation = TurnOf(0.5, {0.3, 0.1, 1.0});
  of.velocity = {0.0f, -speed, 0.0f};
  cubes.Add({0.1f, 0.35f, 0.05f}, solver(which.second), of);
  const auto energy = [&] {
    WorldMeasures measures;
    REQUIRE(cubes.world.Measure(&measures).ok());
    return measures.kinetic_j + measures.elastic_j;
  };
  const double start = energy();
  double most = 0.0;
  uint32_t most_pairs = 0;
  for (int step = 0; step < 60; ++step) {
    cubes.Step(1);
    most = std::max(most, energy());
    most_pairs = std::max(most_pairs, cubes.world.stats().body_pairs);
  }
  CAPTURE(which.first, which.second, poisson, young, speed, most / start);
  CHECK(most < 1.01 * start);
  CHECK(most_pairs == 1);
}

TEST_CASE("A spring takes its part of the weight of an implicit body that rests on another one",
          "[long]") {
  const Which which = GENERATE(Which{true, false}, Which{false, true}, Which{true, true});
  const float scale = GENERATE(1.0f, 0.8f);  // of the upper one
  const float stiffness = GENERATE(20.0f, 1.0e4f);
  CAPTURE(which.first, which.second, scale, stiffness);
  Cubes cubes;
  AddPlane(&cubes.world, {});
  BodyDesc desc = {.material = {.young = 3.0e5f}};
  const BodyId low = cubes.Add({}, SolverFor(which.first), desc);
  desc.scale = scale;
  const BodyId high = cubes.Add({0.02f, kSize + 0.001f, 0.01f}, SolverFor(which.second), desc);
  // At a node in the middle of the upper side, with a target as far above as takes half the weight.
  uint32_t top = 0;
  const std::vector<Vec3> nodes = cubes.Nodes(high);
  const auto is_nearer = [&](const Vec3& a, const Vec3& b) {
    const Eigen::Vector3d middle(0.1 * double(scale), 1.0, 0.1 * double(scale));
    return (ToEigen(a) - middle).norm() < (ToEigen(b) - middle).norm();
  };
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    if (is_nearer(nodes[i], nodes[top])) top = i;
  }
  const double weight = cubes.Mass(high) * 9.81;
  AttachmentDesc spring = {.body = high, .target = nodes[top], .stiffness = stiffness};
  spring.nodes[0] = top;
  spring.weights = {1.0f, 0.0f, 0.0f, 0.0f};
  spring.target.y += static_cast<float>(0.5 * weight) / stiffness;
  AttachmentId id;
  REQUIRE(cubes.world.Attach(spring, &id).ok());
  cubes.Step(300);
  CHECK(cubes.most_linear > 0);
  CHECK(cubes.world.stats().body_pairs == 1);
  CHECK(cubes.world.stats().max_speed < 1e-3f);
  Vec3 pull;
  REQUIRE(cubes.world.AttachmentForce(id, &pull).ok());
  CHECK(double(pull.y) > 0.3 * weight);
  CHECK(double(pull.y) < 0.9 * weight);  // the cubes sag, which stretches a stiff one
  CHECK(double(pull.y) - cubes.Force().y() == Approx(weight).epsilon(0.01));
  CHECK(cubes.Mass(low) > 0.0);
}

// A cube that falls askew on one whose lowest nodes are pinned.
Trajectory FallOnCube(int steps, const BodySolver& low, const BodySolver& high) {
  WorldDesc desc = Awake();
  desc.contact.iterations = 64;
  desc.contact.sweeps = 256;
  Cubes cubes(desc);
  std::vector<uint32_t> pins;
  const std::span<const Vec3> X = cubes.shape.asset().simulation().nodes;
  for (uint32_t i = 0; i < X.size(); ++i) {
    if (X[i].y < 0.01f) pins.push_back(i);
  }
  BodyDesc held = {.material = {.young = 1.0e5f, .poisson = 0.33f, .friction = 0.4f},
                   .pinned_nodes = pins};
  BodyDesc falling = held;
  falling.pinned_nodes = {};
  falling.velocity = {0.3f, -1.0f, 0.0f};
  falling.pose.rotation = TurnOf(0.2, {0.0, 0.0, 1.0});
  const BodyId ids[] = {cubes.Add({}, low, held), cubes.Add({0.06f, 0.22f, 0.01f}, high, falling)};
  const auto nodes = [&] {
    std::vector<Vec3> all = cubes.Nodes(ids[0]), more = cubes.Nodes(ids[1]);
    all.insert(all.end(), more.begin(), more.end());
    return ToEigen(all);
  };
  Trajectory out(nodes());
  bool has_touched = false;
  for (int step = 0; step < steps; ++step) {
    cubes.Step(1);
    has_touched = has_touched || cubes.world.stats().body_pairs > 0;
    out.Add(nodes());
  }
  CHECK(has_touched);
  CHECK(cubes.flags == kStepOk);
  return out;
}

// Fewer steps than below: which of many contacts are kept depends on the last digits, in time.
TEST_CASE("Touching implicit bodies move as those of splitting with 64 outer iterations",
          "[long]") {
  constexpr int kSteps = 10;
  const BodySolver splitting = SplittingSolver({.outer_iterations = 64});
  const BodySolver converged = ImplicitSolver(kConverged);
  const Trajectory reference = FallOnCube(kSteps, splitting, splitting);
  const auto error = [&](const BodySolver& low, const BodySolver& high) {
    return reference::TrajectoryError(FallOnCube(kSteps, low, high), reference);
  };
  const double both = error(converged, converged), low = error(converged, splitting),
               high = error(splitting, converged);
  const double of_default = error(BodySolver(), BodySolver());
  CAPTURE(both, low, high, of_default);
  CHECK(both < 2e-4);
  CHECK(low < 2e-4);
  CHECK(high < 2.5e-4);
  CHECK(of_default > 4e-4);  // the reference shows such differences
}

// As many steps as contacts are the same: later, which are kept depends on the last digits.
TEST_CASE("Few iterations of touching implicit bodies come near to many", "[long]") {
  constexpr int kSteps = 20;
  const BodySolver converged = ImplicitSolver(kConverged), few = ImplicitSolver();
  const double error = reference::TrajectoryError(FallOnCube(kSteps, few, few),
                                                  FallOnCube(kSteps, converged, converged));
  CAPTURE(error);
  CHECK(error < 2e-5);
}

// Iterations that have not converged show how the bodies' quadratics are weighed.
TEST_CASE("A scaled body touches an implicit one as an unscaled body of the same size does") {
  const bool is_implicit = GENERATE(false, true);  // the scaled one
  const auto fall = [&](float scale) {
    const ShapeAsset small(SurfaceBytes(TetBox(2, 2, 2, 0.1 / double(scale)),
                                        {.parts = 2, .depth = 0.0, .num_shells = 0}));
    Cubes cubes;
    AddPlane(&cubes.world, {});
    BodyDesc desc = {.material = {.young = 1.0e5f, .poisson = 0.45f, .friction = 0.4f}};
    cubes.Add({}, SolverFor(true), desc);
    const BodySolver solver = SolverFor(is_implicit);
    desc.solver = &solver;
    desc.scale = scale;
    desc.pose.position = {0.03f, 0.21f, 0.02f};
    desc.velocity = {0.0f, -1.0f, 0.0f};
    desc.material.damping = 0.02f;
    const BodyId high = AddBody(&cubes.world, small.asset(), desc);
    Trajectory out(ToEigen(PositionsOf(cubes.world, high, small.num_nodes())));
    for (int step = 0; step < 10; ++step) {
      cubes.Step(1);
      out.Add(ToEigen(PositionsOf(cubes.world, high, small.num_nodes())));
    }
    CHECK(cubes.world.stats().body_pairs == 1);
    return out;
  };
  const double error = reference::TrajectoryError(fall(4.0f), fall(1.0f));
  CAPTURE(is_implicit, error);
  CHECK(error < 1e-4);
}

// Such a body is its island's only one.
TEST_CASE("An implicit body on a fixed one keeps its solver") {
  const bool is_quasistatic = GENERATE(false, true);
  CAPTURE(is_quasistatic);
  const BodySolver solver = ImplicitSolver({.quasistatic = is_quasistatic});
  TouchingCubes cubes(TouchingCubes::Awake());
  BodyDesc fixed, body;
  fixed.fixed = true;
  body.solver = &solver;
  const std::vector<uint32_t> pins = {0, 1, 2, 3};
  if (is_quasistatic) body.pinned_nodes = pins;
  cubes.Add({}, 1.0e6f, fixed);
  cubes.Add({0.02f, 1.001f * kSize, 0.01f}, 1.0e5f, body);
  for (int step = 0; step < 50; ++step) {
    cubes.Step(1);
    CHECK(cubes.world.stats().linear_iterations > 0);
    if (is_quasistatic) CHECK(MeasuresOf(cubes.world).kinetic_j < 1e-9);
  }
  CHECK(cubes.world.stats().body_pairs == 1);
  CHECK(cubes.Lowest(cubes.ids[1]) > 0.98 * double(kSize));
}

}  // namespace implicit_touching_test
