// SPDX-License-Identifier: MIT
#include "materials/polar_rotation.h"

#include "runtime/materials/material_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace plush;
using namespace plush::test;

namespace polar_rotation_test {

template <class T>
double OrthogonalityOf(const Matrix3<T>& R) {
  return NormOf(Cast<double>(TransposeTimes(R, R) - IdentityMatrix<T>()));
}

// Regular, inverted, flat to rank 2, 1 and 0, double singular values, of all scales.
Matrix AnyGradient(Random* random, int i) {
  Eigen::Vector3d s;
  for (int k = 0; k < 3; ++k) s[k] = std::exp(random->Uniform(-4.0, 4.0));
  if (i % 2 == 1) s[2] = -s[2];
  if (i % 7 == 1) s[random->Below(3)] = 0.0;
  if (i % 7 == 2) s[1] = s[2] = 0.0;
  if (i % 7 == 3) s[1] = s[0];
  if (i % 7 == 4) s = Eigen::Vector3d::Constant(i % 2 == 1 ? -1.0 : 1.0);
  if (i % 7 == 5) s[1] *= 1e-9;
  if (i % 70 == 6) s.setZero();
  return WithSingularValues(random, s);
}

template <class T>
void CheckDecomposition(const Matrix3<T>& F, T scale) {
  const double eps = std::numeric_limits<T>::epsilon();
  const SingularValues<T> svd = DecomposeSingular(F * scale);
  REQUIRE(OrthogonalityOf(svd.U) < 16.0 * eps);
  REQUIRE(OrthogonalityOf(svd.V) < 32.0 * eps);
  REQUIRE(double(Determinant(svd.U)) == Approx(1.0).epsilon(32.0 * eps));
  REQUIRE(double(Determinant(svd.V)) == Approx(1.0).epsilon(32.0 * eps));
  REQUIRE(svd.sigma.x * (T(1) + T(16) * T(eps)) >= svd.sigma.y);
  REQUIRE(svd.sigma.y * (T(1) + T(16) * T(eps)) >= std::fabs(svd.sigma.z));
  REQUIRE(svd.sigma.y >= T(0));
  const Matrix3<T> product =
      svd.U * DiagonalMatrix(svd.sigma.x / scale, svd.sigma.y / scale, svd.sigma.z / scale) *
      Transpose(svd.V);
  const auto error = Cast<double>(product - F);
  REQUIRE(NormOf(error) <= 32.0 * eps * NormOf(Cast<double>(F)));
}

TEST_CASE("The SVD gives F back with rotations, for every rank and scale") {
  const uint32_t seed = GENERATE(1u, 2u);
  Random random(seed);
  for (int i = 0; i < 3000; ++i) {
    const Matrix F = AnyGradient(&random, i);
    CAPTURE(seed, i);
    for (const double scale : {1.0, 0x1p-500, 0x1p500}) CheckDecomposition(F, scale);
    for (const float scale : {1.0f, 0x1p-80f, 0x1p80f}) CheckDecomposition(Cast<float>(F), scale);
    const Eigen::Vector3d s = ToEigen(F).jacobiSvd().singularValues();
    const Vector3<double> sigma = DecomposeSingular(F).sigma;
    REQUIRE(std::fabs(sigma.x - s[0]) + std::fabs(sigma.y - s[1]) +
                std::fabs(std::fabs(sigma.z) - s[2]) <
            1e-14 * s[0] + 1e-300);
  }
}

TEST_CASE("Polar decomposition leaves a symmetric stretch, by both ways") {
  Random random(3);
  for (int i = 0; i < 3000; ++i) {
    const Matrix F = AnyGradient(&random, i);
    CAPTURE(i);
    const Matrix by_newton = PolarRotation(F), by_svd = PolarRotationBySvd(F);
    for (const Matrix& R : {by_newton, by_svd}) {
      REQUIRE(OrthogonalityOf(R) < 1e-14);
      const Matrix S = TransposeTimes(R, F);
      REQUIRE(NormOf(S - Transpose(S)) <= 1e-13 * NormOf(S));
      // Positive semidefinite: its trace is the sum of the singular values.
      const Eigen::Vector3d s = ToEigen(F).jacobiSvd().singularValues();
      REQUIRE(Trace(S) >= s.sum() - 1e-13 * s[0]);
    }
    // Turning the smallest stretches changes little, so R is known to eps / smallest pair of them.
    const Eigen::Vector3d s = ToEigen(F).jacobiSvd().singularValues();
    if (s[2] <= 1e-6 * s[0]) continue;
    REQUIRE(NormOf(by_newton - by_svd) < 1e-13 * s[0] / (s[1] + s[2]));
    const auto f = PolarRotation(Cast<float>(F));
    REQUIRE(OrthogonalityOf(f) < 1e-5);
    REQUIRE(NormOf(Cast<double>(f) - by_svd) < 2e-5 * s[0] / (s[1] + s[2]));
  }
}

TEST_CASE("The invertible rotation is the closest one") {
  Random random(4);
  for (int i = 0; i < 1000; ++i) {
    const Matrix F = AnyGradient(&random, i), R = InvertibleRotation(F);
    CAPTURE(i);
    REQUIRE(OrthogonalityOf(R) < 1e-14);
    REQUIRE(Determinant(R) == Approx(1.0));
    for (int k = 0; k < 20; ++k) {
      REQUIRE(Inner(FromEigen(random.Rotation()), F) <= Inner(R, F) + 1e-13 * NormOf(F));
    }
    if (Determinant(F) > 1e-9 * std::pow(NormOf(F), 3)) {
      REQUIRE(NormOf(R - PolarRotation(F)) < 1e-5);
    }
  }
}

TEST_CASE("The coherent rotation keeps the direction of the reflection") {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    // Stretches along fixed material axes; the smallest one changes from the third to the first.
    const Matrix U = FromEigen(random.Rotation()), V = FromEigen(random.Rotation());
    Vector3<double> reflected{};
    const auto at = [&](double x, double z) {
      return U * DiagonalMatrix(x, 2.0, z) * Transpose(V);
    };
    const Matrix regular = CoherentRotation(at(1.0, 0.5), &reflected);
    CHECK(Dot(reflected, reflected) == 0.0);
    const Matrix first = CoherentRotation(at(1.0, -0.5), &reflected);
    CHECK(std::fabs(Dot(reflected, V.c2)) == Approx(1.0));
    const Matrix second = CoherentRotation(at(1.0, -1.5), &reflected);
    CHECK(std::fabs(Dot(reflected, V.c2)) == Approx(1.0));
    CHECK(NormOf(first - regular) < 1e-12);
    CHECK(NormOf(second - regular) < 1e-12);
    CHECK(Determinant(second) == Approx(1.0));
    // Without the memory, another stretch is reflected.
    CHECK(NormOf(InvertibleRotation(at(1.0, -1.5)) - regular) > 0.1);
    // It recovers and forgets.
    CoherentRotation(at(1.0, 0.5), &reflected);
    CHECK(Dot(reflected, reflected) == 0.0);
  }
}

