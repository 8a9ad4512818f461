// SPDX-License-Identifier: MIT
#include "runtime/polar_batch.h"

#include "elasticity/polar_decomposition.h"
#include "runtime/dense_reference.h"
#include "runtime/simd_targets.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace polar_batch_test {

constexpr int kMany = 64;

double NormOf(const Quat& q) {
  return std::sqrt(double(q.x) * q.x + double(q.y) * q.y + double(q.z) * q.z + double(q.w) * q.w);
}

bool SameBits(const Quat& a, const Quat& b) { return std::memcmp(&a, &b, sizeof(Quat)) == 0; }

// Moderately strained matrices, with starts about 0.1 rad away.
struct Batch {
  Batch(size_t count, uint32_t seed) : F(count), starts(count) {
    Random random(seed);
    for (size_t i = 0; i < count; ++i) {
      const Eigen::Matrix3d R = random.Rotation();
      F[i] = ToMat3(R * (Eigen::Matrix3d::Identity() + random.Matrix(0.15)));
      starts[i] = ToQuat(R * random.Rotation(0.2));
    }
  }

  std::vector<Quat> Run(int iterations) const {
    std::vector<Quat> rotations = starts;
    AnalyticPolarDecompositions(F, rotations, iterations);
    return rotations;
  }

  std::vector<Mat3> F;
  std::vector<Quat> starts;
};

TEST_CASE("A batch of rotations is that of the polar decomposition, on every instruction set") {
  const Batch batch(20000, 1);
  for (const int64_t target : SimdTargets()) {
    const SimdTargetScope scope(target);
    const std::vector<Quat> rotations = batch.Run(4);
    double worst = 0.0, longest = 0.0;
    for (size_t i = 0; i < rotations.size(); ++i) {
      const Eigen::Matrix3d R = PolarRotation(ToEigen(batch.F[i]));
      worst = std::max(worst, AngleBetween(RotationOf(rotations[i]), R));
      longest = std::max(longest, std::fabs(NormOf(rotations[i]) - 1.0));
    }
    CAPTURE(NameOf(target), worst, longest);
    CHECK(worst < 1e-6);
    CHECK(longest < 4e-7);
  }
}

TEST_CASE("Batches of every length read and write only their elements") {
  const Batch all(67, 2);
  const std::vector<Quat> expected = all.Run(kMany);
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    const std::vector<Quat> whole = all.Run(kMany);
    for (size_t count = 0; count <= all.F.size(); ++count) {
      std::vector<Quat> rotations = all.starts;
      AnalyticPolarDecompositions(std::span(all.F).first(count), std::span(rotations).first(count),
                                  kMany);
      for (size_t i = 0; i < all.F.size(); ++i) {
        REQUIRE(SameBits(rotations[i], i < count ? whole[i] : all.starts[i]));
      }
    }
    for (size_t i = 0; i < all.F.size(); ++i) {
      CHECK(AngleBetween(RotationOf(whole[i]), RotationOf(expected[i])) < 1e-6);
    }
  }
}

TEST_CASE("The scalar code takes matrices that are degenerate, inverted or far from their start") {
  Random random(3);
  std::vector<Mat3> F;
  std::vector<Quat> starts;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < 2000; ++i) {
    Eigen::Vector3d s;
    for (int k = 0; k < 3; ++k) s[k] = std::exp(random.Uniform(std::log(0.01), std::log(100.0)));
    if (i % 4 == 1) s[random.Below(3)] *= -1.0;
    if (i % 4 == 2) s[random.Below(3)] = 0.0;
    F.push_back(ToMat3(random.Rotation() * s.asDiagonal() * random.Rotation()));
    if (i % 50 == 3) F.back().c1.z = nan;
    if (i % 50 == 7) F.back() = {};
    starts.push_back(ToQuat(random.Rotation()));
  }
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    std::vector<Quat> rotations = starts;
    AnalyticPolarDecompositions(F, rotations, kMany);
    for (size_t i = 0; i < F.size(); ++i) {
      const Quat q = AnalyticPolarDecomposition(F[i], starts[i], kMany);
      if (SameBits(rotations[i], q)) continue;
      // The matrix was well-behaved, or became so on the way. Compare the objective's values,
      // because rounding may choose between equally good rotations.
      REQUIRE(std::fabs(NormOf(rotations[i]) - 1.0) < 4e-7);
      const Eigen::Matrix3d M = ToEigen(F[i]);
      const double scalar = (RotationOf(q).transpose() * M).trace();
      const double batch = (RotationOf(rotations[i]).transpose() * M).trace();
      CAPTURE(i, scalar, batch);
      REQUIRE(batch > scalar - 1e-5 * M.norm());
    }
  }
}

}  // namespace polar_batch_test
