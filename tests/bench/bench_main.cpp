// SPDX-License-Identifier: MIT
// plush_bench measures speed. Options are Google Benchmark's, and
//   --models DIR     folder of the models
//   --references DIR folder of the trajectories that step/... is compared with. Absent ones are
//                    computed (minutes for the large bodies) and written there. Without it only
//                    those of small bodies are computed
//   --curves DIR     step/... and crowd/... write the way of each body's free end there, see
//                    motion_curves.h; plot_motion.py draws it
//   --target NAME    instruction set of the runtime's vector code: avx512, avx2, sse4 or scalar
//                    (default: the best of this machine)

#include "bench/bench_models.h"
#include "bench/motion_curves.h"
#include "bench/reference_motion.h"
#include "runtime/simd_targets.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace {

// Removes "--name VALUE" or "--name=VALUE" from the arguments.
std::string TakeOption(const std::string& name, std::vector<char*>* arguments) {
  for (size_t i = 1; i < arguments->size(); ++i) {
    const std::string argument = (*arguments)[i];
    const bool joined = argument.starts_with(name + "=");
    const bool separate = argument == name && i + 1 < arguments->size();
    if (!joined && !separate) continue;
    const std::string value = joined ? argument.substr(name.size() + 1) : (*arguments)[i + 1];
    const auto first = arguments->begin() + static_cast<std::ptrdiff_t>(i);
    arguments->erase(first, first + (joined ? 1 : 2));
    return value;
  }
  return "";
}

// The instruction set of that name, if the machine has it.
std::optional<int64_t> FindTarget(const std::string& name) {
  const std::vector<int64_t> targets = plush::test::SimdTargets();
  if (name.empty()) return targets.front();
  if (name == "scalar") return targets.back();
  for (const int64_t target : targets) {
    const std::string known = plush::test::NameOf(target);
    if ((name == "avx512" && known == "AVX3") || (name == "avx2" && known == "AVX2") ||
        (name == "sse4" && known == "SSE4")) {
      return target;
    }
  }
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  const plush::bench::ModelFolder models(TakeOption("--models", &arguments));
  const plush::bench::ReferenceFolder references(TakeOption("--references", &arguments));
  const plush::bench::CurveFolder curves(TakeOption("--curves", &arguments));
  const std::string target_name = TakeOption("--target", &arguments);
  const std::optional<int64_t> target = FindTarget(target_name);
  if (!target.has_value()) {
    std::fprintf(stderr,
                 "plush_bench: error: no instruction set '%s' here (avx512, avx2, sse4, scalar)\n",
                 target_name.c_str());
    return 1;
  }
  const plush::test::SimdTargetScope scope(*target);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;
  benchmark::AddCustomContext("instruction_set", plush::test::NameOf(*target));
  plush::bench::AddStepCases(models, references, curves);
  plush::bench::AddImplicitCases(models, references);
  plush::bench::AddLinearCases(models);
  plush::bench::AddFrequencyCases();
  plush::bench::AddContactCases(models);
  plush::bench::AddHeapCases();
  plush::bench::AddHullCases();
  plush::bench::AddDescentCases(models, references);
  plush::bench::AddStateCases(models);
  plush::bench::AddCageCases(models);
  plush::bench::AddBakeCases(models);
  plush::bench::AddPartitionCases(models);
  plush::bench::AddOpenCases(models);
  plush::bench::AddRayCases(models);
  plush::bench::AddIntersectionCases(models);
  plush::bench::AddRotationCases();
  plush::bench::AddLimitCases();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
