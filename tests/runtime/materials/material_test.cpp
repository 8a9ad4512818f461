// SPDX-License-Identifier: MIT
#include "materials/material.h"

#include "materials/polar_rotation.h"
#include "runtime/materials/material_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <utility>

using namespace plush;
using namespace plush::test;

namespace materials_material_test {

constexpr Material kAll[] = {Material::kLinear, Material::kCorotated, Material::kCorrectedCorotated,
                             Material::kStVenantKirchhoff, Material::kNeoHookean};
constexpr int kSamples = 500;

LameConstants<double> RandomLame(Random* random) { return LameOf(1.0, random->Uniform(0.0, 0.45)); }

double EnergyAt(Material material, const LameConstants<double>& lame, const Matrix& F) {
  return EnergyDensity(material, lame, F, InvertibleRotation(F));
}
Matrix StressAt(Material material, const LameConstants<double>& lame, const Matrix& F) {
  return Stress(material, lame, F, InvertibleRotation(F));
}

// How far a material's derivatives are from finite differences, relative to their size.
void CheckDerivatives(Material material, const LameConstants<double>& lame, const Matrix& F,
                      const Matrix& dF) {
  const Matrix R = InvertibleRotation(F);
  const auto energy = [&](const Matrix& at) { return EnergyAt(material, lame, at); };
  const auto stress = [&](const Matrix& at) { return StressAt(material, lame, at); };
  const Matrix P = stress(F);
  const double slope = FiniteDifference(energy, F, dF);
  CAPTURE(int(material), slope, Inner(P, dF));
  CHECK(std::fabs(slope - Inner(P, dF)) < 1e-6 * (1.0 + NormOf(P)) * NormOf(dF));
  const Matrix expected = FiniteDifference(stress, F, dF);
  const Matrix dP = DifferentialOfStress(StressDifferential::kExact, material, lame, F, R, dF,
                                         PolarRotationDifferential(F, R, dF));
  CHECK(NormOf(expected - dP) < 1e-6 * (1.0 + NormOf(expected)));
}

TEST_CASE("Stresses and their differentials are the derivatives of the energy") {
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < kSamples; ++i) {
    const LameConstants<double> lame = RandomLame(&random);
    const Matrix F = RandomGradient(&random), dF = FromEigen(random.Matrix(1.0));
    CAPTURE(i);
    for (const Material material : kAll) CheckDerivatives(material, lame, F, dF);
  }
}

TEST_CASE("The neo-Hookean material is smooth below its limit and pushes inverted tets out") {
  Random random(3);
  const LameConstants<double> lame = LameOf(1.0, 0.3);
  for (int i = 0; i < kSamples; ++i) {
    // Mostly inverted or nearly flat.
    const Matrix F = WithSingularValues(
        &random, {random.Uniform(0.3, 2.0), random.Uniform(0.3, 2.0), random.Uniform(-1.0, 0.05)});
    CheckDerivatives(Material::kNeoHookean, lame, F, FromEigen(random.Matrix(1.0)));
  }
  // Squeezed along one axis, the energy falls as that axis grows, through zero and beyond.
  double last = std::numeric_limits<double>::infinity();
  for (double s = -3.0; s < 0.9; s += 0.01) {
    const Matrix F = DiagonalMatrix(1.0, 1.0, s);
    const double energy = EnergyAt(Material::kNeoHookean, lame, F);
    CAPTURE(s);
    // Where |F|^2 falls more slowly than the volume term rises, which is everywhere here.
    REQUIRE(energy < last);
    last = energy;
  }
  // Value, slope and curvature continue across the limit.
  const double limit = kNeoHookeanLimit, step = 1e-9;
  const auto below = VolumeLog(limit - step, limit), above = VolumeLog(limit + step, limit);
  CHECK(above.value - below.value == Approx(2.0 * step / limit).epsilon(1e-6));
  CHECK(above.slope == Approx(below.slope).epsilon(1e-6));
  CHECK(above.curvature == Approx(below.curvature).epsilon(1e-6));
}

