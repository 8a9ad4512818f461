// SPDX-License-Identifier: MIT
// Opening a baked file of about 100k triangles that is in memory; adding and removing a body.

#include "plush/format/static_mesh.h"
#include "plush/world.h"

#include "bake/static_bake.h"
#include "bench/bench_models.h"

#include <benchmark/benchmark.h>

namespace plush::bench {
namespace {

void Open(benchmark::State& state, const std::string& path, Trust trust) {
  const AlignedBytes file(BakeOrExit(ImportOrExit(path)));
  for (auto _ : state) {
    Asset asset;
    if (!asset.Open(file.bytes(), trust).ok()) state.SkipWithError("the file does not open");
    benchmark::DoNotOptimize(asset.visual().positions.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) *
                          static_cast<int64_t>(file.bytes().size()));
}

// The same of a static mesh; its aim is 0.5 ms.
void OpenStatic(benchmark::State& state, const std::string& path, Trust trust) {
  tools::FindingList findings;
  const auto baked = tools::BakeStatic(ImportOrExit(path), {}, &findings);
  if (!baked.ok()) {
    state.SkipWithError("no static mesh");
    return;
  }
  const AlignedBytes file(baked.value().bytes);
  for (auto _ : state) {
    Asset asset;
    if (!asset.Open(file.bytes(), trust).ok()) state.SkipWithError("the file does not open");
    benchmark::DoNotOptimize(asset.static_mesh().triangles.data());
  }
  state.counters["bytes_per_triangle"] = static_cast<double>(file.bytes().size()) /
                                         static_cast<double>(baked.value().summary.triangles);
}

// Adds and removes a body of about 400 tets. Its world keeps the factors of absent bodies.
void Spawn(benchmark::State& state, const std::string& path) {
  const AlignedBytes file(BakeOrExit(ImportOrExit(path), {.cage = {.target_tets = 400}}));
  Asset asset;
  World world(WorldDesc{});
  if (!asset.Open(file.bytes()).ok()) state.SkipWithError("the file does not open");
  for (auto _ : state) {
    BodyId id;
    if (!world.AddBody(asset, {}, &id).ok() || !world.RemoveBody(id).ok()) {
      state.SkipWithError("no body");
    }
  }
}

}  // namespace

void AddOpenCases(const ModelFolder& models) {
  const std::pair<const char*, Trust> cases[] = {{"open/100k", Trust::kNothing},
                                                 {"open_trusted/100k", Trust::kValidated}};
  for (const auto& [name, trust] : cases) {
    const std::string path = models.Find("horse_97k.obj", name);
    if (path.empty()) continue;
    benchmark::RegisterBenchmark(name, Open, path, trust)->Unit(benchmark::kMicrosecond);
    const std::string static_name = "static_" + std::string(name);
    benchmark::RegisterBenchmark(static_name.c_str(), OpenStatic, path, trust)
        ->Unit(benchmark::kMicrosecond);
  }
  const std::string path = models.Find("armadillo_1k.obj", "spawn/400_tets");
  if (path.empty()) return;
  benchmark::RegisterBenchmark("spawn/400_tets", Spawn, path)->Unit(benchmark::kMicrosecond);
}

}  // namespace plush::bench
