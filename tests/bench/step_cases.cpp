// SPDX-License-Identifier: MIT
// Steps of a body that hangs by one hand and swings, see swinging_arm.h. The step of [Kug] takes
// turns with the default one, so that both see the same machine.
// Source: none.
#include "plush/asset.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"
#include "plush/splitting_settings.h"
#include "plush/step.h"
#include "plush/world.h"

#include "base/node_vec.h"
#include "bench/bench_models.h"
#include "bench/body_memory.h"
#include "bench/machine_limits.h"
#include "bench/motion_curves.h"
#include "bench/reference_motion.h"
#include "bench/step_clock.h"
#include "bench/swinging_arm.h"
#include "bench/thread_clock.h"
#include "body/crowd.h"
#include "elasticity/element_pass.h"
#include "reference/trajectory.h"
#include "report/asset_info.h"
#include "rest/elimination_order.h"
#include "simulate/scene_world.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace plush::bench {
namespace {

// Work of one phase of a step.
struct PhaseWork {
  double bytes = 0.0;          // read and written: each array once for each pass over it
  double multiply_adds = 0.0;  // floats multiplied and added; where only one of both is done, or
                               // a division, that counts as one, too
};

// Work of one step of undamped, pinned bodies, without planes and energies, with one Newton step
// for each rotation.
struct StepWork {
  PhaseWork elements, solve, volume, other;
  double footprint = 0.0;  // bytes of all that is read or written, each counted once

