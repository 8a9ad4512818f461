// SPDX-License-Identifier: MIT
// Steps of a body that hangs by one hand and swings, see swinging_arm.h. The step of [Kug] takes
// turns with the default one, so that both see the same machine.
// Source: none.

#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "bench/bench_models.h"
#include "bench/body_memory.h"
#include "bench/machine_limits.h"
#include "bench/motion_curves.h"
#include "bench/reference_motion.h"
#include "bench/step_clock.h"
#include "bench/step_work.h"
#include "bench/swinging_arm.h"
#include "bench/thread_clock.h"
#include "reference/trajectory.h"
#include "report/asset_info.h"
#include "rest/elimination_order.h"
#include "simulate/scene_world.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace plush::bench {
namespace {

constexpr float kDt = kMotionDt;

// How right the motion of a body is, and that of the same body with [Kug]'s step.
void CountMotion(const SwingingArm& arm, const reference::Trajectory& measured,
                 const reference::Trajectory& kug, const reference::Trajectory& right,
                 benchmark::State* state) {
  const MotionErrors errors = CompareMotion(arm, measured, right);
  const MotionErrors kug_errors = CompareMotion(arm, kug, right);
  state->counters["trajectory_error"] = errors.trajectory;
  state->counters["half_swing_step"] = static_cast<double>(errors.half_swing);
  state->counters["half_swing_reference"] = static_cast<double>(errors.right_half_swing);
  state->counters["sag_error"] = errors.sag;
  state->counters["kug_trajectory_error"] = kug_errors.trajectory;
  state->counters["kug_half_swing_step"] = static_cast<double>(kug_errors.half_swing);
  state->counters["kug_sag_error"] = kug_errors.sag;
}

// Seconds of each phase, over all steps and threads.
struct PhaseTimes {
  double s[static_cast<size_t>(Phase::kCount)] = {};

