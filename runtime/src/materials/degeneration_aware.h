// SPDX-License-Identifier: MIT
// Degeneration-aware polar decomposition: the rotation, stress and differentials of collapsed tets.
// Based on:
// Civit. Interactive simulation of detailed deformable solids (thesis), chapter 4 and A.1: [Civ].
//
// The paper moves feature A of a tet's witness pair (collapse.h) by lambda along the direction
// u/|u| in which the features met, and takes the rotation of the result. Written with F, its cases
// become one. Let b be the rest gradient of the sum of A's shape functions, and n = cof(F) b.
// Moving A by y changes F by y b^T and det F by n . y. So u = n det Dm, which needs no sign
// convention, and w |u| = det Ds, h |u| = alpha det Dm give w/h = det F / alpha =: 1 - r. Eq. 4.1
// to 4.11 are then
//   F' = F + beta alpha phi(r) n b^T / |n|^2,   det F' = det F + beta alpha phi(r),
// phi = 0 for r <= 0, 2 r^2 - r^3 for r in (0, 1], r above. F' is F-bar of the paper.
#pragma once

#include "materials/collapse.h"
#include "materials/dual.h"
#include "materials/material.h"
#include "materials/polar_rotation.h"

namespace plush {

/// How a degenerate tet is displaced.
template <class T>
struct Displacement {
  T alpha = T(0.1);       ///< tets with det F below this are degenerate, in (0, 1)
  T beta = T(3);          ///< at least 1; 3 to 5 recovers best [Civ, 4.5.1]
  bool is_smooth = true;  ///< false: phi = r for all r > 0, which has a kink at r = 0
};

/// The rest gradient b [1/m] (3x1) of the sum of the shape functions of `witness`'s feature A; zero
/// for kNoWitness. `dm_inv` is Dm^-1 [1/m], whose rows are those of nodes b, c, d.
template <class T>
Vector3<T> WitnessGradient(const Matrix3<T>& dm_inv, Witness witness) {
  // Node a's is minus the sum of the others.
  const int a = witness & 1;
  const Vector3<T> counts{T((witness >> 1 & 1) - a), T((witness >> 2 & 1) - a),
                          T((witness >> 3 & 1) - a)};
  return TransposeTimes(dm_inv, counts);
}

/// phi and its derivative with respect to r.
template <class T>
struct PushFactor {
  T phi{}, slope{};
};

template <class T>
PushFactor<T> PushFactorAt(const T& r, bool is_smooth) {
  if (!(T(0) < r)) return {};
  if (is_smooth && r < T(1)) return {r * r * (T(2) - r), r * (T(4) - T(3) * r)};
  return {r, T(1)};
}

/// F' of a tet with gradient F and `b` of WitnessGradient.
template <class T>
Matrix3<T> DisplacedGradient(const Displacement<T>& displacement, const Matrix3<T>& F,
                             const Vector3<T>& b) {
  const T alpha = displacement.alpha;
  const Vector3<T> n = Cofactor(F) * b;
  const PushFactor<T> step = PushFactorAt(T(1) - Determinant(F) / alpha, displacement.is_smooth);
  return F + Outer(n, b) * (displacement.beta * alpha * step.phi / Dot(n, n));
}

/// dF' for a change `dF` of F [Civ, Eq. 4.12 to 4.22]. With d(det F) = cof(F) : dF and
/// dn = dcof(F; dF) b.
template <class T>
Matrix3<T> DisplacedGradientDifferential(const Displacement<T>& displacement, const Matrix3<T>& F,
                                         const Vector3<T>& b, const Matrix3<T>& dF) {
  const T alpha = displacement.alpha, beta = displacement.beta;
  const Matrix3<T> cofactor = Cofactor(F);
  const Vector3<T> n = cofactor * b, dn = CofactorDifferential(F, dF) * b;
  const PushFactor<T> step = PushFactorAt(T(1) - Determinant(F) / alpha, displacement.is_smooth);
  const T n2 = Dot(n, n), length = beta * alpha * step.phi / n2;
  const T along_n = -(T(2) * length * Dot(n, dn) + beta * step.slope * Inner(cofactor, dF)) / n2;
  return dF + Outer(dn * length + n * along_n, b);
}

/// Whether the features' direction n is defined: |n| is above rounding of cof(F) b. It vanishes if
/// the face or an edge of the pair collapses, or the edges become parallel [Civ, 4.4.4]. False for
/// F that is not finite.
template <class T>
bool HasDirection(const Matrix3<T>& F, const Vector3<T>& b) {
  const Vector3<T> n = Cofactor(F) * b;
  const T flat = std::numeric_limits<T>::epsilon() * T(16) * Inner(F, F);
  return Dot(n, n) > flat * flat * Dot(b, b) && IsFinite(F);
}

/// The whole first Piola stress [Pa] of a degenerate tet, the derivative of EnergyDensity(material,
/// lame, F, R) with R = polar rotation of F' [Civ, Eq. 4.25 and A.40]. The paper has no compact
/// form of its part due to dR. Here it is. dR = R [x]x with G x = 2 axl(R^T dF'), G = tr(S) I -
/// sym(S), S = R^T F'. So, with M the derivative of the energy with respect to sym(R^T F),
///   F M : dR = g . x = Q : dF',   g = 2 axl(R^T F M),   Q = R [G^-1 g]x,
/// and the transpose of dF -> dF' takes Q to Q + dcof(F; p b^T) + k cof(F), because dcof(F; .) is
/// symmetric. `material` must be kCorotated or kCorrectedCorotated, `R` InvertibleRotation(F'), and
/// HasDirection(F, b).
template <class T>
Matrix3<T> DegenerateStress(Material material, const LameConstants<T>& lame,
                            const Displacement<T>& displacement, const Matrix3<T>& F,
                            const Vector3<T>& b, const Matrix3<T>& R) {
  const bool is_corrected = material == Material::kCorrectedCorotated;
  const Matrix3<T> e = CorotatedStrain(F, R), cofactor = Cofactor(F);
  const T trace = is_corrected ? T(0) : Trace(e);
  const T volume = is_corrected ? Determinant(F) - T(1) : T(0);
  const Matrix3<T> M = e * (T(2) * lame.mu) + IdentityMatrix<T>() * (lame.lambda * trace);
  const Vector3<T> g = TwiceAxial(TransposeTimes(R, F) * M);
  const Matrix3<T> displaced = DisplacedGradient(displacement, F, b);
  const Matrix3<T> Q = R * CrossMatrix(SolveTurn(TransposeTimes(R, displaced), g));
  // The transpose of DisplacedGradientDifferential.
  const T alpha = displacement.alpha, beta = displacement.beta;
  const Vector3<T> n = cofactor * b, q = Q * b;
  const PushFactor<T> step = PushFactorAt(T(1) - Determinant(F) / alpha, displacement.is_smooth);
  const T n2 = Dot(n, n), length = beta * alpha * step.phi / n2, qn = Dot(q, n) / n2;
  const Vector3<T> p = (q - n * (T(2) * qn)) * length;
  return R * M + Q + CofactorDifferential(F, Outer(p, b)) +
         cofactor * (lame.lambda * volume - beta * step.slope * qn);
}

/// The derivative of DegenerateStress for a change `dF` of F [Civ, Eq. 4.26, all terms], symmetric
/// as the second derivative of an energy. phi has no second derivative at r = 0 and 1.
template <class T>
Matrix3<T> DegenerateStressDifferential(Material material, const LameConstants<T>& lame,
                                        const Displacement<T>& displacement, const Matrix3<T>& F,
                                        const Vector3<T>& b, const Matrix3<T>& R,
                                        const Matrix3<T>& dF) {
  using D = Dual<T>;
  const Matrix3<T> displaced = DisplacedGradient(displacement, F, b);
  const Matrix3<T> dR = PolarRotationDifferential(
      displaced, R, DisplacedGradientDifferential(displacement, F, b, dF));
  const LameConstants<D> constants{D(lame.mu), D(lame.lambda)};
  const Displacement<D> same{D(displacement.alpha), D(displacement.beta), displacement.is_smooth};
  const Vector3<D> dual_b{D(b.x), D(b.y), D(b.z)};
  return Slope(
      DegenerateStress(material, constants, same, MakeDual(F, dF), dual_b, MakeDual(R, dR)));
}

}  // namespace plush
