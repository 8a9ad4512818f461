// SPDX-License-Identifier: MIT
#include "materials/rotation_method.h"

#include "runtime/materials/material_fixtures.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace plush;
using namespace plush::test;

namespace rotation_method_test {

constexpr RotationMethod kAll[] = {
    RotationMethod::kPolar,       RotationMethod::kSvd,     RotationMethod::kInvertibleSvd,
    RotationMethod::kCoherentSvd, RotationMethod::kQr,      RotationMethod::kPolarQr,
    RotationMethod::kProject,     RotationMethod::kReflect, RotationMethod::kDegenerationAware,
    RotationMethod::kAnalytic};

const Matrix kUnitTet = IdentityMatrix<double>();  // Dm^-1 of the unit corner

Matrix Extract(RotationMethod method, const Matrix& F, RotationState<double>* state) {
  return ExtractRotation<double>({method, 0.1, 3.0}, F, kUnitTet, state);
}

TEST_CASE("On regular tets all methods but QR give the rotation of the polar decomposition") {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const Matrix F = RandomGradient(&random), R = FromEigen(random.Rotation());
    const bool is_regular = Determinant(F) > 0.11;
    for (const RotationMethod method : kAll) {
      CAPTURE(i, int(method), Determinant(F));
      RotationState<double> state;
      state.witness = 1;  // of no effect above alpha
      const Matrix found = Extract(method, F, &state);
      CHECK(NormOf(state.rotation - found) == 0.0);
      if (method == RotationMethod::kQr || !is_regular) continue;
      CHECK(NormOf(found - PolarRotationBySvd(F)) < 1e-12);
      // Floats.
      RotationState<float> state_f;
      const auto found_f = ExtractRotation<float>({method, 0.1f, 3.0f}, Cast<float>(F),
                                                  Cast<float>(kUnitTet), &state_f);
      CHECK(NormOf(Cast<double>(found_f) - found) < 3e-5);
      // A turn of the world turns the rotation.
      const Matrix turned = Extract(method, R * F, &state);
      CHECK(NormOf(turned - R * found) < 1e-12);
    }
  }
}

TEST_CASE("Methods differ as described on inverted tets") {
  Random random(2);
  const Matrix U = FromEigen(random.Rotation()), F = U * DiagonalMatrix(1.0, 0.8, -0.3);
  RotationState<double> state;
  state.witness = 8;  // node d passed the face a, b, c
  for (const RotationMethod method : kAll) {
    const Matrix R = Extract(method, F, &state);
    CAPTURE(int(method));
    const bool reflects = method == RotationMethod::kPolar || method == RotationMethod::kSvd;
    CHECK(Determinant(R) == Approx(reflects ? -1.0 : 1.0));
    if (!reflects) CHECK(NormOf(R - U) < 1e-12);
  }
  // d passes the face much farther than it was away: invertible SVD reflects another stretch and
  // turns by half; DAPD, Project and Reflect keep the way back.
  const Matrix far = U * DiagonalMatrix(1.0, 0.8, -1.3);
  CHECK(NormOf(Extract(RotationMethod::kInvertibleSvd, far, &state) - U) > 1.0);
  for (const RotationMethod method :
       {RotationMethod::kProject, RotationMethod::kReflect, RotationMethod::kDegenerationAware}) {
    CHECK(NormOf(Extract(method, far, &state) - U) < 1e-12);
  }
  // The switch of polar decomposition and QR.
  const Matrix sheared = {{1.0, 0.0, 0.0}, {0.5, 1.0, 0.0}, {0.2, 0.3, 0.07}};
  const Matrix flatter = {{1.0, 0.0, 0.0}, {0.5, 1.0, 0.0}, {0.2, 0.3, 0.05}};
  CHECK(NormOf(Extract(RotationMethod::kPolarQr, sheared, &state) - PolarRotation(sheared)) == 0.0);
  CHECK(NormOf(Extract(RotationMethod::kPolarQr, flatter, &state) - QrRotation(flatter)) == 0.0);
}

TEST_CASE("Project, Reflect and DAPD turn an inverted tet as the tet that they displace") {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    const Matrix F =
        WithSingularValues(&random, {random.Uniform(0.8, 2.0), 0.7, random.Uniform(-0.6, -0.1)});
    const double det = Determinant(F);
    RotationState<double> state;
    state.witness = 2;
    const Vector3<double> b = WitnessGradient(kUnitTet, state.witness);
    const Vector3<double> n = Cofactor(F) * b;
    if (Dot(n, n) < 0.01) continue;
    const auto expected = [&](double displaced_det) {
      return InvertibleRotation(F + Outer(n, b) * ((displaced_det - det) / Dot(n, n)));
    };
    CAPTURE(i, det);
    CHECK(NormOf(Extract(RotationMethod::kProject, F, &state) - expected(0.1)) < 1e-10);
    CHECK(NormOf(Extract(RotationMethod::kReflect, F, &state) - expected(0.2 - det)) < 1e-10);
    const double aware = det + 3.0 * (0.1 - det);  // Eq. 4.11 with beta = 3
    CHECK(NormOf(Extract(RotationMethod::kDegenerationAware, F, &state) - expected(aware)) < 1e-10);
  }
}

