// SPDX-License-Identifier: MIT
// Rotations of deformation gradients, from a start about 0.1 rad away, as in a step.

#include "plush/format/tet_block.h"

#include "bench/bench_models.h"
#include "bench/rotation_kernel.h"
#include "elasticity/polar_decomposition.h"
#include "runtime/polar_batch.h"

#include <Eigen/Dense>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
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

// Largest angle [rad] between rotations and those of the singular value decomposition in double.
double LargestError(const std::vector<Mat3>& gradients, const std::vector<Quat>& rotations) {
  double largest = 0.0;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Mat3& m = gradients[i];
    Eigen::Matrix3d F;
    F << m.c0.x, m.c1.x, m.c2.x, m.c0.y, m.c1.y, m.c2.y, m.c0.z, m.c1.z, m.c2.z;
    const Eigen::JacobiSVD<Eigen::Matrix3d> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Eigen::Matrix3d R = svd.matrixU() * svd.matrixV().transpose();
    const Quat& q = rotations[i];
    const Eigen::Matrix3d found =
        Eigen::Quaterniond(q.w, q.x, q.y, q.z).normalized().toRotationMatrix();
    largest = std::max(largest, 2.0 * std::asin((found - R).norm() / (2.0 * std::sqrt(2.0))));
  }
  return largest;
}

void Report(const std::vector<Mat3>& gradients, const std::vector<Quat>& rotations,
            benchmark::State* state) {
  state->SetItemsProcessed(static_cast<int64_t>(state->iterations() * kCount));
  state->counters["time_each"] = benchmark::Counter(
      kCount, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state->counters["max_error_rad"] = LargestError(gradients, rotations);
}

// Consecutive matrices and quaternions, as callers store them.
void Batch(benchmark::State& state) {
  const std::vector<Mat3> gradients = RandomGradients();
  std::vector<Quat> rotations(kCount);
  for (auto _ : state) {
    std::fill(rotations.begin(), rotations.end(), Quat{});
    AnalyticPolarDecompositions(gradients, rotations, kIterations);
    benchmark::ClobberMemory();
  }
  Report(gradients, rotations, &state);
}

// By blocks, as the element pass stores them.
void Blocks(benchmark::State& state) {
  const std::vector<Mat3> gradients = RandomGradients();
  std::vector<float> F(9 * kCount), q(4 * kCount);
  std::vector<Quat> rotations(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    const float* m = &gradients[i].c0.x;
    const size_t block = i / kBlockTets, lane = i % kBlockTets;
    for (size_t k = 0; k < 9; ++k) F[kBlockTets * (9 * block + k) + lane] = m[k];
  }
  for (auto _ : state) {
    for (size_t row = 0; row < 4 * kCount / kBlockTets; ++row) {
      std::fill_n(&q[kBlockTets * row], kBlockTets, row % 4 == 3 ? 1.0f : 0.0f);
    }
    RotateBlocks(F, kIterations, q);
    benchmark::ClobberMemory();
  }
  for (size_t i = 0; i < kCount; ++i) {
    const float* first = &q[kBlockTets * 4 * (i / kBlockTets) + i % kBlockTets];
    rotations[i] = {first[0], first[kBlockTets], first[2 * kBlockTets], first[3 * kBlockTets]};
  }
  Report(gradients, rotations, &state);
}

// One matrix after the other.
void Scalar(benchmark::State& state) {
  const std::vector<Mat3> gradients = RandomGradients();
  std::vector<Quat> rotations(kCount);
  for (auto _ : state) {
    for (size_t i = 0; i < kCount; ++i) {
      rotations[i] = AnalyticPolarDecomposition(gradients[i], Quat{}, kIterations);
    }
    benchmark::ClobberMemory();
  }
  Report(gradients, rotations, &state);
}

// By the singular value decomposition of another library.
void EigenSvd(benchmark::State& state) {
  const std::vector<Mat3> gradients = RandomGradients();
  std::vector<Quat> rotations(kCount);
  for (auto _ : state) {
    for (size_t i = 0; i < kCount; ++i) {
      const Eigen::Map<const Eigen::Matrix3f> F(&gradients[i].c0.x);
      const Eigen::JacobiSVD<Eigen::Matrix3f> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
      const Eigen::Quaternionf q(Eigen::Matrix3f(svd.matrixU() * svd.matrixV().transpose()));
      rotations[i] = {q.x(), q.y(), q.z(), q.w()};
    }
    benchmark::ClobberMemory();
  }
  Report(gradients, rotations, &state);
}

}  // namespace

void AddRotationCases() {
  benchmark::RegisterBenchmark("rotation/apd", Blocks)->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("rotation/apd_batch", Batch)->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("rotation/apd_scalar", Scalar)->Unit(benchmark::kMicrosecond);
  benchmark::RegisterBenchmark("peer/eigen/rotation", EigenSvd)->Unit(benchmark::kMicrosecond);
}

}  // namespace plush::bench
