// SPDX-License-Identifier: MIT
// Steps of a body that hangs by one hand and swings: the set-up that other solvers were measured
// with (E 1 MPa, nu 0.33, 1000 kg/m^3, dt 10 ms, no damping, two volume sweeps).

#include "plush/world.h"

#include "bench/bench_models.h"
#include "bench/tet_refinement.h"
#include "simulate/job_pool.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>

namespace plush::bench {
namespace {

constexpr float kDt = 0.01f;
constexpr double kPinRadius = 0.02;  // [m]

constexpr int kCrowd = 105;  // bodies, those of [Kug]'s large scene

// An armadillo's tet mesh and the node that its pins surround.
struct Arm {
  const char* name;   // of the case
  const char* model;  // below tets/
  size_t pinned_node;
  size_t least_tets = 0;  // refined until it has as many
};

constexpr Arm kArm4k = {"arm_4k", "arm_4k", 811};
constexpr Arm kArms[] = {kArm4k,
                         {"arm_16k", "arm_16k", 494},
                         {"arm_55k", "arm_55k", 1075},
                         {"arm_170k", "arm_55k", 1075, 170000}};

// A baked arm and the nodes of its pinned hand.
struct SwingingArm {
  std::unique_ptr<AlignedBytes> bytes;
  Asset asset;
  std::vector<uint32_t> pinned;

  BodyDesc Desc() const {
    BodyDesc desc;
    desc.pose.rotation = {0.0f, 1.0f, 0.0f, 0.0f};  // half a turn about y
    desc.pinned_nodes = pinned;
    return desc;
  }
};

SwingingArm MakeArm(const std::string& path, const Arm& which) {
  tools::ImportedModel model = ImportOrExit(path, 0.1);
  if (which.least_tets > 0) {
    model = tools::ModelFromTets(RefinedTo(which.least_tets, std::move(model.tets)));
  }
  tools::BakeSettings settings;
  settings.material = {1.0e6, 0.33, 1000.0};
  SwingingArm arm;
  arm.bytes = std::make_unique<AlignedBytes>(BakeOrExit(model, settings));
  if (!arm.asset.Open(arm.bytes->bytes()).ok()) std::abort();  // a bake of ours always opens
  const tools::Vec3d hand = model.tets.nodes.at(which.pinned_node);
  const auto nodes = arm.asset.simulation().nodes;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const tools::Vec3d node = {nodes[i].x, nodes[i].y, nodes[i].z};
    if (Length(node - hand) <= kPinRadius) arm.pinned.push_back(i);
  }
  return arm;
}

WorldDesc PeersWorld() {
  WorldDesc desc;
  desc.solver.volume_sweeps = 2;
  desc.measure_energy = false;
  return desc;
}

// Lowest node in the first 220 steps [m]: tells whether the material asked for is the one
// simulated.
float Sag(const SwingingArm& arm, World* world, BodyId id) {
  std::vector<Vec3> nodes(arm.asset.simulation().nodes.size());
  float lowest = 0.0f;
  for (int step = 0; step < 220; ++step) {
    world->Step(kDt);
    if (!world->NodePositions(id, nodes).ok()) std::abort();
    for (const Vec3& node : nodes) lowest = std::min(lowest, node.y);
  }
  return lowest;
}

void CountPhases(const StepStats& stats, benchmark::State* state) {
  const auto count = [&](const char* name, Phase phase) {
    state->counters[name] = 1.0e6 * double(stats.phase_s[static_cast<size_t>(phase)]);
  };
  count("elements_us", Phase::kElements);
  count("solve_us", Phase::kSolve);
  count("volume_us", Phase::kVolume);
  count("other_us", Phase::kOther);
}

// `bodies` of one asset, all alike.
void Step(benchmark::State& state, const std::string& path, const Arm& which, int bodies,
          uint32_t threads) {
  const SwingingArm arm = MakeArm(path, which);
  tools::JobPool pool(threads);
  WorldDesc desc = PeersWorld();
  desc.jobs = pool.job_system();
  World world(desc);
  for (int i = 0; i < bodies; ++i) world.AddBody(arm.asset, arm.Desc());
  state.counters["sag_m"] = double(Sag(arm, &world, {0}));
  for (auto _ : state) benchmark::DoNotOptimize(world.Step(kDt));
  CountPhases(world.stats(), &state);
  state.counters["tets"] = static_cast<double>(bodies * arm.asset.simulation().tets.size());
  state.counters["pinned"] = static_cast<double>(arm.pinned.size());
}

// One numeric factorisation, for a time step that was not baked.
void Refactor(benchmark::State& state, const std::string& path) {
  const SwingingArm arm = MakeArm(path, kArm4k);
  for (auto _ : state) {
    state.PauseTiming();
    WorldDesc desc = PeersWorld();
    desc.solver.max_substeps = 1;
    World world(desc);
    world.AddBody(arm.asset, arm.Desc());
    state.ResumeTiming();
    if (!world.PrepareTimeStep(0.0123f).ok()) state.SkipWithError("no factor");
  }
  state.counters["factor_values"] = static_cast<double>(arm.asset.factor().values.size());
}

}  // namespace

void AddStepCases(const ModelFolder& models) {
  const auto add = [&models](const std::string& name, const Arm& arm, auto function,
                             auto... more) -> benchmark::internal::Benchmark* {
    const std::string path = models.Find(std::string("tets/") + arm.model + ".node", name);
    if (path.empty()) return nullptr;
    return benchmark::RegisterBenchmark(name.c_str(), function, path, more...)
        ->Unit(benchmark::kMillisecond);
  };
  for (const Arm& arm : kArms) add(std::string("step/") + arm.name, arm, Step, arm, 1, 1u);
  add("crowd/arm_4k_x105", kArm4k, Step, kArm4k, kCrowd, 1u);
  auto* threaded = add("crowd/arm_4k_x105_two_threads", kArm4k, Step, kArm4k, kCrowd, 2u);
  if (threaded != nullptr) threaded->UseRealTime();
  add("refactor/arm_4k", kArm4k, Refactor);
}

}  // namespace plush::bench
