// SPDX-License-Identifier: MIT
// Steps of the implicit solver, on the swinging arms of swinging_arm.h: with eight iterations of
// conjugate gradients, in turn with the default splitting step; to a residual of 1e-4; with the
// exact differential, in turn with the hybrid one.
// Source: none.
#include "plush/format/tet_block.h"
#include "plush/solver.h"
#include "plush/world.h"

#include "bench/bench_models.h"
#include "bench/reference_motion.h"
#include "bench/step_clock.h"
#include "bench/swinging_arm.h"
#include "reference/trajectory.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <string>

namespace plush::bench {
namespace {

constexpr float kDt = 0.01f;
constexpr Arm kArms[] = {kArm4k, {"arm_16k", "arm_16k", 494}, {"arm_55k", "arm_55k", 1075}};
constexpr ImplicitSettings kConverged = {.linear_iterations = 10000};

const SwingingArm& BakedArm(const std::string& path, const Arm& which) {
  static std::map<std::string, SwingingArm> baked;
  auto found = baked.find(which.name);
  if (found == baked.end()) found = baked.emplace(which.name, MakeArm(path, which)).first;
  return found->second;
}

BodyId Hang(const SwingingArm& arm, const BodySolver& solver, float poisson, World* world) {
  BodyDesc desc = arm.Desc();
  desc.solver = &solver;
  desc.material.poisson = poisson;
  BodyId id;
  if (!world->AddBody(arm.asset, desc, &id).ok()) std::abort();
  return id;
}

// Times steps of a body whose solver this is, in turn with default ones, after its first swing.
void TimeSteps(benchmark::State& state, const SwingingArm& arm, const BodySolver& solver,
               const reference::Trajectory* right) {
  World world(SwingingWorld()), other(SwingingWorld());
  const reference::Trajectory measured =
      FirstSteps(arm, kDt, &world, Hang(arm, solver, -1.0f, &world));
  Hang(arm, SplittingSolver(), -1.0f, &other);
  state.counters["sag_m"] = reference::LowestY(measured);
  if (right != nullptr) {
    const MotionErrors errors = CompareMotion(arm, measured, *right);
    state.counters["trajectory_error"] = errors.trajectory;
    state.counters["half_swing_step"] = static_cast<double>(errors.half_swing);
    state.counters["half_swing_reference"] = static_cast<double>(errors.right_half_swing);
    state.counters["sag_error"] = errors.sag;
  }
  StepClock clock;
  double iterations = 0.0, elements = 0.0, solve = 0.0;
  for (auto _ : state) {
    if (clock.IsTurnOfOther()) {
      state.PauseTiming();
      for (int k = 0; k < StepClock::kTurn; ++k) clock.TimeOther(&other, kDt);
      state.ResumeTiming();
    }
    clock.Time(&world, kDt);
    iterations += static_cast<double>(world.stats().linear_iterations);
    elements += double(world.stats().phase_s[static_cast<size_t>(Phase::kElements)]);
    solve += double(world.stats().phase_s[static_cast<size_t>(Phase::kSolve)]);
  }
  const double steps = static_cast<double>(state.iterations());
  state.counters["median_ms"] = 1.0e3 * clock.median();
  state.counters["default_median_ms"] = 1.0e3 * clock.median_of_other();
  state.counters["iterations"] = iterations / steps;
  state.counters["elements_us"] = 1.0e6 * elements / steps;
  state.counters["solve_us"] = 1.0e6 * solve / steps;
  state.counters["tets"] = static_cast<double>(arm.asset.simulation().tets.size());
}

void StepShort(benchmark::State& state, const std::string& path, const Arm& which,
               const ReferenceFolder& references) {
  const SwingingArm& arm = BakedArm(path, which);
  const std::string name = std::string("step_implicit/") + which.name;
  TimeSteps(state, arm, ImplicitSolver(), references.Find(arm, kDt, name));
}

void StepConverged(benchmark::State& state, const std::string& path, const Arm& which,
                   const ReferenceFolder& references) {
  const SwingingArm& arm = BakedArm(path, which);
  const std::string name = std::string("step_implicit/") + which.name + "_converged";
  TimeSteps(state, arm, ImplicitSolver(kConverged), references.Find(arm, kDt, name));
}

// What a solver without a factor does: 50 iterations with Jacobi's blocks.
void StepJacobi(benchmark::State& state, const std::string& path, const Arm& which,
                const ReferenceFolder& references) {
  const SwingingArm& arm = BakedArm(path, which);
  const std::string name = std::string("step_implicit/") + which.name + "_jacobi_50";
  TimeSteps(state, arm,
            ImplicitSolver({.linear_iterations = 50,
                            .linear_tolerance = 0.0f,
                            .preconditioner = Preconditioner::kJacobi}),
            references.Find(arm, kDt, name));
}

// Mean iterations of the first 30 steps to a residual of 1e-4.
void Iterations(benchmark::State& state, const std::string& path, float poisson) {
  const SwingingArm& arm = BakedArm(path, kArm4k);
  const auto mean_of = [&](Preconditioner preconditioner) {
    ImplicitSettings settings = kConverged;
    settings.preconditioner = preconditioner;
    World world(SwingingWorld());
    Hang(arm, ImplicitSolver(settings), poisson, &world);
    constexpr int kSteps = 30;
    double sum = 0.0;
    for (int step = 0; step < kSteps; ++step) {
      if (!world.Step(kDt).ok()) std::abort();
      sum += static_cast<double>(world.stats().linear_iterations);
    }
    return sum / kSteps;
  };
  for (auto _ : state) {
    const double factor = mean_of(Preconditioner::kFactor);
    const double jacobi = mean_of(Preconditioner::kJacobi);
    state.counters["factor"] = factor;
    state.counters["jacobi"] = jacobi;
    state.counters["share"] = factor / jacobi;
  }
}

// Steps with the exact differential in turn with those with the hybrid one.
void StepExact(benchmark::State& state, const std::string& path, const Arm& which) {
  const SwingingArm& arm = BakedArm(path, which);
  const auto of = [](StressDifferential differential) {
    return ImplicitSolver({.differential = differential});
  };
  World exact(SwingingWorld()), hybrid(SwingingWorld());
  FirstSteps(arm, kDt, &exact, Hang(arm, of(StressDifferential::kExact), -1.0f, &exact));
  FirstSteps(arm, kDt, &hybrid, Hang(arm, of(StressDifferential::kHybrid), -1.0f, &hybrid));
  StepClock clock;
  for (auto _ : state) {
    if (clock.IsTurnOfOther()) {
      state.PauseTiming();
      for (int k = 0; k < StepClock::kTurn; ++k) clock.TimeOther(&hybrid, kDt);
      state.ResumeTiming();
    }
    clock.Time(&exact, kDt);
  }
  state.counters["median_ms"] = 1.0e3 * clock.median();
  state.counters["hybrid_median_ms"] = 1.0e3 * clock.median_of_other();
  state.counters["ratio"] = clock.median() / clock.median_of_other();
}

}  // namespace

void AddImplicitCases(const ModelFolder& models, const ReferenceFolder& references) {
  for (const Arm& arm : kArms) {
    const std::string name = std::string("step_implicit/") + arm.name;
    const std::string path = models.Find(std::string("tets/") + arm.model + ".node", name);
    if (path.empty()) continue;
    benchmark::RegisterBenchmark(name.c_str(), StepShort, path, arm, references)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark((name + "_converged").c_str(), StepConverged, path, arm,
                                 references)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark((name + "_jacobi_50").c_str(), StepJacobi, path, arm, references)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark((name + "_exact").c_str(), StepExact, path, arm)
        ->Unit(benchmark::kMillisecond);
    if (std::string(arm.name) != kArm4k.name) continue;
    for (const int percent : {33, 45, 49}) {
      const std::string of = name + "_iterations_nu_0" + std::to_string(percent);
      benchmark::RegisterBenchmark(of.c_str(), Iterations, path,
                                   0.01f * static_cast<float>(percent))
          ->Iterations(1);
    }
  }
}

}  // namespace plush::bench
