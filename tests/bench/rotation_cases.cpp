// SPDX-License-Identifier: MIT
// Rotations of deformation gradients, as a step asks for them: from a start about 0.1 rad away.

#include "plush/polar_decomposition.h"

#include "bench/bench_models.h"

#include <benchmark/benchmark.h>

#include <random>
#include <vector>

namespace plush::bench {
namespace {

constexpr size_t kCount = 4096;
constexpr int kIterations = 4;

// Moderately stretched and sheared matrices, turned by up to about 0.1 rad.
std::vector<Mat3> RandomGradients() {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> offset(-0.15f, 0.15f);
  std::vector<Mat3> gradients(kCount);
  for (Mat3& F : gradients) {
    F = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (Vec3* column : {&F.c0, &F.c1, &F.c2}) {
      column->x += offset(generator);
      column->y += offset(generator);
      column->z += offset(generator);
    }
  }
  return gradients;
}

void Apd(benchmark::State& state) {
  const std::vector<Mat3> gradients = RandomGradients();
  for (auto _ : state) {
    for (const Mat3& F : gradients) {
      benchmark::DoNotOptimize(AnalyticPolarDecomposition(F, Quat{}, kIterations));
    }
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kCount));
}

}  // namespace

void AddRotationCases() {
  benchmark::RegisterBenchmark("rotation/apd", Apd)->Unit(benchmark::kMicrosecond);
}

}  // namespace plush::bench
