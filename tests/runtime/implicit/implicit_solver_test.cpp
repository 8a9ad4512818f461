// SPDX-License-Identifier: MIT
// Bodies of the implicit solver: their steps are those of converged implicit Euler, gain no energy,
// and live in one world with splitting's.
#include "plush/solver.h"

#include "reference/implicit_euler.h"
#include "reference/trajectory.h"
#include "runtime/dense_reference.h"
#include "runtime/implicit/hung_bar.h"
#include "runtime/state/state_scene.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace implicit_solver_test {

constexpr float kDt = 0.01f;
constexpr ImplicitSettings kConverged = {.newton_iterations = 20,
                                         .linear_iterations = 2000,
                                         .newton_tolerance = 1.0e-6f,
                                         .linear_tolerance = 1.0e-5f};

ImplicitSettings With(StressDifferential differential, ImplicitSettings settings = kConverged) {
  settings.differential = differential;
  return settings;
}

// A random bar, for 40 steps.
struct Bar : HungBar {
  Bar(uint32_t seed, double young, double poisson)
      : HungBar(TetBox(6, 2, 2, 0.1, 0.09, seed), {young, poisson, 1000.0}) {}

  Trajectory Steps(const BodySolver& solver, uint32_t* most_linear = nullptr) const {
    return HungBar::Steps(solver, kSteps, most_linear);
  }

  Trajectory Right() const {
    reference::EulerSettings settings = {
        .dt_s = double(kDt), .gravity = {0.0, double(WorldDesc().gravity.y), 0.0}, .pinned = pins};
    reference::ImplicitEuler euler(reference::ElasticBody(shape.asset()), settings);
    Trajectory out(euler.x());
    for (int step = 0; step < kSteps; ++step) {
      REQUIRE(euler.Step());
      out.Add(euler.x());
    }
    return out;
  }

  static constexpr int kSteps = 40;
};

double EnergyOf(const World& world, BodyId id) {
  const BodyMoments moments = MomentsOf(world, id);
  return moments.kinetic_j + moments.elastic_j;
}

TEST_CASE("Converged implicit steps are those of the reference", "[long]") {
  const double young = GENERATE(1.0e5, 1.0e6, 1.0e8), poisson = GENERATE(0.0, 0.33, 0.46);
  const auto differential =
      GENERATE(StressDifferential::kExact, StressDifferential::kConstantRotation,
               StressDifferential::kWarped, StressDifferential::kHybrid);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  const Bar bar(3, young, poisson);
  const Trajectory right = bar.Right();
  ImplicitSettings settings = With(differential);
  double most = 1e-3;
  if (differential == StressDifferential::kConstantRotation) {
    settings.newton_iterations = 64;
    // It converges slowly where bodies are stiff: 0.016 after 20 iterations, 0.0055 after 64.
    if (young > 1.0e7) most = 0.01;
  }
  const Trajectory measured = bar.Steps(ImplicitSolver(settings));
  CAPTURE(young, poisson, static_cast<int>(differential));
  CHECK(reference::TrajectoryError(measured, right) < most);
}

TEST_CASE("Eight iterations are enough, and few iterations come nearer with more of them") {
  const double poisson = GENERATE(0.33, 0.45);
  const Bar bar(5, 3.0e5, poisson);
  const Trajectory right = bar.Right();
  const auto error_of = [&](int iterations) {
    const ImplicitSettings settings = {.linear_iterations = iterations};
    return reference::TrajectoryError(bar.Steps(ImplicitSolver(settings)), right);
  };
  const double two = error_of(2), eight = error_of(8);
  CAPTURE(poisson, two, eight);
  CHECK(eight < 0.01);
  CHECK(eight < two);
}

TEST_CASE("Splitting with 64 outer iterations meets the implicit solver") {
  const Bar bar(7, 1.0e6, 0.33);
  const Trajectory implicit = bar.Steps(ImplicitSolver(kConverged));
  const Trajectory splitting = bar.Steps(SplittingSolver({.outer_iterations = 64}));
  CHECK(reference::TrajectoryError(splitting, implicit) < 1e-3);
}

TEST_CASE("The factor needs fewer iterations than Jacobi's blocks, and both give the same step") {
  const Bar bar(9, 1.0e6, 0.33);
  ImplicitSettings settings = {.newton_iterations = 1, .linear_iterations = 5000};
  uint32_t by_factor = 0, by_jacobi = 0;
  const Trajectory factor = bar.Steps(ImplicitSolver(settings), &by_factor);
  settings.preconditioner = Preconditioner::kJacobi;
  const Trajectory jacobi = bar.Steps(ImplicitSolver(settings), &by_jacobi);
  CHECK(reference::TrajectoryError(jacobi, factor) < 1e-3);
  CAPTURE(by_factor, by_jacobi);
  CHECK(by_factor < by_jacobi);
}

