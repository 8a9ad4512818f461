// SPDX-License-Identifier: MIT
// plush_bench: what speed is measured with. Options are Google Benchmark's, and --models DIR.

#include "bench/bench_models.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

namespace {

// Takes "--models DIR" or "--models=DIR" out of the arguments.
std::string TakeModels(std::vector<char*>* arguments) {
  for (size_t i = 1; i < arguments->size(); ++i) {
    const std::string argument = (*arguments)[i];
    const bool joined = argument.starts_with("--models=");
    const bool separate = argument == "--models" && i + 1 < arguments->size();
    if (!joined && !separate) continue;
    const std::string folder = joined ? argument.substr(9) : (*arguments)[i + 1];
    const auto first = arguments->begin() + static_cast<std::ptrdiff_t>(i);
    arguments->erase(first, first + (joined ? 1 : 2));
    return folder;
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const plush::bench::ModelFolder models(TakeModels(&arguments));
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  plush::bench::AddStepCases(models);
  plush::bench::AddCageCases(models);
  plush::bench::AddBakeCases(models);
  plush::bench::AddPartitionCases(models);
  plush::bench::AddOpenCases(models);
  plush::bench::AddRayCases(models);
  plush::bench::AddRotationCases();
  plush::bench::AddBoundsCases();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
