// SPDX-License-Identifier: MIT
// The tools' own speed: what an artist waits for.

#include "bench/bench_models.h"
#include "mesh/surface_checks.h"

#include <benchmark/benchmark.h>

namespace plush::bench {
namespace {

// All of `plush check`: the import in its child process, then every check.
void Check(benchmark::State& state, const std::string& path) {
  for (auto _ : state) {
    const tools::ImportedModel model = ImportOrExit(path);
    tools::FindingList findings;
    CheckSurface(model.surface, {}, &findings);
    benchmark::DoNotOptimize(findings.all().size());
  }
}

// The bake of an imported mesh with default settings.
void BakeModel(benchmark::State& state, const std::string& path) {
  const tools::ImportedModel model = ImportOrExit(path);
  size_t bytes = 0;
  for (auto _ : state) bytes = BakeOrExit(model).size();
  state.counters["file_bytes"] = static_cast<double>(bytes);
}

}  // namespace

void AddBakeCases(const ModelFolder& models) {
  const std::string horse = models.Find("horse_97k.obj", "check/horse_97k");
  if (!horse.empty()) {
    benchmark::RegisterBenchmark("check/horse_97k", Check, horse)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  const std::string armadillo = models.Find("armadillo_86k.obj", "bake/armadillo_86k");
  if (!armadillo.empty()) {
    benchmark::RegisterBenchmark("bake/armadillo_86k", BakeModel, armadillo)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

}  // namespace plush::bench
