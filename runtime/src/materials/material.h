// SPDX-License-Identifier: MIT
// Elastic materials: energy density, first Piola stress and its differentials.
// Based on:
// Civit. Interactive simulation of detailed deformable solids (thesis), chapters 2 and 3: [Civ].
#pragma once

#include "plush/implicit_settings.h"

#include "materials/matrix3.h"
#include "materials/volume_log.h"

#include <cstdint>

namespace plush {

using Material = MaterialModel;

/// The volume ratio below which the neo-Hookean material is extended.
inline constexpr double kNeoHookeanLimit = 0.1;

#define PLUSH_FORMULA constexpr
#include "materials/material_formulas.h"
#undef PLUSH_FORMULA

/// From Young's modulus [Pa] and Poisson's ratio (below 0.5) [Civ, Eq. 2.22].
template <class T>
constexpr LameConstants<T> LameOf(T young, T poisson) {
  return {young / (T(2) * (T(1) + poisson)),
          young * poisson / ((T(1) + poisson) * (T(1) - T(2) * poisson))};
}

/// Energy per rest volume [J/m^3] at F with rotation `R`, which only corotated materials use.
template <class T>
T EnergyDensity(Material material, const LameConstants<T>& lame, const Matrix3<T>& F,
                const Matrix3<T>& R) {
  const T half = T(1) / T(2);
  const auto quadratic = [&](const Matrix3<T>& e, T volume) {
    return lame.mu * Inner(e, e) + half * lame.lambda * volume * volume;
  };
  switch (material) {
    case Material::kLinear: {
      const Matrix3<T> e = CorotatedStrain(F, IdentityMatrix<T>());
      return quadratic(e, Trace(e));
    }
    case Material::kCorotated: {
      const Matrix3<T> e = CorotatedStrain(F, R);
      return quadratic(e, Trace(e));
    }
    case Material::kCorrectedCorotated:
      return quadratic(CorotatedStrain(F, R), Determinant(F) - T(1));
    case Material::kStVenantKirchhoff: {
      const Matrix3<T> E = GreenStrain(F);
      return quadratic(E, Trace(E));
    }
    case Material::kNeoHookean: {
      const T L = VolumeLog(Determinant(F), T(kNeoHookeanLimit)).value;
      return half * lame.mu * (Inner(F, F) - T(3)) - lame.mu * L + half * lame.lambda * L * L;
    }
  }
  return T(0);
}

/// Share of dP(1) in dP(H): the mean of |S_ii - 1|, at most 1, S = R^T F [Civ, Eq. 3.22, with the
/// absolute values of the entries].
template <class T>
T HybridShare(const Matrix3<T>& F, const Matrix3<T>& R) {
  const auto off = [](T s) { return s < T(1) ? T(1) - s : s - T(1); };
  const T mean = (off(Dot(R.c0, F.c0)) + off(Dot(R.c1, F.c1)) + off(Dot(R.c2, F.c2))) / T(3);
  return mean < T(1) ? mean : T(1);
}

/// Differential of the stress for a change `dF` of F [Civ, Eq. 3.16 to 3.23]. Only kExact reads
/// `dR`, the rotation's differential. kCorrectedCorotated is not in the paper: its approximations
/// keep lambda (cof F : dF) cof F of the volume term and leave out lambda (J - 1) d(cof F), which
/// is indefinite. kStVenantKirchhoff and kNeoHookean have the exact differential only.
template <class T>
Matrix3<T> DifferentialOfStress(StressDifferential kind, Material material,
                                const LameConstants<T>& lame, const Matrix3<T>& F,
                                const Matrix3<T>& R, const Matrix3<T>& dF, const Matrix3<T>& dR) {
  const bool is_corotated =
      material == Material::kCorotated || material == Material::kCorrectedCorotated;
  if (kind == StressDifferential::kExact || !is_corotated) {
    return ExactStressDifferential(material, lame, F, R, dF, dR);
  }
  T plain = T(0);
  if (kind == StressDifferential::kConstantRotation) plain = T(1);
  if (kind == StressDifferential::kHybrid) plain = HybridShare(F, R);
  const Matrix3<T> turned = TransposeTimes(R, dF);
  const Matrix3<T> stretch = dF * plain + (R * SymmetricPart(turned)) * (T(1) - plain);
  const Matrix3<T> direction = material == Material::kCorotated ? R : Cofactor(F);
  return stretch * (T(2) * lame.mu) + direction * (lame.lambda * Inner(direction, dF));
}

}  // namespace plush
