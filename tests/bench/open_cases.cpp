// SPDX-License-Identifier: MIT
// Opening a baked file of about 100k triangles that is in memory; adding and removing a body.

#include "plush/world.h"

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

// Adds and removes a body of about 400 tets. Its world keeps the factors of absent bodies.
void Spawn(benchmark::State& state, const std::string& path) {
  tools::BakeSettings settings;
  settings.cage.target_tets = 400;
  const AlignedBytes file(BakeOrExit(ImportOrExit(path), settings));
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
  }
  const std::string path = models.Find("armadillo_1k.obj", "spawn/400_tets");
  if (path.empty()) return;
  benchmark::RegisterBenchmark("spawn/400_tets", Spawn, path)->Unit(benchmark::kMicrosecond);
}

}  // namespace plush::bench