  double bytes() const { return elements.bytes + solve.bytes + volume.bytes + other.bytes; }
  StepWork& operator+=(const StepWork& more);
};

// Arithmetic of a tet, counted in the source. Elements: 36 for F, 133 for a Newton step of its
// rotation, 112 for the impulses and their sums at the nodes. Relaxation: of a multiplier. Volume:
// one correction.
constexpr double kElementArithmetic = 281.0, kRelaxationArithmetic = 26.0, kVolumeArithmetic = 87.0;

// Rows of a TetBlock that a pass reads, of 16 numbers each: nodes, Dm^-1, stiffness; and nodes,
// determinant, bulk.
constexpr double kRow = 4.0 * kBlockTets;
constexpr double kElementRows = (4 + 9 + 1) * kRow, kVolumeRows = (4 + 1 + 1) * kRow;

// What all steps read of an asset, and the arithmetic of one body.
struct Rest {
  double nodes, tets, blocks;
  double solve_bytes = 0.0;          // values and rows of a solve, both ways
  double solve_multiply_adds = 0.0;  // of L and D^-1 without padding
  double coarse_share = 0.0;         // of the blocks: those that the coarse level evaluates again
  double coarse_unknowns = 0.0, footprint = 0.0;
};

// Share of the blocks with a tet whose nodes lie in two clusters, or in one and in pins.
double CoarseShare(const SimulationView& s, std::span<const uint32_t> pinned) {
  constexpr int kPinned = -1;
  std::vector<int> places(s.clusters.begin(), s.clusters.end());
  for (const uint32_t node : pinned) places[node] = kPinned;
  places.push_back(kPinned);  // of the spare node of lanes without a tet
  size_t count = 0;
  for (const TetBlock& block : s.blocks) {
    bool resists = false;
    for (size_t lane = 0; lane < kBlockTets; ++lane) {
      for (size_t k = 1; k < 4; ++k) {
        resists |= places[block.nodes[k][lane]] != places[block.nodes[0][lane]];
      }
    }
    count += resists ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(s.blocks.size());
}

Rest MeasureRest(const Asset& asset, std::span<const uint32_t> pinned,
                 const SplittingSettings& splitting) {
  const SimulationView& s = asset.simulation();
  const FactorView& factor = asset.factor();
  Rest rest = {.nodes = static_cast<double>(s.nodes.size()),
               .tets = static_cast<double>(s.tets.size()),
               .blocks = static_cast<double>(s.blocks.size())};
  for (const Supernode& n : factor.supernodes) {
    const double below = static_cast<double>(BlockValues(n.num_rows, n.num_columns));
    const double diagonal = static_cast<double>(BlockValues(n.num_columns, n.num_columns));
    rest.solve_bytes += 4.0 * (2.0 * below + diagonal);
    rest.solve_multiply_adds +=
        3.0 * double(n.num_columns) * (2.0 * double(n.num_rows) + double(n.num_columns));
  }
  const double structure =
      static_cast<double>(factor.supernodes.size_bytes() + factor.rows.size_bytes());
  rest.solve_bytes += 2.0 * structure;
  rest.footprint =
      static_cast<double>(s.blocks.size_bytes() + factor.values.size_bytes()) + structure;
  if (s.num_clusters > 0 && splitting.volume_sweeps == 0) {
    rest.coarse_share = CoarseShare(s, pinned);
    rest.coarse_unknowns = 6.0 * s.num_clusters;
    rest.footprint += 4.0 * rest.coarse_unknowns * rest.coarse_unknowns;
  }
  return rest;
}

// Sizes of what is stepped, a body or a crowd of `bodies` bodies [bytes].
struct Arrays {
  double bodies;     // number whose state is read and written
  double node;       // x or v of one node of a body
  double position;   // of the iterate, of a node
  double vector;     // of the right-hand side, of a node
  double rotations;  // of all tets
  double kappa;      // of all tets
};

// One outer iteration.
StepWork WorkOfIteration(const Rest& rest, const Arrays& a, const SplittingSettings& splitting) {
  StepWork work;
  const bool relaxes = splitting.volume_sweeps == 0;
  const double positions = rest.nodes * a.position, vectors = rest.nodes * a.vector;
  const double sweep = rest.blocks * kVolumeRows + 2.0 * a.kappa + 2.0 * positions;
  const double blocks = rest.blocks * kElementRows + 2.0 * a.rotations + a.kappa;
  // The right-hand side is written, and read and written; rotations are read and written.
  work.elements.bytes = blocks + 2.0 * positions + 3.0 * vectors + (relaxes ? a.kappa : 0.0);
  work.solve.bytes = rest.solve_bytes + 4.0 * vectors;  // read and written down and up
  work.volume.bytes = splitting.volume_sweeps * sweep;
  work.elements.multiply_adds =
      a.bodies * rest.tets * (kElementArithmetic + (relaxes ? kRelaxationArithmetic : 0.0));
  work.solve.multiply_adds = a.bodies * rest.solve_multiply_adds;
  work.volume.multiply_adds = a.bodies * rest.tets * kVolumeArithmetic * splitting.volume_sweeps;
  if (rest.coarse_unknowns > 0.0) {
    // Some tets again, at positions and with a right-hand side that are read and written whole.
    work.elements.bytes += rest.coarse_share * (blocks + positions + 2.0 * vectors) +
                           2.0 * a.bodies * rest.nodes * a.node + positions + vectors;
    work.elements.multiply_adds += a.bodies * rest.tets * rest.coarse_share * kElementArithmetic;
    // Sums over clusters, the product with C^-1, and the clusters' motions.
    const double entries = rest.coarse_unknowns * rest.coarse_unknowns;
    work.solve.bytes += a.bodies * 4.0 * entries + 3.0 * positions + vectors;
    work.solve.multiply_adds += a.bodies * entries;
  }
  return work;
}

StepWork WorkOf(const Rest& rest, const Arrays& a, const SplittingSettings& splitting) {
  StepWork work;
  for (int k = 0; k < splitting.outer_iterations; ++k) work += WorkOfIteration(rest, a, splitting);
  const double positions = rest.nodes * a.position, vectors = rest.nodes * a.vector;
  const double states = a.bodies * rest.nodes * a.node;
  // x and v are read for the prediction and at the end, and written there.
  work.other.bytes = 6.0 * states + 4.0 * positions + vectors;
  work.footprint = 2.0 * states + positions + vectors + a.rotations + a.kappa;
  return work;
}

PhaseWork& operator+=(PhaseWork& a, const PhaseWork& b) {
  a.bytes += b.bytes;
  a.multiply_adds += b.multiply_adds;
  return a;
}

StepWork& StepWork::operator+=(const StepWork& more) {
  elements += more.elements;
  solve += more.solve;
  volume += more.volume;
  other += more.other;
  footprint += more.footprint;
  return *this;
}

// Work of `bodies` bodies of an asset that hang by the nodes `pinned`, in crowds if there are
// enough.
StepWork WorkOfStep(const Asset& asset, std::span<const uint32_t> pinned, size_t bodies,
                    const SplittingSettings& splitting) {
  const Rest rest = MeasureRest(asset, pinned, splitting);
  constexpr double kNode = sizeof(NodeVec), kFloat = sizeof(float);
  const double places = rest.blocks * kBlockTets;
  const Arrays alone = {1.0, kNode, kNode, kNode, 4.0 * kFloat * places, kFloat * places};
  StepWork work;
  while (bodies > 0) {
    const size_t least = work.footprint > 0.0 ? kLeastFurtherCrowd : kLeastCrowd;
    const size_t together = bodies < least ? 1 : std::min(bodies, kCrowdLanes);
    if (together == 1) {
      work += WorkOf(rest, alone, splitting);
    } else {
      work += WorkOf(
          rest,
          {static_cast<double>(together), kNode, kFloat * kCrowdPosition, kFloat * kCrowdVector,
           kFloat * kCrowdRotation * rest.tets, kFloat * kCrowdLanes * rest.tets},
          splitting);
    }
    bodies -= together;
  }
  work.footprint += rest.footprint;
  return work;
}

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
