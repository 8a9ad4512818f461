// SPDX-License-Identifier: MIT
// Steps of a body that hangs by one hand and swings: the set-up that other solvers were measured
// with (E 1 MPa, nu 0.33, 1000 kg/m^3, dt 10 ms, no damping).

#include "plush/world.h"

#include "bench/bench_models.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>

namespace plush::bench {
namespace {

constexpr float kDt = 0.01f;
constexpr double kPinRadius = 0.02;  // [m]

// An armadillo's tet mesh and the node that its pins surround.
struct Arm {
  const char* name;
  size_t pinned_node;
};

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

SwingingArm MakeArm(const std::string& path, size_t pinned_node) {
  const tools::ImportedModel model = ImportOrExit(path, 0.1);
  tools::BakeSettings settings;
  settings.material = {1.0e6, 0.33, 1000.0};
  SwingingArm arm;
  arm.bytes = std::make_unique<AlignedBytes>(BakeOrExit(model, settings));
  if (!arm.asset.Open(arm.bytes->bytes()).ok()) std::abort();  // a bake of ours always opens
  const tools::Vec3d hand = model.tets.nodes.at(pinned_node);
  const auto nodes = arm.asset.simulation().nodes;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    const tools::Vec3d node = {nodes[i].x, nodes[i].y, nodes[i].z};
    if (Length(node - hand) <= kPinRadius) arm.pinned.push_back(i);
  }
  return arm;
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

void Step(benchmark::State& state, const std::string& path, size_t pinned_node) {
  const SwingingArm arm = MakeArm(path, pinned_node);
  WorldDesc desc;
  desc.measure_energy = false;
  desc.solver.volume_sweeps = 2;
  World world(desc);
  const BodyId id = world.AddBody(arm.asset, arm.Desc());
  state.counters["sag_m"] = double(Sag(arm, &world, id));
  for (auto _ : state) benchmark::DoNotOptimize(world.Step(kDt));
  const auto phase = [&](Phase p) {
    return 1.0e6 * double(world.stats().phase_s[static_cast<size_t>(p)]);
  };
  state.counters["elements_us"] = phase(Phase::kElements);
  state.counters["solve_us"] = phase(Phase::kSolve);
  state.counters["volume_us"] = phase(Phase::kVolume);
  state.counters["other_us"] = phase(Phase::kOther);
  state.counters["tets"] = static_cast<double>(arm.asset.simulation().tets.size());
  state.counters["pinned"] = static_cast<double>(arm.pinned.size());
}

// One numeric factorisation, for a time step that was not baked.
void Refactor(benchmark::State& state, const std::string& path, size_t pinned_node) {
  const SwingingArm arm = MakeArm(path, pinned_node);
  for (auto _ : state) {
    state.PauseTiming();
    WorldDesc desc;
    desc.solver.max_substeps = 1;
    World world(desc);
    world.AddBody(arm.asset, arm.Desc());
    state.ResumeTiming();
    if (!world.PrepareTimeStep(0.0123f).ok()) state.SkipWithError("no factor");
  }
  state.counters["nonzeros"] = static_cast<double>(arm.asset.factor().rows.size());
}

}  // namespace

void AddStepCases(const ModelFolder& models) {
  for (const Arm& arm : {Arm{"arm_4k", 811}, Arm{"arm_16k", 494}, Arm{"arm_55k", 1075}}) {
    const std::string name = std::string("step/") + arm.name;
    const std::string path = models.Find(std::string("tets/") + arm.name + ".node", name);
    if (path.empty()) continue;
    benchmark::RegisterBenchmark(name.c_str(), Step, path, arm.pinned_node)
        ->Unit(benchmark::kMillisecond);
  }
  const std::string path = models.Find("tets/arm_4k.node", "refactor/arm_4k");
  if (path.empty()) return;
  benchmark::RegisterBenchmark("refactor/arm_4k", Refactor, path, size_t{811})
      ->Unit(benchmark::kMillisecond);
}

}  // namespace plush::bench
