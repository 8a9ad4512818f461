// SPDX-License-Identifier: MIT
// Stresses of the materials and their exact differentials, for any scalar T. Included inside
// namespace plush by material.h, and once more for each instruction set by lane_scalar-inl.h; see
// matrix3_formulas.h.
// Based on:
// Civit. Interactive simulation of detailed deformable solids (thesis), chapters 2 and 3: [Civ].

/// Lame parameters [Pa].
template <class T>
struct LameConstants {
  T mu{};
  T lambda{};
};

/// e = sym(R^T F) - I [Civ, Eq. 2.15 and 4.23].
template <class T>
PLUSH_FORMULA Matrix3<T> CorotatedStrain(const Matrix3<T>& F, const Matrix3<T>& R) {
  return SymmetricPart(TransposeTimes(R, F)) - IdentityMatrix<T>();
}

/// E = (F^T F - I)/2 [Civ, Eq. 2.13].
template <class T>
PLUSH_FORMULA Matrix3<T> GreenStrain(const Matrix3<T>& F) {
  return (TransposeTimes(F, F) - IdentityMatrix<T>()) * (T(1) / T(2));
}

/// Stress of kCorotated. With R = I, that of kLinear.
template <class T>
PLUSH_FORMULA Matrix3<T> CorotatedStress(const LameConstants<T>& lame, const Matrix3<T>& F,
                                         const Matrix3<T>& R) {
  const Matrix3<T> e = CorotatedStrain(F, R);
  return R * (e * (T(2) * lame.mu)) + R * (lame.lambda * Trace(e));
}

/// First Piola stress [Pa] (3x3): the derivative of EnergyDensity with respect to F at constant R
/// [Civ, Eq. 2.24 to 2.32, 4.25]. If R^T F is symmetric and R its polar rotation, this is the whole
/// derivative. With other rotations it leaves out what turns do (see DegenerateStress), and its
/// forces are not conservative.
template <class T>
PLUSH_FORMULA Matrix3<T> Stress(Material material, const LameConstants<T>& lame,
                                const Matrix3<T>& F, const Matrix3<T>& R) {
  const T two_mu = T(2) * lame.mu;
  switch (material) {
    case Material::kLinear:
      return CorotatedStress(lame, F, IdentityMatrix<T>());
    case Material::kCorotated:
      return CorotatedStress(lame, F, R);
    case Material::kCorrectedCorotated:
      return R * (CorotatedStrain(F, R) * two_mu) +
             Cofactor(F) * (lame.lambda * (Determinant(F) - T(1)));
    case Material::kStVenantKirchhoff: {
      const Matrix3<T> E = GreenStrain(F);
      return F * (E * two_mu) + F * (lame.lambda * Trace(E));
    }
    case Material::kNeoHookean: {
      const auto L = VolumeLog(Determinant(F), T(kNeoHookeanLimit));
      return F * lame.mu + Cofactor(F) * ((lame.lambda * L.value - lame.mu) * L.slope);
    }
  }
  return {};
}

/// The change of CorotatedStrain.
template <class T>
PLUSH_FORMULA Matrix3<T> StrainDifferential(const Matrix3<T>& F, const Matrix3<T>& R,
                                            const Matrix3<T>& dF, const Matrix3<T>& dR) {
  return SymmetricPart(TransposeTimes(dR, F) + TransposeTimes(R, dF));
}

/// The change of CorotatedStress.
template <class T>
PLUSH_FORMULA Matrix3<T> CorotatedStressDifferential(const LameConstants<T>& lame,
                                                     const Matrix3<T>& F, const Matrix3<T>& R,
                                                     const Matrix3<T>& dF, const Matrix3<T>& dR) {
  const Matrix3<T> e = CorotatedStrain(F, R), de = StrainDifferential(F, R, dF, dR);
  return (dR * e + R * de) * (T(2) * lame.mu) + dR * (lame.lambda * Trace(e)) +
         R * (lame.lambda * Trace(de));
}

/// The derivative of Stress if F changes by `dF` and R by `dR` [Civ, Eq. 3.16, without the
/// assumption that R^T F is symmetric]. Materials that do not use R ignore dR.
template <class T>
PLUSH_FORMULA Matrix3<T> ExactStressDifferential(Material material, const LameConstants<T>& lame,
                                                 const Matrix3<T>& F, const Matrix3<T>& R,
                                                 const Matrix3<T>& dF, const Matrix3<T>& dR) {
  const T two_mu = T(2) * lame.mu;
  switch (material) {
    case Material::kLinear:
      return CorotatedStressDifferential(lame, F, IdentityMatrix<T>(), dF, Matrix3<T>{});
    case Material::kCorotated:
      return CorotatedStressDifferential(lame, F, R, dF, dR);
    case Material::kCorrectedCorotated: {
      const Matrix3<T> e = CorotatedStrain(F, R), cofactor = Cofactor(F);
      return (dR * e + R * StrainDifferential(F, R, dF, dR)) * two_mu +
             cofactor * (lame.lambda * Inner(cofactor, dF)) +
             CofactorDifferential(F, dF) * (lame.lambda * (Determinant(F) - T(1)));
    }
    case Material::kStVenantKirchhoff: {
      const Matrix3<T> E = GreenStrain(F), dE = SymmetricPart(TransposeTimes(F, dF));
      return (dF * E + F * dE) * two_mu + dF * (lame.lambda * Trace(E)) +
             F * (lame.lambda * Trace(dE));
    }
    case Material::kNeoHookean: {
      const auto L = VolumeLog(Determinant(F), T(kNeoHookeanLimit));
      const Matrix3<T> cofactor = Cofactor(F);
      const T pressure = lame.lambda * L.value - lame.mu;  // times L.slope
      const T bulk = lame.lambda * L.slope * L.slope + pressure * L.curvature;
      return dF * lame.mu + cofactor * (bulk * Inner(cofactor, dF)) +
             CofactorDifferential(F, dF) * (pressure * L.slope);
    }
  }
  return {};
}
