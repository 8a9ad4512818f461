// SPDX-License-Identifier: MIT
// The accuracy of rotations that [Kug, Table 4] reports.
#include "elasticity/polar_decomposition.h"
#include "runtime/dense_reference.h"
#include "runtime/polar_batch.h"

#include <Eigen/SVD>
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace rotation_table_test {

constexpr double kPi = 3.14159265358979323846;
constexpr double kDegrees = 180.0 / kPi;
constexpr double kLargestAngle = 10.0 / kDegrees;

// Uniform on SO(3) among rotations by at most `most` [rad]: density of the angle ~ 1 - cos(angle).
Eigen::Matrix3d UniformRotation(Random* random, double most) {
  for (;;) {
    const double angle = random->Uniform(0.0, most);
    if (random->Uniform(0.0, 1.0 - std::cos(most)) > 1.0 - std::cos(angle)) continue;
    return Eigen::AngleAxisd(angle, random->Direction()).toRotationMatrix();
  }
}

// A point uniform in a ball.
Eigen::Vector3d InBall(Random* random, double radius) {
  for (;;) {
    const Eigen::Vector3d v = random->Vector(1.0);
    if (v.norm() <= 1.0) return v * radius;
  }
}

// A regular tet of edge 1 whose corners move by at most a tenth of the edge, then rotated.
class RandomGradients {
 public:
  explicit RandomGradients(uint32_t seed) : random_(seed) {
    rest_ << 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1, 1;
    rest_ /= 2.0 * std::sqrt(2.0);
    inverse_ = Edges(rest_).inverse();
  }

  Eigen::Matrix3d Next() {
    Eigen::Matrix<double, 3, 4> x = rest_;
    for (int i = 0; i < 4; ++i) x.col(i) += InBall(&random_, 0.1);
    return Edges(UniformRotation(&random_, kLargestAngle) * x) * inverse_;
  }

 private:
  static Eigen::Matrix3d Edges(const Eigen::Matrix<double, 3, 4>& x) {
    return x.rightCols<3>().colwise() - x.col(0);
  }

  Random random_;
  Eigen::Matrix<double, 3, 4> rest_;
  Eigen::Matrix3d inverse_;
};

struct Errors {
  double mean = 0.0, largest = 0.0;  // [degrees]

  void Add(double radians, int count) {
    mean += radians * kDegrees / count;
    largest = std::max(largest, radians * kDegrees);
  }
};

Eigen::Matrix3d RotationOfSvd(const Eigen::Matrix3f& F) {
  const Eigen::JacobiSVD<Eigen::Matrix3f> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return (svd.matrixU() * svd.matrixV().transpose()).cast<double>();
}

TEST_CASE("One iteration from the identity is as accurate as the paper's table", "[long]") {
  constexpr uint32_t kSeed = 800;
  const int count = 800000;
  RandomGradients gradients(kSeed);
  Errors apd[3], batch, svd, start;
  constexpr size_t kBatch = 16;
  std::array<Mat3, kBatch> fs = {};
  std::array<Eigen::Matrix3d, kBatch> exacts;
  for (int i = 0; i < count; ++i) {
    const Mat3 F = ToMat3(gradients.Next());
    const Eigen::Matrix3d exact = PolarRotation(ToEigen(F));
    start.Add(AngleBetween(Eigen::Matrix3d::Identity(), exact), count);
    for (int iterations = 1; iterations <= 3; ++iterations) {
      const Quat q = AnalyticPolarDecomposition(F, Quat{}, iterations);
      apd[iterations - 1].Add(AngleBetween(RotationOf(q), exact), count);
    }
    fs[size_t(i) % kBatch] = F;
    exacts[size_t(i) % kBatch] = exact;
    if (size_t(i) % kBatch == kBatch - 1) {
      std::array<Quat, kBatch> found = {};
      AnalyticPolarDecompositions(fs, found, 1);
      for (size_t k = 0; k < kBatch; ++k)
        batch.Add(AngleBetween(RotationOf(found[k]), exacts[k]), count);
    }
    svd.Add(AngleBetween(RotationOfSvd(ToEigen(F).cast<float>()), exact), count);
  }
  std::printf("errors of %d rotations (seed %u) [degrees]   mean      largest\n", count, kSeed);
  std::printf("  the identity                          %9.2e  %9.2e\n", start.mean, start.largest);
  for (int i = 0; i < 3; ++i) {
    std::printf("  APD, %d iterations                     %9.2e  %9.2e\n", i + 1, apd[i].mean,
                apd[i].largest);
  }
  std::printf("  APD in lanes, 1 iteration             %9.2e  %9.2e\n", batch.mean, batch.largest);
  std::printf("  JacobiSVD in float                    %9.2e  %9.2e\n", svd.mean, svd.largest);
  CHECK(start.largest > 10.0);  // the deformation rotates too
  CHECK(apd[0].mean < 0.05);    // [Kug, Sec. 4]
  CHECK(apd[0].largest < 2.0);
  CHECK(batch.mean < 0.05);
  CHECK(batch.mean > 0.0);
  CHECK(batch.largest < 2.0);
  CHECK(apd[1].largest < 0.05);
  CHECK(apd[2].largest < 2e-4);  // rounding
  CHECK(svd.largest < 2e-4);
}

}  // namespace rotation_table_test