  void Add(const StepStats& stats) {
    for (size_t k = 0; k < std::size(s); ++k) s[k] += double(stats.phase_s[k]);
  }
  double of(Phase phase) const { return s[static_cast<size_t>(phase)]; }
};

// Time of each phase of a step, and its share of the copies and multiplications one thread can do.
void CountPhases(const PhaseTimes& times, double steps, const StepWork& work,
                 benchmark::State* state) {
  const double copied = CopiedBytesPerSecond(static_cast<size_t>(work.footprint));
  const double multiplied = MultiplyAddsPerSecond();
  const auto count = [&](const std::string& name, Phase phase, const PhaseWork& of_phase) {
    const double seconds = times.of(phase) / steps;
    state->counters[name + "_us"] = 1.0e6 * seconds;
    if (seconds <= 0.0) return;
    state->counters[name + "_of_copy"] = of_phase.bytes / seconds / copied;
    if (of_phase.multiply_adds > 0.0) {
      state->counters[name + "_of_peak"] = of_phase.multiply_adds / seconds / multiplied;
    }
  };
  count("elements", Phase::kElements, work.elements);
  count("solve", Phase::kSolve, work.solve);
  count("volume", Phase::kVolume, work.volume);
  count("other", Phase::kOther, work.other);
  state->counters["step_bytes"] = work.bytes();
  state->counters["footprint_bytes"] = work.footprint;
  state->counters["copy_bytes_per_s"] = copied;
  state->counters["multiply_adds_per_s"] = multiplied;
}

// Entries of the lower triangle with diagonal and fill, without the zeros that supernodes add.
double FactorNonzeros(const SimulationView& s) {
  std::vector<std::array<uint32_t, 4>> tets;
  for (const Tet& tet : s.tets) tets.push_back({tet.a, tet.b, tet.c, tet.d});
  const uint32_t num_nodes = static_cast<uint32_t>(s.nodes.size());
  std::vector<uint32_t> order(num_nodes);
  std::iota(order.begin(), order.end(), 0u);
  const auto tree =
      tools::BuildEliminationTree(tools::BuildNodeGraph(num_nodes, tets), order, UINT64_MAX);
  return static_cast<double>(tree.value().nonzeros);
}

void CountMemory(const SwingingArm& arm, const WorldDesc& world, size_t bodies,
                 benchmark::State* state) {
  const double tets = static_cast<double>(arm.asset.simulation().tets.size());
  const BodyMemory memory = MeasureBodyMemory(arm.asset, arm.Desc(), world, bodies);
  state->counters["factor_nonzeros"] = FactorNonzeros(arm.asset.simulation());
  state->counters["factor_values"] = static_cast<double>(arm.asset.factor().values.size());
  state->counters["rest_bytes_per_tet"] = tools::RestBytesPerTet(arm.asset);
  state->counters["factors_bytes_per_tet"] = memory.shared / tets;
  state->counters["state_bytes_per_tet"] = memory.state / tets;
  state->counters["query_bytes_per_tet"] = memory.queries / tets;
  state->counters["plane_bytes_per_tet"] = memory.plane / tets;
}

// Adds equal bodies that hang. Returns the first one's first steps.
reference::Trajectory Hang(const SwingingArm& arm, size_t bodies,
                           const SplittingSettings& splitting, World* world) {
  BodyDesc desc = arm.Desc();
  desc.splitting = splitting;
  std::vector<BodyId> ids(bodies);
  for (BodyId& id : ids) {
    if (!world->AddBody(arm.asset, desc, &id).ok()) std::abort();
  }
  return FirstSteps(arm, kDt, world, ids[0]);
}

// What a step case measures against.
struct References {
  const ReferenceFolder& trajectories;
  const CurveFolder& curves;
};

// `bodies` identical bodies of one asset. The case's time is that of the default step.
void StepBodies(benchmark::State& state, const std::string& case_name, const SwingingArm& arm,
                size_t bodies, uint32_t threads, const References& references) {
  tools::JobPool pool(threads);
  WorldDesc desc = SwingingWorld();
  desc.jobs = pool.job_system();
  World world(desc), kug_world(desc);
  const reference::Trajectory measured = Hang(arm, bodies, {}, &world);
  const reference::Trajectory kug = Hang(arm, bodies, kKugStep, &kug_world);
  // Shows whether the material asked for is the one simulated.
  state.counters["sag_m"] = reference::LowestY(measured);
  const reference::Trajectory* right = references.trajectories.Find(arm, kDt, case_name);
  if (right != nullptr) {
    CountMotion(arm, measured, kug, *right, &state);
    references.curves.Write(case_name, arm, kDt, *right, kug, measured);
  }
  PhaseTimes times;
  StepClock clock(threads);
  for (auto _ : state) {
    if (clock.IsTurnOfOther()) {
      state.PauseTiming();
      for (int k = 0; k < StepClock::kTurn; ++k) clock.TimeOther(&kug_world, kDt);
      state.ResumeTiming();
    }
    clock.Time(&world, kDt);
    times.Add(world.stats());
  }
  const double steps = static_cast<double>(state.iterations());
  const double tets = static_cast<double>(bodies * arm.asset.simulation().tets.size());
  state.counters["median_ms"] = 1.0e3 * clock.median();
  state.counters["kug_median_ms"] = 1.0e3 * clock.median_of_other();
  state.counters["times_kug"] = clock.median() / clock.median_of_other();
  state.counters["ns_per_tet"] = 1.0e9 * clock.median() / tets;
  state.counters["tets"] = tets;
  state.counters["pinned"] = static_cast<double>(arm.pinned.size());
  state.counters["clusters"] = static_cast<double>(arm.asset.simulation().num_clusters);
  const auto iterations = static_cast<int>(world.stats().outer_iterations);
  const SplittingSettings splitting = {.outer_iterations = iterations};
  CountPhases(times, steps, WorkOfStep(arm.asset, arm.pinned, bodies, splitting), &state);
  CountMemory(arm, desc, bodies, &state);
}

// The library calls each case several times, but the bake takes seconds.
const SwingingArm& BakedArm(const std::string& path, const Arm& which) {
  static std::map<std::string, SwingingArm> baked;
  auto found = baked.find(which.name);
  if (found == baked.end()) found = baked.emplace(which.name, MakeArm(path, which)).first;
  return found->second;
}

void Step(benchmark::State& state, const std::string& path, const Arm& which,
          const References& references) {
  StepBodies(state, std::string("step/") + which.name, BakedArm(path, which), 1, 1, references);
}

void StepToy(benchmark::State& state, const Toy& toy, const References& references) {
  static std::map<std::string, SwingingArm> baked;
  auto found = baked.find(toy.name);
  if (found == baked.end()) found = baked.emplace(toy.name, MakeToy(toy)).first;
  StepBodies(state, std::string("step/") + toy.name, found->second, 1, 1, references);
}

void StepCrowd(benchmark::State& state, const std::string& path, const std::string& name,
               uint32_t threads, const References& references) {
  StepBodies(state, name, BakedArm(path, kArm4k), kArmsOfCrowd, threads, references);
}

// Steps in which 20 pins move on circles of 5 mm, once a second, in turn with steps of an equal
// body whose pins stay. The case's time is that of the former; it includes the call of MovePins.
void StepMovingPins(benchmark::State& state, const std::string& path) {
  constexpr size_t kMovingPins = 20;
  SwingingArm arm = MakeArm(path, kArm4k);
  arm.PinNearest(kMovingPins);
  World moving(SwingingWorld()), still(SwingingWorld());
  BodyId id;
  if (!still.AddBody(arm.asset, arm.Desc(), &id).ok()) std::abort();
  FirstSteps(arm, kDt, &still, id);
  if (!moving.AddBody(arm.asset, arm.Desc(), &id).ok()) std::abort();
  FirstSteps(arm, kDt, &moving, id);
  std::vector<Vec3> nodes(arm.asset.simulation().nodes.size()), targets(kMovingPins);
  if (!moving.NodePositions(id, 1.0f, nodes).ok()) std::abort();
  std::vector<double> ratios;
  float time = 0.0f;
  for (auto _ : state) {
    time += kDt;
    for (size_t i = 0; i < kMovingPins; ++i) {
      const Vec3& x = nodes[arm.pinned[i]];
      targets[i] = {x.x + 0.005f * std::sin(6.28f * time), x.y,
                    x.z + 0.005f * (1.0f - std::cos(6.28f * time))};
    }
    const double start = ThreadSeconds();
    if (!still.Step(kDt).ok()) state.SkipWithError("no step");
    const double middle = ThreadSeconds();
    if (!moving.MovePins(id, arm.pinned, targets).ok()) state.SkipWithError("no targets");
    if (!moving.Step(kDt).ok()) state.SkipWithError("no step");
    const double end = ThreadSeconds();
    state.SetIterationTime(end - middle);
    ratios.push_back((end - middle) / (middle - start));
  }
  state.counters["pinned"] = static_cast<double>(kMovingPins);
  state.counters["times_of_still"] = Median(ratios);
}

// One numeric factorisation, for a time step that was not baked.
void Refactor(benchmark::State& state, const std::string& path) {
  const SwingingArm arm = MakeArm(path, kArm4k);
  for (auto _ : state) {
    state.PauseTiming();
    WorldDesc desc = SwingingWorld();
    desc.contact.max_substeps = 1;
    World world(desc);
    BodyId id;
    if (!world.AddBody(arm.asset, arm.Desc(), &id).ok()) std::abort();
    state.ResumeTiming();
    if (!world.PrepareTimeStep(0.0123f).ok()) state.SkipWithError("no factor");
  }
  state.counters["factor_values"] = static_cast<double>(arm.asset.factor().values.size());
}

}  // namespace