TEST_CASE("Implicit steps gain no energy from 1e3 to 1e9 Pa, and in steps of 0.1 to 33 ms") {
  const float dt = GENERATE(as<float>{}, kLeastTimeStep, 1.0e-3f, 0.033f);
  const float young = GENERATE(1.0e3f, 1.0e6f, 1.0e9f), poisson = GENERATE(0.3f, 0.49f, 0.499f);
  const bool converges = GENERATE(true, false);
  const double size = GENERATE(0.01, 0.12);  // the latter turns tets inside out
  // Tets that start inside out have several minima if they are nearly incompressible; which one a
  // step finds does not depend on the energy at its start.
  if (size > 0.1 && poisson > 0.4f) return;
  const float away = GENERATE(0.0f, 1.0e4f);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  Random random(11);
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1, 0.09, 11), {1.0e5, 0.3, 1000.0}, double(kDt));
  World world({.gravity = {}, .sleep = {.speed = 0.0f}});
  const BodySolver solver = ImplicitSolver(converges ? kConverged : ImplicitSettings());
  BodyDesc desc = {.pose = {.position = {away, 0.0f, -away}},
                   .material = {.young = young, .poisson = poisson},
                   .solver = &solver};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  for (Vec3& node : x) node = node + ToVec3(random.Vector(size));
  REQUIRE(world.SetNodePositions(id, x).ok());
  const double start = EnergyOf(world, id);
  for (int step = 0; step < 20; ++step) {
    CAPTURE(dt, young, poisson, converges, size, away, step);
    REQUIRE((StepWorld(&world, dt) & kStepBodyFrozen) == 0);
    const double now = EnergyOf(world, id);
    REQUIRE(std::isfinite(now));
    REQUIRE(now <= 1.001 * start);
  }
}

TEST_CASE("A free implicit body keeps its momenta") {
  const bool has_clusters = GENERATE(true, false);
  const ShapeAsset shape(TetBox(6, 2, 2, 0.1, 0.09, 13), {1.0e6, 0.33, 1000.0}, double(kDt),
                         has_clusters ? std::optional<uint32_t>() : 0u);
  World world({.gravity = {}, .sleep = {.speed = 0.0f}});
  const BodySolver solver = ImplicitSolver(has_clusters ? ImplicitSettings() : kConverged);
  BodyDesc desc = {
      .velocity = {1.0f, 2.0f, 3.0f}, .angular_velocity = {0.5f, -1.0f, 2.0f}, .solver = &solver};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  const BodyMoments start = MomentsOf(world, id);
  for (int step = 0; step < 100; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  const BodyMoments end = MomentsOf(world, id);
  const auto vector = [](const double(&v)[3]) { return Eigen::Vector3d(v[0], v[1], v[2]); };
  const Eigen::Vector3d p = vector(start.linear_momentum), L = vector(start.angular_momentum);
  CAPTURE(has_clusters);
  CHECK((vector(end.linear_momentum) - p).norm() < 1e-4 * p.norm());
  // Backward Euler loses (omega dt)^2 of the angular momentum in a step, 5% in all.
  const Eigen::Vector3d left = vector(end.angular_momentum);
  CHECK(left.norm() < (1.0 + 1e-3) * L.norm());
  CHECK(left.norm() > 0.9 * L.norm());
  CHECK((left.normalized() - L.normalized()).norm() < 0.02);
}

TEST_CASE("An implicit body pinned at its rest pose stays there", "[long]") {  // [Rio 6]
  const Bar bar(15, 1.0e6, 0.4);
  World world({.gravity = {}, .sleep = {.speed = 0.0f}});
  const BodySolver solver = ImplicitSolver();
  BodyDesc desc = {.pinned_nodes = bar.pins, .solver = &solver};
  const BodyId id = AddBody(&world, bar.shape.asset(), desc);
  for (int step = 0; step < 10000; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  const Points moved =
      ToEigen(PositionsOf(world, id, bar.shape.num_nodes())) - ToEigen(bar.shape.rest());
  CHECK(moved.cwiseAbs().maxCoeff() < 1e-6);
}

TEST_CASE("An implicit body lands on a plane, rests there and weighs what it weighs") {
  const double poisson = GENERATE(0.33, 0.49);
  const ShapeAsset shape(TetBox(3, 3, 3, 0.1), {1.0e5, poisson, 1000.0}, double(kDt));
  World world;
  const ColliderId plane = AddPlane(&world, {});
  const BodySolver solver = ImplicitSolver();
  BodyDesc desc = {
      .pose = {.position = {0.0f, 0.3f, 0.0f}}, .material = {.damping = 0.02f}, .solver = &solver};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  const BodyMoments start = MomentsOf(world, id);
  const double weight = 9.81 * start.mass, most = EnergyOf(world, id) + weight * start.centre[1];
  bool is_implicit = true, has_touched = false;
  double mean = 0.0;
  for (int step = 0; step < 240; ++step) {
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    is_implicit = is_implicit && (world.IsAsleep(id) || world.stats().linear_iterations > 0);
    has_touched = has_touched || world.stats().contacts > 0;
    CAPTURE(poisson, step);
    REQUIRE(EnergyOf(world, id) + weight * MomentsOf(world, id).centre[1] < 1.01 * most);
    if (step < 140) continue;
    Reaction reaction;
    REQUIRE(world.ColliderReaction(plane, &reaction).ok());
    mean -= double(reaction.force.y) / 100.0;
  }
  CHECK(is_implicit);
  CHECK(has_touched);
  CHECK(mean == Approx(weight).epsilon(0.01));
  CHECK(world.stats().max_speed < 2e-3f);
  for (const Vec3& x : PositionsOf(world, id, shape.num_nodes())) CHECK(x.y > -1e-3f);
}

TEST_CASE("Clusters make eight iterations enough for a long body") {
  const auto swing = [](uint32_t clusters, const ImplicitSettings& settings) {
    const ShapeAsset shape(TetBox(24, 2, 2, 0.1, 0.09, 29), {1.0e6, 0.33, 1000.0}, double(kDt),
                           clusters);
    std::vector<uint32_t> pins;
    const std::vector<Vec3> rest = shape.rest();
    for (uint32_t i = 0; i < rest.size(); ++i) {
      if (rest[i].x < 0.05f) pins.push_back(i);
    }
    World world;
    const BodySolver solver = ImplicitSolver(settings);
    const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins, .solver = &solver});
    Trajectory out(ToEigen(rest));
    for (int step = 0; step < 60; ++step) {
      StepWorld(&world, kDt);
      out.Add(ToEigen(PositionsOf(world, id, rest.size())));
    }
    return out;
  };
  const Trajectory right = swing(0, kConverged);
  const double with = reference::TrajectoryError(swing(12, {}), right);
  const double without = reference::TrajectoryError(swing(0, {}), right);
  CAPTURE(with, without);
  CHECK(with < 0.01);
  CHECK(with < 0.2 * without);
}