TEST_CASE("Every method gives an orthogonal matrix for every gradient, or keeps the last one") {
  Random random(3);
  for (int i = 0; i < 1500; ++i) {
    Eigen::Vector3d s = random.Vector(2.0);
    if (i % 6 == 1) s[2] = 0.0;
    if (i % 6 == 2) s[1] = s[2] = 0.0;
    if (i % 6 == 3) s = {1.0, 1.0, -1.0};
    if (i % 6 == 4) s = {1.0, 1.0, -1e-12};
    if (i % 60 == 5) s.setZero();
    const Matrix base = WithSingularValues(&random, s), dF = FromEigen(random.Matrix(1.0));
    for (const double scale : {1.0, 1e-12, 1e12, 1e-60, 1e60}) {
      for (const RotationMethod method : kAll) {
        CAPTURE(i, int(method), scale, s[0], s[1], s[2]);
        RotationState<double> state;
        state.rotation = FromEigen(random.Rotation());
        state.witness = WitnessOf(static_cast<uint8_t>(1 + random.Below(14)));
        const Matrix R = Extract(method, base * scale, &state);
        REQUIRE(NormOf(TransposeTimes(R, R) - IdentityMatrix<double>()) < 1e-12);
        REQUIRE(IsFinite(
            RotationDifferential<double>({method, 0.1, 3.0}, base * scale, kUnitTet, state, dF)));
        RotationState<float> state_f;
        state_f.witness = state.witness;
        if (scale < 1e-20 || scale > 1e20) continue;
        const auto R_f = Cast<double>(ExtractRotation<float>(
            {method, 0.1f, 3.0f}, Cast<float>(base * scale), Cast<float>(kUnitTet), &state_f));
        REQUIRE(NormOf(TransposeTimes(R_f, R_f) - IdentityMatrix<double>()) < 2e-5);
      }
    }
  }
  const Matrix last = FromEigen(random.Rotation());
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const RotationMethod method : kAll) {
      RotationState<double> state{last, {}, 1};
      Matrix F = RandomGradient(&random);
      F.c1.y = bad;
      CHECK(NormOf(Extract(method, F, &state) - last) == 0.0);
      CHECK(NormOf(RotationDifferential<double>({method, 0.1, 3.0}, F, kUnitTet, state, last)) ==
            0.0);
    }
  }
}

TEST_CASE("A degenerate tet whose features have no direction keeps its last rotation") {
  Random random(4);
  const Matrix last = FromEigen(random.Rotation());
  RotationState<double> state{last, {}, 2};
  // Node d in the middle of a and c: the face opposite b is a line.
  const Matrix F = {{0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}, {0.0, 0.0, 0.5}};
  const RotationSettings<double> settings{RotationMethod::kDegenerationAware, 0.1, 3.0};
  CHECK(NormOf(Extract(settings.method, F, &state) - last) == 0.0);
  CHECK(NormOf(RotationDifferential(settings, F, kUnitTet, state, last)) == 0.0);
  state.witness = 1;
  CHECK(NormOf(Extract(settings.method, F, &state) - last) > 0.1);
  // Degenerate, but not known to be: invertible SVD.
  state.witness = kNoWitness;
  const Matrix inverted = DiagonalMatrix(1.0, 1.0, -0.5);
  CHECK(NormOf(Extract(settings.method, inverted, &state) - InvertibleRotation(inverted)) == 0.0);
}

TEST_CASE("The differential of every method is its derivative") {
  Random random(5);
  for (int i = 0; i < 400; ++i) {
    Eigen::Vector3d s(random.Uniform(1.3, 2.0), random.Uniform(1.0, 1.2), random.Uniform(0.3, 0.9));
    if (i % 2 == 1) s[2] = random.Uniform(-0.7, -0.05);
    const Matrix F = WithSingularValues(&random, s), dF = FromEigen(random.Matrix(1.0));
    const Witness witness = WitnessOf(static_cast<uint8_t>(1 + random.Below(14)));
    const Vector3<double> b = WitnessGradient(kUnitTet, witness);
    if (NormOf(Outer(Cofactor(F) * b, b)) < 0.3 * Dot(b, b)) continue;
    for (const RotationMethod method : kAll) {
      const RotationSettings<double> settings{method, 0.1, 3.0};
      RotationState<double> state;
      state.witness = witness;
      state.rotation = InvertibleRotation(F);
      ExtractRotation(settings, F, kUnitTet, &state);
      const RotationState<double> at_f = state;
      const auto rotation = [&](const Matrix& at) {
        RotationState<double> copy = at_f;
        return ExtractRotation(settings, at, kUnitTet, &copy);
      };
      const Matrix expected = FiniteDifference(rotation, F, dF, 2e-4);
      const Matrix dR = RotationDifferential(settings, F, kUnitTet, at_f, dF);
      CAPTURE(i, int(method), int(witness), s[2], NormOf(expected), NormOf(dR));
      CHECK(NormOf(expected - dR) < 1e-6 * (1.0 + NormOf(dR)));
    }
  }
}

TEST_CASE("Quaternions and matrices of rotations convert to each other") {
  Random random(6);
  for (int i = 0; i < 1000; ++i) {
    Matrix R = FromEigen(random.Rotation());
    if (i % 4 == 1) {
      R = FromEigen(Eigen::Matrix3d(
          Eigen::AngleAxisd(3.14159265358979, random.Direction()).toRotationMatrix()));
    }
    CHECK(NormOf(RotationMatrixOf<double>(QuaternionOf(R)) - R) < 1e-6);
  }
}

}  // namespace rotation_method_test
