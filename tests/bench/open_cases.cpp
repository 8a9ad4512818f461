// SPDX-License-Identifier: MIT
// Opening a baked file of about 100k triangles that is in memory.

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

}  // namespace

void AddOpenCases(const ModelFolder& models) {
  const std::pair<const char*, Trust> cases[] = {{"open/100k", Trust::kNothing},
                                                 {"open_trusted/100k", Trust::kValidated}};
  for (const auto& [name, trust] : cases) {
    const std::string path = models.Find("horse_97k.obj", name);
    if (path.empty()) continue;
    benchmark::RegisterBenchmark(name, Open, path, trust)->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace plush::bench