TEST_CASE("The line search shortens Newton steps that overshoot") {
  const auto count = [](bool line_search) {
    Random random(31);
    const ShapeAsset shape(TetBox(2, 2, 1, 0.1, 0.09, 31), {1.0e6, 0.45, 1000.0}, double(kDt), 0u);
    World world;
    const BodySolver solver =
        ImplicitSolver({.linear_iterations = 200, .line_search = line_search});
    const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
    std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
    for (Vec3& node : x) node = node * 0.1f + ToVec3(random.Vector(0.01));
    REQUIRE(world.SetNodePositions(id, x).ok());
    uint32_t sum = 0;
    for (int step = 0; step < 10; ++step) {
      StepWorld(&world, kDt);
      sum += world.stats().overshoots;
    }
    return sum;
  };
  CHECK(count(true) > 0);
  CHECK(count(false) == 0);
}

TEST_CASE("Damping, drag and moving pins work with the implicit solver") {
  const Bar bar(17, 1.0e5, 0.33);
  const auto run = [&](float damping, float drag, int steps) {
    World world;
    const BodySolver solver = ImplicitSolver({.mass_damping = drag});
    BodyDesc desc = {.material = {.damping = damping}, .pinned_nodes = bar.pins, .solver = &solver};
    const BodyId id = AddBody(&world, bar.shape.asset(), desc);
    for (int step = 0; step < steps; ++step) StepWorld(&world, kDt);
    return MomentsOf(world, id).kinetic_j;
  };
  const double undamped = run(0.0f, 0.0f, 100);
  CHECK(run(0.1f, 0.0f, 100) < 0.2 * undamped);
  CHECK(run(0.0f, 20.0f, 100) < 0.2 * undamped);

  World world;
  const BodySolver solver = ImplicitSolver(kConverged);
  BodyDesc desc = {.pinned_nodes = bar.pins, .solver = &solver};
  const BodyId id = AddBody(&world, bar.shape.asset(), desc);
  reference::EulerSettings settings = {.dt_s = double(kDt),
                                       .gravity = {0.0, double(WorldDesc().gravity.y), 0.0},
                                       .pinned = bar.pins};
  reference::ImplicitEuler euler(reference::ElasticBody(bar.shape.asset()), settings);
  const std::vector<Vec3> rest = bar.shape.rest();
  Trajectory right(euler.x()), measured(euler.x());
  for (int step = 1; step <= 40; ++step) {
    const Vec3 shift = {0.0f, 0.002f * static_cast<float>(step), 0.0f};
    std::vector<Vec3> targets;
    Points columns = euler.x();
    for (const uint32_t pin : bar.pins) {
      targets.push_back(rest[pin] + shift);
      columns.col(pin) = ToEigen(targets.back());
    }
    REQUIRE(world.MovePins(id, bar.pins, targets).ok());
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    euler.MovePins(columns);
    REQUIRE(euler.Step());
    right.Add(euler.x());
    measured.Add(ToEigen(PositionsOf(world, id, rest.size())));
  }
  CHECK(reference::TrajectoryError(measured, right) < 1e-3);
}