TEST_CASE("The logarithm of volumes is the logarithm") {
  Random random(4);
  for (int i = 0; i < 20000; ++i) {
    const double x = std::exp(random.Uniform(-600.0, 600.0)), near = random.Uniform(0.5, 2.0);
    REQUIRE(NaturalLog(x) == Approx(std::log(x)).epsilon(1e-15).margin(4e-16));
    REQUIRE(std::fabs(NaturalLog(near) - std::log(near)) < 4e-16);
    const auto f = static_cast<float>(near);
    REQUIRE(std::fabs(double(NaturalLog(f)) - std::log(double(f))) < 1.2e-7);
  }
  CHECK(NaturalLog(1.0) == 0.0);
}

TEST_CASE("The default material is the energy of the splitting solver") {
  Random random(5);
  for (int i = 0; i < kSamples; ++i) {
    const LameConstants<double> lame = RandomLame(&random);
    Matrix F = RandomGradient(&random);
    if (i % 3 == 0) F.c1 = -F.c1;  // inverted
    const Matrix R = InvertibleRotation(F), off = F - R;
    const double J = Determinant(F);
    const double expected = lame.mu * Inner(off, off) + 0.5 * lame.lambda * (J - 1.0) * (J - 1.0);
    CHECK(EnergyAt(Material::kCorrectedCorotated, lame, F) == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("Turning the world or the material turns the stress, except of the linear material") {
  Random random(6);
  for (int i = 0; i < kSamples; ++i) {
    const LameConstants<double> lame = RandomLame(&random);
    const Matrix F = RandomGradient(&random), Q = FromEigen(random.Rotation());
    for (const Material material : kAll) {
      if (material == Material::kLinear) continue;
      CAPTURE(i, int(material));
      const Matrix P = StressAt(material, lame, F);
      CHECK(NormOf(StressAt(material, lame, Q * F) - Q * P) < 1e-11 * (1.0 + NormOf(P)));
      CHECK(NormOf(StressAt(material, lame, F * Q) - P * Q) < 1e-11 * (1.0 + NormOf(P)));
      // Balance of angular momentum [Civ, Eq. 2.39].
      const Matrix moment = P * Transpose(F);
      CHECK(NormOf(moment - Transpose(moment)) < 1e-11 * (1.0 + NormOf(moment)));
      CHECK(NormOf(StressAt(material, lame, Q)) < 1e-13);
    }
  }
}

TEST_CASE("Floats agree with doubles") {
  Random random(7);
  for (int i = 0; i < kSamples; ++i) {
    const LameConstants<double> lame = RandomLame(&random);
    const LameConstants<float> lame_f{float(lame.mu), float(lame.lambda)};
    const auto F_f = Cast<float>(RandomGradient(&random));
    const auto dF_f = Cast<float>(FromEigen(random.Matrix(1.0)));
    const auto F = Cast<double>(F_f), dF = Cast<double>(dF_f);
    const Matrix R = InvertibleRotation(F);
    const auto R_f = InvertibleRotation(F_f);
    const Matrix dR = PolarRotationDifferential(F, R, dF);
    const auto dR_f = PolarRotationDifferential(F_f, R_f, dF_f);
    for (const Material material : kAll) {
      CAPTURE(i, int(material));
      const double energy = EnergyDensity(material, lame, F, R);
      CHECK(std::fabs(energy - double(EnergyDensity(material, lame_f, F_f, R_f))) <
            1e-4 * (0.01 + energy));
      const Matrix P = Stress(material, lame, F, R);
      CHECK(NormOf(P - Cast<double>(Stress(material, lame_f, F_f, R_f))) <
            1e-4 * (0.01 + NormOf(P)));
      for (const StressDifferential kind :
           {StressDifferential::kExact, StressDifferential::kConstantRotation,
            StressDifferential::kWarped, StressDifferential::kHybrid}) {
        const Matrix dP = DifferentialOfStress(kind, material, lame, F, R, dF, dR);
        const auto dP_f = DifferentialOfStress(kind, material, lame_f, F_f, R_f, dF_f, dR_f);
        CHECK(NormOf(dP - Cast<double>(dP_f)) < 1e-4 * (0.01 + NormOf(dP)));
      }
    }
  }
}

TEST_CASE("Uniaxial stretch gives Young's modulus and Poisson's ratio back") {
  const double young = GENERATE(1.0, 3e5), poisson = GENERATE(0.0, 0.3, 0.45);
  const LameConstants<double> lame = LameOf(young, poisson);
  // The lateral stretch without lateral stress, by bisection, and the axial stress there.
  const auto stretch = [&](Material material, double strain, double* lateral_strain) {
    double low = -0.5 * std::fabs(strain) - 1e-12, high = -low;
    const auto at = [&](double lateral) {
      return StressAt(material, lame, DiagonalMatrix(1.0 + lateral, 1.0 + strain, 1.0 + lateral));
    };
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (low + high);
      (at(middle).c0.x > 0.0 ? high : low) = middle;
    }
    *lateral_strain = 0.5 * (low + high);
    return at(*lateral_strain).c1.y;
  };
  for (const Material material : kAll) {
    const bool is_exact = material == Material::kLinear || material == Material::kCorotated;
    for (const double strain : {1e-6, 0.1}) {
      if (strain > 1e-3 && !is_exact) continue;
      CAPTURE(int(material), young, poisson, strain);
      // The mean of pulling and pushing: the error is of second order in the strain.
      double pulled = 0.0, pushed = 0.0;
      const double pull = stretch(material, strain, &pulled);
      const double push = stretch(material, -strain, &pushed);
      CHECK((pull - push) / (2.0 * strain) == Approx(young).epsilon(1e-6));
      CHECK((pushed - pulled) / (2.0 * strain) == Approx(poisson).epsilon(1e-6).margin(1e-6));
      if (is_exact) CHECK(pull / strain == Approx(young).epsilon(1e-6));
    }
  }
}

// The stress with R as constant [Civ, 3.3.4]: 2 mu (F - R), or 2 mu R sym(R^T F - I), and the
// volume term. Of kCorrectedCorotated, the approximations leave out lambda (J - 1) d(cof F).
TEST_CASE("Approximate differentials are the derivatives of stresses with constant rotations") {
  Random random(21);
  constexpr double kStep = 1e-5;
  for (int i = 0; i < kSamples; ++i) {
    const LameConstants<double> lame = RandomLame(&random);
    const Matrix F = RandomGradient(&random), R = InvertibleRotation(F);
    const Matrix dF = FromEigen(random.Matrix(1.0));
    for (const Material material : {Material::kCorotated, Material::kCorrectedCorotated}) {
      const auto slope = [&](const auto& stress) {
        return (stress(F + dF * kStep) - stress(F - dF * kStep)) * (0.5 / kStep);
      };
      const auto warped = [&](const Matrix& at) { return Stress(material, lame, at, R); };
      const auto turning = [&](const Matrix& at) {
        const Matrix strain = TransposeTimes(R, at) - IdentityMatrix<double>();
        return warped(at) + (R * (strain - SymmetricPart(strain))) * (2.0 * lame.mu);
      };
      Matrix left_out{};
      if (material == Material::kCorrectedCorotated) {
        left_out = CofactorDifferential(F, dF) * (lame.lambda * (Determinant(F) - 1.0));
      }
      for (const auto& [kind, expected] :
           {std::pair(StressDifferential::kConstantRotation, slope(turning) - left_out),
            std::pair(StressDifferential::kWarped, slope(warped) - left_out)}) {
        CAPTURE(i, static_cast<int>(material), static_cast<int>(kind));
        const Matrix dP = DifferentialOfStress(kind, material, lame, F, R, dF, Matrix{});
        CHECK(NormOf(dP - expected) < 1e-6 * (0.01 + NormOf(dP)));
      }
    }
  }
}

TEST_CASE("Approximate differentials are symmetric, semidefinite and exact where they should be") {
  Random random(8);
  double worst_warped = 0.0, lowest_exact = 0.0;
  for (int i = 0; i < kSamples; ++i) {
    const LameConstants<double> lame = RandomLame(&random);
    const Matrix F = RandomGradient(&random), R = InvertibleRotation(F);
    const Matrix dF = FromEigen(random.Matrix(1.0)), other = FromEigen(random.Matrix(1.0));
    for (const Material material : {Material::kCorotated, Material::kCorrectedCorotated}) {
      CAPTURE(i, int(material));
      const auto at = [&](StressDifferential kind, const Matrix& direction) {
        return DifferentialOfStress(kind, material, lame, F, R, direction,
                                    PolarRotationDifferential(F, R, direction));
      };
      for (const StressDifferential kind :
           {StressDifferential::kExact, StressDifferential::kConstantRotation,
            StressDifferential::kWarped, StressDifferential::kHybrid}) {
        CAPTURE(int(kind));
        const double ab = Inner(at(kind, dF), other), ba = Inner(at(kind, other), dF);
        CHECK(ab == Approx(ba).margin(1e-10 * (1.0 + std::fabs(ab))));
        const double work = Inner(at(kind, dF), dF);
        if (kind == StressDifferential::kExact)
          lowest_exact = std::min(lowest_exact, work);
        else
          CHECK(work >= -1e-12);
      }
      // Eq. 3.22 and 3.23.
      const Matrix S = TransposeTimes(R, F);
      const double share = std::min(
          (std::fabs(S.c0.x - 1.0) + std::fabs(S.c1.y - 1.0) + std::fabs(S.c2.z - 1.0)) / 3.0, 1.0);
      const Matrix mixed = at(StressDifferential::kConstantRotation, dF) * share +
                           at(StressDifferential::kWarped, dF) * (1.0 - share);
      CHECK(NormOf(mixed - at(StressDifferential::kHybrid, dF)) < 1e-12 * (1.0 + NormOf(mixed)));
      worst_warped = std::max(worst_warped, NormOf(at(StressDifferential::kWarped, dF) -
                                                   at(StressDifferential::kExact, dF)));
      // dP(2) and dP(H) are exact at rest, turned; dP(1) charges turns.
      const auto at_rest = [&](StressDifferential kind) {
        return DifferentialOfStress(kind, material, lame, R, R, dF,
                                    PolarRotationDifferential(R, R, dF));
      };
      const Matrix exact = at_rest(StressDifferential::kExact);
      CHECK(NormOf(at_rest(StressDifferential::kWarped) - exact) < 1e-12);
      CHECK(NormOf(at_rest(StressDifferential::kHybrid) - exact) < 1e-12);
      CHECK(NormOf(at_rest(StressDifferential::kConstantRotation) - exact) > 1e-3);
    }
    // Eq. 3.16 as printed.
    const Matrix dR = PolarRotationDifferential(F, R, dF);
    const double trace = Trace(CorotatedStrain(F, R));
    const Matrix printed = dF * (2.0 * lame.mu) + R * (lame.lambda * Inner(R, dF)) +
                           dR * (lame.lambda * trace - 2.0 * lame.mu);
    const Matrix dP =
        DifferentialOfStress(StressDifferential::kExact, Material::kCorotated, lame, F, R, dF, dR);
    CHECK(NormOf(printed - dP) < 1e-12 * (1.0 + NormOf(dP)));
  }
  CHECK(worst_warped > 0.1);
  CHECK(lowest_exact < -1e-3);  // indefinite
}

}  // namespace materials_material_test
