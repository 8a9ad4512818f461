// SPDX-License-Identifier: MIT
#include "materials/degeneration_aware.h"

#include "materials/rotation_method.h"
#include "runtime/materials/material_fixtures.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>

using namespace plush;
using namespace plush::test;

namespace degeneration_aware_test {

using Nodes = std::array<Eigen::Vector3d, 4>;

constexpr Witness kPairs[] = {1, 2, 4, 8, 3, 5, 9};
constexpr int kSamples = 700;

Eigen::Matrix3d EdgesOf(const Nodes& x) {
  Eigen::Matrix3d edges;
  edges << x[1] - x[0], x[2] - x[0], x[3] - x[0];
  return edges;
}

// The paper's Algorithm 1 with its node positions, u, w, h and lambda [Civ, Eq. 4.1 to 4.11]; the
// sign of u is the one for which w |u| = det Ds.
Eigen::Matrix3d PaperGradient(const Nodes& x, const Eigen::Matrix3d& dm, Witness pair, double alpha,
                              double beta) {
  std::vector<int> a, b;
  for (int i = 0; i < 4; ++i) (pair >> i & 1 ? a : b).push_back(i);
  const auto at = [&](int i) { return x[size_t(i)]; };
  Eigen::Vector3d u;
  if (a.size() == 1)
    u = (at(b[1]) - at(b[0])).cross(at(b[2]) - at(b[0]));
  else
    u = (at(a[1]) - at(a[0])).cross(at(b[1]) - at(b[0]));
  double w = (at(a[0]) - at(b[0])).dot(u) / u.norm();
  if (w * EdgesOf(x).determinant() < 0.0) {
    u = -u;
    w = -w;
  }
  REQUIRE(w * u.norm() == Approx(EdgesOf(x).determinant()).epsilon(1e-9));
  const double h = alpha * dm.determinant() / u.norm(), s = -w / h, r = 1.0 + s;
  double lambda = 0.0;
  if (w < h) lambda = beta * h * (2.0 * r * r - r * r * r);
  if (w < 0.0) lambda = beta * h * r;
  Nodes moved = x;
  for (const int i : a) moved[size_t(i)] += lambda * u / u.norm();
  return EdgesOf(moved) * dm.inverse();
}

// A degenerate tet: rest shape, F with det F in the wanted range, and its pair.
struct Subject {
  Subject(Random* random, double low, double high) {
    do {
      Draw(random, low, high);
      // Away from where the direction vanishes.
    } while (EdgesOf(rest).determinant() < 0.2 ||
             NormOf(Outer(Cofactor(F) * b, b)) < 0.2 * NormOf(Cofactor(F)) * Dot(b, b));
    x[0] = random->Vector(1.0);
    const Eigen::Matrix3d edges = ToEigen(F) * dm;
    for (size_t i = 0; i < 3; ++i) x[i + 1] = x[0] + edges.col(Eigen::Index(i));
  }

  void Draw(Random* random, double low, double high) {
    for (auto& node : rest) node = random->Vector(1.0);
    dm = EdgesOf(rest);
    dm_inv = FromEigen(Eigen::Matrix3d(dm.inverse()));
    const double J = random->Uniform(low, high);
    const double s0 = random->Uniform(0.5, 2.0), s1 = random->Uniform(0.5, 2.0);
    F = WithSingularValues(random, {s0, s1, J / (s0 * s1)});
    pair = kPairs[random->Below(7)];
    b = WitnessGradient(dm_inv, pair);
  }

