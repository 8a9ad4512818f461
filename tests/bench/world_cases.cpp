// SPDX-License-Identifier: MIT
// Bodies that come and go: the cost must not depend on how many others there are or were.
#include "plush/world.h"

#include "bake/bake.h"
#include "bench/bench_models.h"
#include "bench/body_memory.h"
#include "shapes/tet_shapes.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

namespace plush::bench {
namespace {

// Removes the oldest of `state.range(0)` bodies and adds another one: cubes of five tets.
void AddRemove(benchmark::State& state) {
  tools::BakeSettings settings = {.mass = tools::MassSource::kCage};
  const AlignedBytes file(BakeOrExit(tools::ModelFromTets(test::TetBox(1, 1, 1, 0.1)), settings));
  Asset asset;
  if (!asset.Open(file.bytes()).ok()) std::abort();  // a bake of ours always opens
  World world;
  std::vector<BodyId> ids(static_cast<size_t>(state.range(0)));
  for (BodyId& id : ids) {
    if (!world.AddBody(asset, {}, &id).ok()) std::abort();
  }
  size_t oldest = 0;
  for (auto _ : state) {
    if (!world.RemoveBody(ids[oldest]).ok() || !world.AddBody(asset, {}, &ids[oldest]).ok()) {
      state.SkipWithError("no body");
      break;
    }
    oldest = oldest + 1 == ids.size() ? 0 : oldest + 1;
  }
}

// A million bodies come and go in a world of ten. The world must not take more memory for them.
void AddRemoveMemory(benchmark::State& state) {
  const AlignedBytes file(BakeOrExit(tools::ModelFromTets(test::TetBox(1, 1, 1, 0.1))));
  Asset asset;
  if (!asset.Open(file.bytes()).ok()) std::abort();
  double after_1e3 = 0.0, after_1e6 = 0.0;
  for (auto _ : state) {
    CountedHeap heap;
    World world({.allocator = heap.allocator()});
    BodyId ids[10];
    for (BodyId& id : ids) {
      if (!world.AddBody(asset, {}, &id).ok()) std::abort();
    }
    for (int pair = 0; pair < 1000000; ++pair) {
      if (pair == 1000) after_1e3 = heap.bytes();
      BodyId& oldest = ids[pair % 10];
      if (!world.RemoveBody(oldest).ok() || !world.AddBody(asset, {}, &oldest).ok()) std::abort();
    }
    after_1e6 = heap.bytes();
  }
  state.counters["bytes_after_1e3"] = after_1e3;
  state.counters["more_bytes_after_1e6"] = after_1e6 - after_1e3;
}

// A step of an empty world that had `state.range(0)` bodies.
void EmptyStep(benchmark::State& state) {
  const AlignedBytes file(BakeOrExit(tools::ModelFromTets(test::TetBox(1, 1, 1, 0.1))));
  Asset asset;
  if (!asset.Open(file.bytes()).ok()) std::abort();
  World world;
  std::vector<BodyId> ids(static_cast<size_t>(state.range(0)));
  for (BodyId& id : ids) {
    if (!world.AddBody(asset, {}, &id).ok()) std::abort();
  }
  for (const BodyId id : ids) {
    if (!world.RemoveBody(id).ok()) std::abort();
  }
  for (auto _ : state) {
    if (!world.Step(0.01f).ok()) state.SkipWithError("no step");
  }
}

}  // namespace

void AddWorldCases() {
  benchmark::RegisterBenchmark("world/add_remove", AddRemove)
      ->Arg(10)
      ->Arg(1000)
      ->Arg(100000)
      ->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("world/add_remove_memory", AddRemoveMemory)
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("world/empty_step", EmptyStep)
      ->Arg(0)
      ->Arg(20000)
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace plush::bench
