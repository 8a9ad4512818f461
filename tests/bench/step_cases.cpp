// SPDX-License-Identifier: MIT
// Steps of a body that hangs by one hand and swings, see swinging_arm.h.

#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "bench/bench_models.h"
#include "bench/body_memory.h"
#include "bench/machine_limits.h"
#include "bench/reference_motion.h"
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
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace plush::bench {
namespace {

constexpr float kDt = 0.01f;
constexpr Arm kArms[] = {kArm4k,
                         {"arm_16k", "arm_16k", 494},
                         {"arm_55k", "arm_55k", 1075},
                         {"arm_170k", "arm_55k", 1075, 170000},
                         {"arm_4k_soft", "arm_4k", 811, 0, 1.0e5},
                         {"arm_4k_stiff", "arm_4k", 811, 0, 1.0e7}};

// As samples/run.sh bakes them, and without damping.
constexpr Toy kToys[] = {
    {"bear_by_ear", "bear.glb", 400, 4.0e4, 0.15, false, {0.13, 0.52, -0.004}},
    {"bear_by_ear_undamped", "bear.glb", 400, 4.0e4, 0.0, false, {0.13, 0.52, -0.004}},
    {"octopus_by_arm", "octopus.glb", 900, 6.0e4, 0.15, true, {}},
    {"octopus_by_arm_undamped", "octopus.glb", 900, 6.0e4, 0.0, true, {}}};

// The first 220 steps, in rest coordinates.
reference::Trajectory FirstSteps(const SwingingArm& arm, World* world, BodyId id) {
  const BodyDesc desc = arm.Desc();
  std::vector<Vec3> nodes(arm.asset.simulation().nodes.size());
  if (!world->NodePositions(id, 1.0f, nodes).ok()) std::abort();
  reference::Trajectory out(InRest(desc, nodes));
  for (int step = 0; step < kMotionSteps; ++step) {
    if (!world->Step(kDt).ok()) std::abort();
    if (!world->NodePositions(id, 1.0f, nodes).ok()) std::abort();
    out.Add(InRest(desc, nodes));
  }
  return out;
}

// How right the motion of a body alone is.
void CountMotion(const SwingingArm& arm, const reference::Trajectory& measured,
                 const reference::Trajectory& right, benchmark::State* state) {
  const MotionErrors errors = CompareMotion(arm, measured, right);
  state->counters["trajectory_error"] = errors.trajectory;
  state->counters["half_swing_step"] = static_cast<double>(errors.half_swing);
  state->counters["half_swing_reference"] = static_cast<double>(errors.right_half_swing);
  state->counters["sag_error"] = errors.sag;
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

// `bodies` identical bodies of one asset. Counts their motion if there is a trajectory `right`.
void StepBodies(benchmark::State& state, const SwingingArm& arm, size_t bodies, uint32_t threads,
                const reference::Trajectory* right) {
  tools::JobPool pool(threads);
  WorldDesc desc = SwingingWorld();
  desc.jobs = pool.job_system();
  World world(desc);
  std::vector<BodyId> ids(bodies);
  for (BodyId& id : ids) {
    if (!world.AddBody(arm.asset, arm.Desc(), &id).ok()) std::abort();
  }
  const reference::Trajectory motion = FirstSteps(arm, &world, ids[0]);
  // Shows whether the material asked for is the one simulated.
  state.counters["sag_m"] = reference::LowestY(motion);
  if (right != nullptr) CountMotion(arm, motion, *right, &state);
  PhaseTimes times;
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) {
    if (!world.Step(kDt).ok()) state.SkipWithError("no step");
    times.Add(world.stats());
  }
  const std::chrono::duration<double, std::nano> ns = std::chrono::steady_clock::now() - start;
  const double steps = static_cast<double>(state.iterations());
  const double tets = static_cast<double>(bodies * arm.asset.simulation().tets.size());
  state.counters["ns_per_tet"] = ns.count() / steps / tets;
  state.counters["tets"] = tets;
  state.counters["pinned"] = static_cast<double>(arm.pinned.size());
  CountPhases(times, steps, WorkOfStep(arm.asset, bodies, desc.solver.volume_sweeps), &state);
  CountMemory(arm, desc, bodies, &state);
}

void Step(benchmark::State& state, const std::string& path, const Arm& which,
          const ReferenceFolder& references) {
  const SwingingArm arm = MakeArm(path, which);
  StepBodies(state, arm, 1, 1, references.Find(arm, kDt, std::string("step/") + which.name));
}

void StepToy(benchmark::State& state, const Toy& toy, const ReferenceFolder& references) {
  // The library calls this several times; the bake takes a second.
  static std::map<std::string, SwingingArm> baked;
  auto found = baked.find(toy.name);
  if (found == baked.end()) found = baked.emplace(toy.name, MakeToy(toy)).first;
  const SwingingArm& arm = found->second;
  StepBodies(state, arm, 1, 1, references.Find(arm, kDt, std::string("step/") + toy.name));
}

void StepCrowd(benchmark::State& state, const std::string& path, uint32_t threads) {
  StepBodies(state, MakeArm(path, kArm4k), kArmsOfCrowd, threads, nullptr);
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
  FirstSteps(arm, &still, id);
  if (!moving.AddBody(arm.asset, arm.Desc(), &id).ok()) std::abort();
  FirstSteps(arm, &moving, id);
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
    desc.solver.max_substeps = 1;
    World world(desc);
    BodyId id;
    if (!world.AddBody(arm.asset, arm.Desc(), &id).ok()) std::abort();
    state.ResumeTiming();
    if (!world.PrepareTimeStep(0.0123f).ok()) state.SkipWithError("no factor");
  }
  state.counters["factor_values"] = static_cast<double>(arm.asset.factor().values.size());
}

}  // namespace

void AddStepCases(const ModelFolder& models, const ReferenceFolder& references) {
  const auto add = [&models](const std::string& name, const Arm& arm, auto function,
                             auto... more) -> benchmark::internal::Benchmark* {
    const std::string path = models.Find(std::string("tets/") + arm.model + ".node", name);
    if (path.empty()) return nullptr;
    return benchmark::RegisterBenchmark(name.c_str(), function, path, more...)
        ->Unit(benchmark::kMillisecond);
  };
  for (const Arm& arm : kArms) add(std::string("step/") + arm.name, arm, Step, arm, references);
  for (const Toy& toy : kToys) {
    benchmark::RegisterBenchmark((std::string("step/") + toy.name).c_str(), StepToy, toy,
                                 references)
        ->Unit(benchmark::kMillisecond);
  }
  add("crowd/arm_4k_x105", kArm4k, StepCrowd, 1u);
  auto* threaded = add("crowd/arm_4k_x105_two_threads", kArm4k, StepCrowd, 2u);
  if (threaded != nullptr) threaded->UseRealTime();
  auto* pins = add("step/arm_4k_moving_pins", kArm4k, StepMovingPins);
  if (pins != nullptr) pins->UseManualTime();
  add("refactor/arm_4k", kArm4k, Refactor);
}

}  // namespace plush::bench