  Nodes rest, x;
  Eigen::Matrix3d dm;
  Matrix dm_inv, F;
  Vector3<double> b;
  Witness pair = kNoWitness;
};

// Degenerate in the middle region, and inverted.
Subject DegenerateSubject(Random* random, int i) {
  return i % 2 == 0 ? Subject(random, 0.01, 0.09) : Subject(random, -0.8, -0.01);
}

const Displacement<double> kSmooth{0.1, 3.0, true};

TEST_CASE("The displaced gradient is that of the paper's Algorithm 1 for all seven pairs") {
  Random random(1);
  for (int i = 0; i < kSamples; ++i) {
    const Subject s(&random, -1.0, 0.3);
    const double alpha = random.Uniform(0.02, 0.3), beta = random.Uniform(1.0, 5.0);
    CAPTURE(i, int(s.pair), alpha, beta, Determinant(s.F));
    const Matrix displaced = DisplacedGradient<double>({alpha, beta, true}, s.F, s.b);
    const Eigen::Matrix3d expected = PaperGradient(s.x, s.dm, s.pair, alpha, beta);
    CHECK((ToEigen(displaced) - expected).norm() < 1e-9 * (1.0 + expected.norm()));
    // B moved the other way is the same.
    const Matrix of_b = DisplacedGradient<double>({alpha, beta, true}, s.F, -s.b);
    CHECK(NormOf(of_b - displaced) < 1e-12 * NormOf(displaced));
    // It never degenerates: for beta = 1, det F' dips to 23/27 alpha.
    CHECK(Determinant(displaced) >= std::min(alpha * 23.0 / 27.0, Determinant(s.F)) - 1e-12);
    CHECK(Determinant(displaced) > 0.85 * alpha);
    if (Determinant(s.F) >= alpha) CHECK(NormOf(displaced - s.F) == 0.0);
    // Project: exactly alpha. Reflect: 2 alpha - det F.
    if (Determinant(s.F) < alpha) {
      const Matrix project = DisplacedGradient<double>({alpha, 1.0, false}, s.F, s.b);
      const Matrix reflect = DisplacedGradient<double>({alpha, 2.0, false}, s.F, s.b);
      CHECK(Determinant(project) == Approx(alpha).epsilon(1e-9));
      CHECK(Determinant(reflect) == Approx(2.0 * alpha - Determinant(s.F)).epsilon(1e-9));
    }
  }
  const double dip = 0.1 * (1.0 - 1.0 / 3.0);
  const auto step = PushFactorAt(1.0 - dip / 0.1, true);
  CHECK(dip + 0.1 * step.phi == Approx(0.1 * 23.0 / 27.0));
}

TEST_CASE("The displaced gradient and its differential are continuous at both thresholds") {
  for (const double r : {0.0, 1.0}) {
    const auto below = PushFactorAt(r - 1e-9, true), above = PushFactorAt(r + 1e-9, true);
    CHECK(below.phi == Approx(above.phi).margin(1e-8));
    CHECK(below.slope == Approx(above.slope).margin(1e-8));
  }
}

TEST_CASE("The differentials of the displaced gradient and its rotation are their derivatives") {
  Random random(2);
  for (int i = 0; i < kSamples; ++i) {
    const Subject s = DegenerateSubject(&random, i);
    const Matrix dF = FromEigen(random.Matrix(1.0));
    CAPTURE(i, int(s.pair), Determinant(s.F));
    for (const Displacement<double>& displacement :
         {kSmooth, Displacement<double>{0.1, 1.0, false}, Displacement<double>{0.1, 2.0, false}}) {
      const auto displaced = [&](const Matrix& F) {
        return DisplacedGradient(displacement, F, s.b);
      };
      const auto rotation = [&](const Matrix& F) { return InvertibleRotation(displaced(F)); };
      const Matrix expected = FiniteDifference(displaced, s.F, dF, 1e-4);
      const Matrix d = DisplacedGradientDifferential(displacement, s.F, s.b, dF);
      CHECK(NormOf(d - expected) < 1e-6 * (1.0 + NormOf(expected)));
      const Matrix turned = FiniteDifference(rotation, s.F, dF, 1e-4);
      const Matrix dR = PolarRotationDifferential(displaced(s.F), rotation(s.F), d);
      CHECK(NormOf(dR - turned) < 1e-6 * (1.0 + NormOf(turned)));
    }
  }
}

TEST_CASE("The exact stress of degenerate tets is the derivative of their energy") {
  const auto method = GENERATE(RotationMethod::kDegenerationAware, RotationMethod::kProject,
                               RotationMethod::kReflect);
  const uint32_t seed = GENERATE(3u, 6u);
  const Displacement<double> displacement = DisplacementOf(RotationSettings<double>{method});
  Random random(seed);
  double most_left_out = 0.0;
  for (int i = 0; i < kSamples; ++i) {
    const Subject s = DegenerateSubject(&random, i);
    const LameConstants<double> lame = LameOf(1.0, random.Uniform(0.0, 0.45));
    const Matrix dF = FromEigen(random.Matrix(1.0)), other = FromEigen(random.Matrix(1.0));
    for (const Material material : {Material::kCorotated, Material::kCorrectedCorotated}) {
      CAPTURE(seed, i, int(method), int(s.pair), int(material), Determinant(s.F));
      const auto rotation = [&](const Matrix& F) {
        return InvertibleRotation(DisplacedGradient(displacement, F, s.b));
      };
      const auto energy = [&](const Matrix& F) {
        return EnergyDensity(material, lame, F, rotation(F));
      };
      const auto stress = [&](const Matrix& F) {
        return DegenerateStress(material, lame, displacement, F, s.b, rotation(F));
      };
      const Matrix P = stress(s.F), R = rotation(s.F);
      const double slope = FiniteDifference(energy, s.F, dF, 1e-4);
      CHECK(Inner(P, dF) == Approx(slope).margin(1e-6 * (1.0 + NormOf(P)) * NormOf(dF)));
      most_left_out = std::max(most_left_out, NormOf(P - Stress(material, lame, s.F, R)));
      const auto differential = [&](const Matrix& direction) {
        return DegenerateStressDifferential(material, lame, displacement, s.F, s.b, R, direction);
      };
      const Matrix dP = differential(dF), expected = FiniteDifference(stress, s.F, dF, 1e-4);
      CHECK(NormOf(dP - expected) < 1e-6 * (1.0 + NormOf(expected)));
      CHECK(Inner(dP, other) == Approx(Inner(differential(other), dF)).epsilon(1e-9).margin(1e-9));
      // No moment: a turn of the world changes nothing.
      const Matrix moment = P * Transpose(s.F);
      CHECK(NormOf(moment - Transpose(moment)) < 1e-9 * (1.0 + NormOf(moment)));
      // The approximate stress and its own differential, with this rotation's dR.
      const auto approximate = [&](const Matrix& F) {
        return Stress(material, lame, F, rotation(F));
      };
      const Matrix dR =
          PolarRotationDifferential(DisplacedGradient(displacement, s.F, s.b), R,
                                    DisplacedGradientDifferential(displacement, s.F, s.b, dF));
      const Matrix change = FiniteDifference(approximate, s.F, dF, 1e-4);
      CHECK(NormOf(ExactStressDifferential(material, lame, s.F, R, dF, dR) - change) <
            1e-6 * (1.0 + NormOf(change)));
    }
  }
  CAPTURE(seed, int(method), most_left_out);
  CHECK(most_left_out > 0.1);
}

// The energy does not change to first order with R where R^T F is symmetric. So the kink of Project
// and Reflect is one of the stress, not of the energy.
TEST_CASE("At the threshold exact stresses are continuous, their differentials by DAPD only") {
  constexpr RotationMethod kMethods[] = {RotationMethod::kDegenerationAware,
                                         RotationMethod::kProject, RotationMethod::kReflect};
  constexpr uint32_t kSeed = 7;
  constexpr double kOff = 1e-7;  // of det F from alpha, on either side
  Random random(kSeed);
  double stress_jumps[3] = {}, differential_jumps[3] = {};
  for (int i = 0; i < kSamples; ++i) {
    const LameConstants<double> lame = LameOf(1.0, random.Uniform(0.0, 0.45));
    const Subject s(&random, 0.1 - kOff, 0.1 - kOff);
    const Matrix above = s.F * std::cbrt((0.1 + kOff) / Determinant(s.F));
    const Matrix dF = FromEigen(random.Matrix(1.0));
    for (const Material material : {Material::kCorotated, Material::kCorrectedCorotated}) {
      for (size_t k = 0; k < 3; ++k) {
        const Displacement<double> displacement =
            DisplacementOf(RotationSettings<double>{kMethods[k]});
        const auto rotation = [&](const Matrix& F) {
          return InvertibleRotation(DisplacedGradient(displacement, F, s.b));
        };
        const auto stress = [&](const Matrix& F) {
          return DegenerateStress(material, lame, displacement, F, s.b, rotation(F));
        };
        const auto differential = [&](const Matrix& F) {
          return DegenerateStressDifferential(material, lame, displacement, F, s.b, rotation(F),
                                              dF);
        };
        const auto jump = [&](const auto& function) {
          const Matrix of_above = function(above);
          return NormOf(function(s.F) - of_above) / (1.0 + NormOf(of_above));
        };
        stress_jumps[k] = std::max(stress_jumps[k], jump(stress));
        differential_jumps[k] = std::max(differential_jumps[k], jump(differential));
      }
    }
  }
  for (size_t k = 0; k < 3; ++k) {
    CAPTURE(kSeed, int(kMethods[k]), stress_jumps[k], differential_jumps[k]);
    CHECK(stress_jumps[k] < 1e-4);
    if (k == 0) CHECK(differential_jumps[k] < 1e-3);
    if (k != 0) CHECK(differential_jumps[k] > 0.1);
  }
}

TEST_CASE("Above the threshold, exact and approximate stress agree with the regular ones") {
  Random random(4);
  for (int i = 0; i < kSamples; ++i) {
    const Subject s(&random, 0.11, 2.0);
    const LameConstants<double> lame = LameOf(1.0, 0.35);
    const Matrix R = InvertibleRotation(s.F), dF = FromEigen(random.Matrix(1.0));
    for (const Material material : {Material::kCorotated, Material::kCorrectedCorotated}) {
      const Matrix P = Stress(material, lame, s.F, R);
      CHECK(NormOf(DegenerateStress(material, lame, kSmooth, s.F, s.b, R) - P) <
            1e-11 * (1.0 + NormOf(P)));
      const Matrix dP = ExactStressDifferential(material, lame, s.F, R, dF,
                                                PolarRotationDifferential(s.F, R, dF));
      CHECK(NormOf(DegenerateStressDifferential(material, lame, kSmooth, s.F, s.b, R, dF) - dP) <
            1e-9 * (1.0 + NormOf(dP)));
    }
  }
}

TEST_CASE("The direction of a pair vanishes with its face or edges, and only then") {
  Random random(5);
  for (int i = 0; i < 300; ++i) {
    const Subject s = DegenerateSubject(&random, i);
    CHECK(HasDirection(s.F, s.b));
    CHECK(HasDirection(s.F * 1e-60, s.b));
    CHECK(HasDirection(s.F * 1e60, s.b));
    CHECK_FALSE(HasDirection(WithSingularValues(&random, {1.0, 0.0, 0.0}), s.b));
    CHECK_FALSE(HasDirection(Matrix{}, s.b));
    Matrix broken = s.F;
    broken.c0.x = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(HasDirection(broken, s.b));
    // The face opposite node 1 becomes a line: its normal is undefined, other pairs' are not.
    Nodes x = s.x;
    x[3] = 0.5 * (x[0] + x[2]);
    const Matrix F = FromEigen(Eigen::Matrix3d(EdgesOf(x) * s.dm.inverse()));
    CHECK_FALSE(HasDirection(F, WitnessGradient(s.dm_inv, 2)));
    CHECK(HasDirection(F, WitnessGradient(s.dm_inv, 1)));
  }
}

}  // namespace degeneration_aware_test
