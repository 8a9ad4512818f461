// SPDX-License-Identifier: MIT
// Saving and loading the state of a crowd, beside a copy of the same bytes.
#include "plush/world.h"

#include "bench/swinging_arm.h"
#include "bench/thread_clock.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace plush::bench {
namespace {

// A crowd that has swung for a second, and its saved state.
struct SavedCrowd {
  explicit SavedCrowd(const std::string& path) : arm(MakeArm(path, kArm4k)) {
    for (size_t i = 0; i < kArmsOfCrowd; ++i) {
      BodyId id;
      if (!world.AddBody(arm.asset, arm.Desc(), &id).ok()) std::abort();
    }
    for (int step = 0; step < 100; ++step) {
      if (!world.Step(0.01f).ok()) std::abort();
    }
    state.resize(world.StateBytes());
    size_t bytes = 0;
    if (!world.SaveState(state, &bytes).ok()) std::abort();
    state.resize(bytes);
    copy = state;
  }

  double CopySeconds() {
    const double start = ThreadSeconds();
    std::memcpy(copy.data(), state.data(), state.size());
    benchmark::DoNotOptimize(copy.data());
    benchmark::ClobberMemory();
    return ThreadSeconds() - start;
  }

  SwingingArm arm;
  World world{SwingingWorld()};
  std::vector<std::byte> state, copy;
};

// Times `function` of a crowd in turn with copies of the state's bytes.
template <class Function>
void TimeBesideCopies(benchmark::State& state, SavedCrowd* crowd, Function function) {
  std::vector<double> seconds, copies;
  for (auto _ : state) {
    copies.push_back(crowd->CopySeconds());
    const double start = ThreadSeconds();
    if (!function()) state.SkipWithError("failed");
    seconds.push_back(ThreadSeconds() - start);
    state.SetIterationTime(seconds.back());
  }
  state.counters["bytes"] = static_cast<double>(crowd->state.size());
  state.counters["copy_ms"] = 1.0e3 * Median(copies);
  state.counters["times_of_copy"] = Median(seconds) / Median(copies);
}

void Save(benchmark::State& state, const std::string& path) {
  SavedCrowd crowd(path);
  const std::vector<std::byte> expected = crowd.state;
  TimeBesideCopies(state, &crowd, [&crowd] {
    size_t bytes = 0;
    return crowd.world.SaveState(crowd.state, &bytes).ok() && bytes == crowd.state.size();
  });
  if (crowd.state != expected) state.SkipWithError("the state changed");
}

// Into the world that saved it: a world of equal bodies.
void Load(benchmark::State& state, const std::string& path) {
  SavedCrowd crowd(path);
  const uint64_t hash = crowd.world.StateHash();
  if (!crowd.world.Step(0.01f).ok()) std::abort();
  const Asset* const assets[] = {&crowd.arm.asset};
  TimeBesideCopies(state, &crowd, [&] { return crowd.world.LoadState(crowd.state, assets).ok(); });
  if (crowd.world.StateHash() != hash) state.SkipWithError("another state");
}

}  // namespace

void AddStateCases(const ModelFolder& models) {
  const auto add = [&models](const std::string& name, auto function) {
    const std::string path = models.Find(std::string("tets/") + kArm4k.model + ".node", name);
    if (path.empty()) return;
    benchmark::RegisterBenchmark(name.c_str(), function, path)
        ->Unit(benchmark::kMillisecond)
        ->UseManualTime();
  };
  add("state/save_arm_4k_x105", Save);
  add("state/load_arm_4k_x105", Load);
}

}  // namespace plush::bench
