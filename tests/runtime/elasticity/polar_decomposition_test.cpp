// SPDX-License-Identifier: MIT
#include "elasticity/polar_decomposition.h"

#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using plush::AnalyticPolarDecomposition;
using plush::Mat3;
using plush::Quat;
using namespace plush::test;

namespace polar_decomposition_test {

constexpr double kDegrees = 180.0 / 3.14159265358979323846;
constexpr int kMany = 64;

double NormOf(const Quat& q) {
  return std::sqrt(double(q.x) * q.x + double(q.y) * q.y + double(q.z) * q.z + double(q.w) * q.w);
}

bool IsFinite(const Quat& q) {
  return std::isfinite(q.x) && std::isfinite(q.y) && std::isfinite(q.z) && std::isfinite(q.w);
}

// Rounding F turns R by about F's rounding divided by the smallest sum of two signed singular
// values, the curvature of |R - F|^2.
double RotationUncertainty(const Eigen::Matrix3d& F) {
  const Eigen::Vector3d s = F.jacobiSvd().singularValues();
  const double smallest = F.determinant() < 0.0 ? s.y() - s.z() : s.y() + s.z();
  return std::numeric_limits<float>::epsilon() * F.norm() / smallest;
}

Eigen::Matrix3d Stretched(Random* random, double low, double high, bool inverted) {
  Eigen::Vector3d s;
  for (int i = 0; i < 3; ++i) s[i] = std::exp(random->Uniform(std::log(low), std::log(high)));
  if (inverted) s[random->Below(3)] *= -1.0;
  return random->Rotation() * s.asDiagonal() * random->Rotation();
}

TEST_CASE("APD finds the rotation of the polar decomposition near its warm start") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  double worst = 0.0;
  for (int i = 0; i < 20000; ++i) {
    const Eigen::Matrix3d R = random.Rotation();
    const Mat3 F = ToMat3(R * (Eigen::Matrix3d::Identity() + random.Matrix(0.2)));
    const Quat q = AnalyticPolarDecomposition(F, ToQuat(R * random.Rotation(0.3)), 4);
    const double error = AngleBetween(RotationOf(q), PolarRotation(ToEigen(F)));
    worst = std::max(worst, error);
    REQUIRE(std::fabs(NormOf(q) - 1.0) < 4e-7);
  }
  CHECK(worst < 2e-6);
}

TEST_CASE("One step of APD reaches the paper's average error of 0.05 degrees") {
  // [Kug, Sec. 4 and Table 4]: rotations up to 10 degrees, nodes moved by up to 10% of the edge.
  Random random(4);
  double sum = 0.0;
  constexpr int kSamples = 20000;
  for (int i = 0; i < kSamples; ++i) {
    Eigen::Matrix<double, 3, 4> rest;
    rest << 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1;
    const Eigen::Matrix3d R = random.Rotation(10.0 / kDegrees);
    Eigen::Matrix<double, 3, 4> x = rest;
    for (int k = 0; k < 4; ++k) x.col(k) = R * (rest.col(k) + random.Vector(0.1 / std::sqrt(3.0)));
    Eigen::Matrix3d F;
    F << x.col(1) - x.col(0), x.col(2) - x.col(0), x.col(3) - x.col(0);
    const Quat q = AnalyticPolarDecomposition(ToMat3(F), Quat{}, 1);
    sum += AngleBetween(RotationOf(q), PolarRotation(F)) * kDegrees;
  }
  CAPTURE(sum / kSamples);
  CHECK(sum / kSamples < 0.05);
}

TEST_CASE("APD converges from any warm start, stretched and inverted") {
  const uint32_t seed = GENERATE(5u, 6u);
  const bool inverted = GENERATE(false, true);
  CAPTURE(seed, inverted);
  Random random(seed);
  double worst = 0.0;
  for (int i = 0; i < 20000; ++i) {
    const Mat3 F = ToMat3(Stretched(&random, 0.01, 100.0, inverted));
    const double uncertainty = RotationUncertainty(ToEigen(F));
    if (uncertainty > 1e-3) continue;  // a double singular value: every rotation about it is right
    const Quat q = AnalyticPolarDecomposition(F, ToQuat(random.Rotation()), kMany);
    const double error = AngleBetween(RotationOf(q), PolarRotation(ToEigen(F)));
    CAPTURE(i, error, uncertainty);
    REQUIRE(error < 20.0 * uncertainty + 1e-6);
    REQUIRE(std::fabs(NormOf(q) - 1.0) < 4e-7);
    worst = std::max(worst, error / uncertainty);
  }
  CAPTURE(worst);
  CHECK(worst > 0.0);
}