TEST_CASE("QR gives an upper triangular rest, and a rotation for every F") {
  Random random(6);
  for (int i = 0; i < 3000; ++i) {
    const Matrix F = AnyGradient(&random, i);
    CAPTURE(i);
    const Matrix Q = QrRotation(F);
    REQUIRE(OrthogonalityOf(Q) < 1e-14);
    REQUIRE(Determinant(Q) == Approx(1.0));
    const Matrix U = TransposeTimes(Q, F);
    REQUIRE(std::fabs(U.c0.y) + std::fabs(U.c0.z) + std::fabs(U.c1.z) <= 1e-14 * NormOf(F));
    REQUIRE(U.c0.x >= 0.0);
    REQUIRE(U.c1.y >= -1e-14 * NormOf(F));
    REQUIRE(OrthogonalityOf(QrRotation(Cast<float>(F))) < 1e-6);
  }
}

TEST_CASE("Differentials of rotations are their derivatives") {
  Random random(7);
  for (int i = 0; i < 1000; ++i) {
    Matrix F = RandomGradient(&random);
    if (i % 3 == 1) {
      // Inverted, and away from where two stretches cancel.
      F = WithSingularValues(&random, {random.Uniform(1.5, 3.0), random.Uniform(1.2, 3.0),
                                       random.Uniform(-0.9, -0.3)});
    }
    const Matrix dF = FromEigen(random.Matrix(1.0));
    const auto check = [&](const auto& rotation, const Matrix& dR) {
      const Matrix expected = FiniteDifference(rotation, F, dF, 5e-4);
      CAPTURE(i, NormOf(expected - dR), NormOf(dR));
      CHECK(NormOf(expected - dR) < 1e-6 * (1.0 + NormOf(dR)));
    };
    const auto invertible = [](const Matrix& at) { return InvertibleRotation(at); };
    const auto polar = [](const Matrix& at) { return PolarRotation(at); };
    const auto qr = [](const Matrix& at) { return QrRotation(at); };
    check(invertible, PolarRotationDifferential(F, InvertibleRotation(F), dF));
    check(polar, PolarRotationDifferential(F, PolarRotation(F), dF));
    check(qr, QrRotationDifferential(F, QrRotation(F), dF));
  }
  // Not unique: none, and no division by zero.
  const Matrix zero{};
  CHECK(NormOf(PolarRotationDifferential(zero, IdentityMatrix<double>(),
                                         IdentityMatrix<double>())) == 0.0);
  CHECK(NormOf(QrRotationDifferential(zero, IdentityMatrix<double>(), IdentityMatrix<double>())) ==
        0.0);
  const Matrix critical = DiagonalMatrix(2.0, 1.0, -1.0);
  CHECK(NormOf(PolarRotationDifferential(critical, IdentityMatrix<double>(),
                                         FromEigen(random.Matrix(1.0)))) == 0.0);
}

TEST_CASE("Gradients that are not finite decompose into the identity") {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Matrix F = IdentityMatrix<double>();
    F.c1.z = bad;
    CHECK(NormOf(PolarRotation(F) - IdentityMatrix<double>()) == 0.0);
    CHECK(NormOf(InvertibleRotation(F) - IdentityMatrix<double>()) == 0.0);
    CHECK(DecomposeSingular(F).sigma.x == 0.0);
  }
}

}  // namespace polar_rotation_test