TEST_CASE("Where the exact differential is not positive, the hybrid one replaces it") {
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1, 0.09, 19), {1.0e6, 0.45, 1000.0}, double(kDt));
  World world;
  const BodySolver solver = ImplicitSolver(With(StressDifferential::kExact, {}));
  const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
  std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  for (Vec3& node : x) node = node * 0.4f;  // buckles: the compressed tets want to turn
  REQUIRE(world.SetNodePositions(id, x).ok());
  StepWorld(&world, 10.0f * kDt);
  CHECK(world.stats().newton_fallbacks > 0);
}

TEST_CASE("A body changes its solver, and its state names it") {
  const Bar bar(21, 3.0e5, 0.33);
  WorldDesc of_world = {.sleep = {.speed = 0.0f}};
  World world(of_world);
  BodyDesc desc = {.pinned_nodes = bar.pins};
  std::vector<BodyId> ids;
  for (int i = 0; i < 7; ++i) {  // a crowd
    ids.push_back(AddBody(&world, bar.shape.asset(), desc));
  }
  for (int step = 0; step < 5; ++step) StepWorld(&world, kDt);
  CHECK(world.stats().linear_iterations == 0);
  const BodySolver solver =
      ImplicitSolver({.newton_iterations = 2, .linear_iterations = 5, .mass_damping = 0.5f});
  REQUIRE(world.SetSolver(ids[2], solver).ok());
  BodySolver got;
  REQUIRE(world.GetSolver(ids[2], &got).ok());
  CHECK(got.method == &kImplicitMethod);
  CHECK(got.implicit == solver.implicit);
  for (int step = 0; step < 5; ++step) StepWorld(&world, kDt);
  CHECK(world.stats().linear_iterations == 10);

  const std::vector<std::byte> state = SavedState(world);
  const Asset* const assets[] = {&bar.shape.asset()};
  const SolverMethod* const solvers[] = {&kImplicitMethod};
  World other(of_world);
  CHECK(other.LoadState(state, assets).code == StatusCode::kMismatch);
  REQUIRE(other.LoadState(state, assets, solvers).ok());
  REQUIRE(other.GetSolver(ids[2], &got).ok());
  CHECK(got.implicit == solver.implicit);
  REQUIRE(world.SetSolver(ids[2], SplittingSolver()).ok());
  StepWorld(&world, kDt);
  CHECK(world.stats().linear_iterations == 0);
}

TEST_CASE("Settings of the implicit solver out of range are refused") {
  const Bar bar(25, 3.0e5, 0.33);
  World world;
  const auto code_of = [&](const ImplicitSettings& settings) {
    const BodySolver solver = ImplicitSolver(settings);
    BodyDesc desc = {.solver = &solver};
    BodyId id;
    return world.AddBody(bar.shape.asset(), desc, &id).code;
  };
  CHECK(code_of({}) == StatusCode::kOk);
  CHECK(code_of({.newton_iterations = -1}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.linear_iterations = -1}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.linear_iterations = 10001}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.newton_tolerance = 1.0f}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.linear_tolerance = std::nanf("")}) == StatusCode::kInvalidArgument);
  CHECK(code_of({.differential = static_cast<StressDifferential>(4)}) ==
        StatusCode::kInvalidArgument);
  CHECK(code_of({.preconditioner = static_cast<Preconditioner>(3)}) ==
        StatusCode::kInvalidArgument);
  CHECK(code_of({.mass_damping = -1.0f}) == StatusCode::kInvalidArgument);
}

}  // namespace implicit_solver_test