TEST_CASE("APD does not stop at a rotation that is half a turn wrong") {
  for (int axis = 0; axis < 3; ++axis) {
    const Eigen::Matrix3d half =
        Eigen::AngleAxisd(3.14159265358979323846, Eigen::Vector3d::Unit(axis)).toRotationMatrix();
    // Exactly half a turn: the gradient of |R - F|^2 vanishes at the warm start.
    const Eigen::Matrix3d exact = half.unaryExpr([](double v) { return std::round(v); });
    for (const Eigen::Matrix3d& turn : {exact, half}) {
      const Quat q = AnalyticPolarDecomposition(ToMat3(turn), Quat{}, kMany);
      CAPTURE(axis);
      CHECK(AngleBetween(RotationOf(q), turn) < 1e-6);
      const Eigen::Matrix3d stretched = turn * Eigen::Vector3d(1.0, 2.0, 3.0).asDiagonal();
      const Quat p = AnalyticPolarDecomposition(ToMat3(stretched), Quat{}, kMany);
      CHECK(AngleBetween(RotationOf(p), turn) < 1e-6);
    }
  }
  // Flattened and a quarter turn away: both gradient and curvature are uninformative.
  Eigen::Matrix3d flat = Eigen::Matrix3d::Zero();
  flat(0, 1) = -1.0;
  flat(1, 0) = 1.0;
  const Quat quarter = AnalyticPolarDecomposition(ToMat3(flat), Quat{}, kMany);
  CHECK((RotationOf(quarter).transpose() * flat).trace() == Approx(2.0).margin(1e-5));
  // A point reflection has no unique rotation. Half turns minimise; the identity does not.
  const Quat q = AnalyticPolarDecomposition({{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, Quat{}, kMany);
  CHECK(RotationOf(q).trace() == Approx(-1.0).margin(1e-5));
}

TEST_CASE("A step of APD never turns further than a quarter turn") {
  Random random(7);
  for (int i = 0; i < 20000; ++i) {
    const Eigen::Matrix3d start = random.Rotation();
    const Mat3 F = ToMat3(Stretched(&random, 1e-6, 10.0, i % 2 == 0));
    const Quat q = AnalyticPolarDecomposition(F, ToQuat(start), 1);
    REQUIRE(IsFinite(q));
    REQUIRE(AngleBetween(RotationOf(q), start) < 0.5 * 3.14159265358979 + 1e-5);
  }
}

TEST_CASE("Singular gradients give finite unit quaternions") {
  Random random(8);
  for (int i = 0; i < 20000; ++i) {
    Eigen::Matrix3d F = random.Vector(1.0) * random.Vector(1.0).transpose();
    if (i % 3 == 1) F += random.Vector(1.0) * random.Vector(1.0).transpose();
    if (i % 3 == 2) F.row(2).setZero();  // flattened along an axis
    const double scale = std::exp(random.Uniform(-20.0, 20.0));
    const Quat q = AnalyticPolarDecomposition(ToMat3(F * scale), ToQuat(random.Rotation()), kMany);
    REQUIRE(IsFinite(q));
    REQUIRE(std::fabs(NormOf(q) - 1.0) < 4e-7);
    // Rank two determines the rotation.
    if (i % 3 == 0) continue;
    const Eigen::Vector3d s = F.jacobiSvd().singularValues();
    if (s.y() < 0.05 * s.x()) continue;
    const double reached = (RotationOf(q).transpose() * F).trace();
    REQUIRE(reached > s.sum() - 1e-4 * s.x());
  }
}

TEST_CASE("Gradients that do not determine a rotation keep the warm start") {
  const Quat warm = ToQuat(Random(9).Rotation());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const float value : {nan, inf, -inf}) {
    for (int place = 0; place < 9; ++place) {
      float entries[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
      entries[place] = value;
      const Mat3 F = {{entries[0], entries[1], entries[2]},
                      {entries[3], entries[4], entries[5]},
                      {entries[6], entries[7], entries[8]}};
      const Quat q = AnalyticPolarDecomposition(F, warm, kMany);
      CHECK((q.x == warm.x && q.y == warm.y && q.z == warm.z && q.w == warm.w));
    }
  }
  const Quat q = AnalyticPolarDecomposition(Mat3{}, warm, kMany);
  CHECK((q.x == warm.x && q.y == warm.y && q.z == warm.z && q.w == warm.w));
}

TEST_CASE("Quaternions stay of unit length over many steps") {
  Random random(10);
  Quat q;
  Eigen::Matrix3d R = Eigen::Matrix3d::Identity();
  for (int i = 0; i < 100000; ++i) {
    R = R * Eigen::AngleAxisd(0.05, Eigen::Vector3d(0.6, 0.0, 0.8)).toRotationMatrix();
    q = AnalyticPolarDecomposition(ToMat3(R), q, 4);
  }
  CHECK(std::fabs(NormOf(q) - 1.0) < 4e-7);
  CHECK(AngleBetween(RotationOf(q), R) < 1e-6);
}

}  // namespace polar_decomposition_test