void AddStepCases(const ModelFolder& models, const ReferenceFolder& trajectories,
                  const CurveFolder& curves) {
  const References references = {trajectories, curves};
  const auto add = [&models](const std::string& name, const Arm& arm, auto function,
                             auto... more) -> benchmark::internal::Benchmark* {
    const std::string path = models.Find(std::string("tets/") + arm.model + ".node", name);
    if (path.empty()) return nullptr;
    return benchmark::RegisterBenchmark(name.c_str(), function, path, more...)
        ->Unit(benchmark::kMillisecond);
  };
  for (const Arm& arm : kStepArms) add(std::string("step/") + arm.name, arm, Step, arm, references);
  for (const Toy& toy : kStepToys) {
    benchmark::RegisterBenchmark((std::string("step/") + toy.name).c_str(), StepToy, toy,
                                 references)
        ->Unit(benchmark::kMillisecond);
  }
  const std::string crowd = "crowd/arm_4k_x105", threaded = "crowd/arm_4k_x105_two_threads";
  add(crowd, kArm4k, StepCrowd, crowd, 1u, references);
  auto* two = add(threaded, kArm4k, StepCrowd, threaded, 2u, references);
  if (two != nullptr) two->UseRealTime();
  auto* pins = add("step/arm_4k_moving_pins", kArm4k, StepMovingPins);
  if (pins != nullptr) pins->UseManualTime();
  add("refactor/arm_4k", kArm4k, Refactor);
}

}  // namespace plush::bench
