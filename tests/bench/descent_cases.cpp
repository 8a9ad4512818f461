// SPDX-License-Identifier: MIT
// Vertex block descent with as many iterations as it needs to move as rightly as the default step.
// Source: none.
#include "plush/world.h"

#include "bench/bench_models.h"
#include "bench/reference_motion.h"
#include "bench/step_clock.h"
#include "bench/swinging_arm.h"
#include "bench/vbd.h"
#include "reference/trajectory.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace plush::bench {
namespace {

constexpr float kDt = 0.01f;
// Of 0.9, 0.99, 0.998, 0.999, 0.9995 and 0.9998, the one that needs the fewest iterations for this
// body; with 0.9998 it explodes.
constexpr float kRadius = 0.9995f;
constexpr int kMostIterations = 12800;

DescentSettings SettingsOf(const SwingingArm& arm, int iterations) {
  return DescentSettings{.dt_s = double{kDt},
                         .gravity = {0.0, double{WorldDesc().gravity.y}, 0.0},
                         .pinned = arm.pinned,
                         .iterations = iterations,
                         .radius = kRadius};
}

double ErrorOf(const SwingingArm& arm, int iterations, const reference::Trajectory& right) {
  const reference::ElasticBody body(arm.asset);
  VertexBlockDescent descent(body, SettingsOf(arm, iterations));
  reference::Trajectory measured(body.rest);
  for (int step = 0; step < kMotionSteps; ++step) {
    descent.Step();
    measured.Add(descent.x());
  }
  const double error = reference::TrajectoryError(measured, right);
  std::fprintf(stderr, "peer/vbd: %d iterations, trajectory error %.4f\n", iterations, error);
  return error;
}

// Iterations, to about 3%, from which on the error is at most `wanted`; `error` gets theirs. Below
// them it does not always fall: 0.042 for 100 iterations, 0.068 for 130.
int FindIterations(const SwingingArm& arm, double wanted, const reference::Trajectory& right,
                   double* error) {
  int few = 0, enough = 50;
  // Errors are NaN if it explodes.
  while (!((*error = ErrorOf(arm, enough, right)) <= wanted) && enough < kMostIterations) {
    few = enough;
    enough *= 2;
  }
  while (few > 0 && enough - few > enough / 32) {
    const int middle = (few + enough) / 2;
    const double at_middle = ErrorOf(arm, middle, right);
    if (at_middle <= wanted) {
      enough = middle;
      *error = at_middle;
    } else {
      few = middle;
    }
  }
  return enough;
}

void Descent(benchmark::State& state, const std::string& path, const ReferenceFolder& references) {
  const SwingingArm arm = MakeArm(path, kArm4k);
  const reference::Trajectory* right = references.Find(arm, kDt, "peer/vbd");
  World world(SwingingWorld());
  BodyId id;
  if (right == nullptr || !world.AddBody(arm.asset, arm.Desc(), &id).ok()) std::abort();
  const double wanted = reference::TrajectoryError(FirstSteps(arm, kDt, &world, id), *right);
  double error = 0.0;
  const int iterations = FindIterations(arm, wanted, *right, &error);
  VertexBlockDescent descent(reference::ElasticBody(arm.asset), SettingsOf(arm, iterations));
  StepClock clock;
  for (auto _ : state) {
    if (clock.IsTurnOfOther()) {
      state.PauseTiming();
      for (int k = 0; k < StepClock::kTurn; ++k) clock.TimeOther(&world, kDt);
      state.ResumeTiming();
    }
    clock.Time([&] { descent.Step(); });
  }
  state.counters["iterations_a_step"] = iterations;
  state.counters["us_an_iteration"] = 1.0e6 * clock.median() / iterations;
  state.counters["trajectory_error"] = error;
  state.counters["median_ms"] = 1.0e3 * clock.median();
  state.counters["plush_trajectory_error"] = wanted;
  state.counters["plush_median_ms"] = 1.0e3 * clock.median_of_other();
  state.counters["times_plush"] = clock.median() / clock.median_of_other();
}

}  // namespace

void AddDescentCases(const ModelFolder& models, const ReferenceFolder& trajectories) {
  const std::string path = models.Find(std::string("tets/") + kArm4k.model + ".node", "peer/vbd");
  if (path.empty()) return;
  benchmark::RegisterBenchmark("peer/vbd", Descent, path, trajectories)
      ->Iterations(kMotionSteps)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace plush::bench
