// SPDX-License-Identifier: MIT
// Rotations of a deformation gradient that depend on nothing else, and their differentials.
// Based on:
// Civit. Interactive simulation of detailed deformable solids (thesis), chapter 3: [Civ].
// Higham. Computing the polar decomposition, with applications. 1986
#pragma once

#include "materials/singular_values.h"

namespace plush {

/// The orthogonal R of F = R S with S symmetric and positive semidefinite, det R = sign of det F
/// [Civ, 3.3.1]. By the SVD: R = U V^T.
template <class T>
Matrix3<T> PolarRotationBySvd(const Matrix3<T>& F) {
  const SingularValues<T> svd = DecomposeSingular(F);
  const T last = svd.sigma.z < T(0) ? T(-1) : T(1);
  return Matrix3<T>{svd.U.c0, svd.U.c1, svd.U.c2 * last} * Transpose(svd.V);
}

/// The same by Newton's method X <- (X + X^-T) / 2 with Higham's scaling, from X = F. F too flat
/// for it goes to the SVD.
template <class T>
Matrix3<T> PolarRotation(const Matrix3<T>& F) {
  const T size = LargestEntry(F);
  if (!(size > T(0)) || !(size <= std::numeric_limits<T>::max())) return PolarRotationBySvd(F);
  Matrix3<T> X = Divided(F, size);
  constexpr int kMostIterations = 12;
  constexpr T kFlat = std::numeric_limits<T>::epsilon() * T(64);
  // Ends at round-off, some times its square root ahead: convergence is quadratic.
  constexpr T kClose = std::numeric_limits<T>::epsilon() * T(16);
  for (int i = 0; i < kMostIterations; ++i) {
    const T det = Determinant(X);
    if (!(std::fabs(det) > kFlat)) break;
    const Matrix3<T> inverse = Cofactor(X) * (T(1) / det);  // X^-T
    // sqrt(|X^-1| / |X|) makes the two terms equal in size.
    const T gamma = std::sqrt(std::sqrt(Inner(inverse, inverse) / Inner(X, X)));
    const Matrix3<T> next = X * (gamma / T(2)) + inverse * (T(1) / (T(2) * gamma));
    const Matrix3<T> change = next - X;
    X = next;
    if (!(Inner(change, change) > kClose)) {
      // One more step, unscaled, squares what is left.
      return X * (T(1) / T(2)) + Cofactor(X) * (T(1) / (T(2) * Determinant(X)));
    }
  }
  return PolarRotationBySvd(F);
}

/// The rotation (det R = 1) of invertible SVD [Irving et al. 2004]: the closest to F; an inverted
/// F leaves the reflection to its smallest stretch. S = R^T F is symmetric.
template <class T>
Matrix3<T> InvertibleRotation(const Matrix3<T>& F) {
  const SingularValues<T> svd = DecomposeSingular(F);
  return svd.U * Transpose(svd.V);
}

/// Invertible SVD that leaves the reflection of an inverted F to the principal stretch whose
/// material direction is closest to `*reflected` [Schmedding and Teschner 2008, as [Civ, 4.2]
/// describes it]. If `*reflected` is zero, or F is not inverted, to the smallest. Sets `*reflected`
/// to the direction taken (unit vector), or zero if F is not inverted.
template <class T>
Matrix3<T> CoherentRotation(const Matrix3<T>& F, Vector3<T>* reflected) {
  const SingularValues<T> svd = DecomposeSingular(F);
  if (!(svd.sigma.z < T(0))) {
    *reflected = {};
    return svd.U * Transpose(svd.V);
  }
  const T along0 = std::fabs(Dot(svd.V.c0, *reflected));
  const T along1 = std::fabs(Dot(svd.V.c1, *reflected));
  const T along2 = std::fabs(Dot(svd.V.c2, *reflected));
  Matrix3<T> U = svd.U;
  if (along2 >= along0 && along2 >= along1) {
    *reflected = svd.V.c2;
  } else {
    U.c2 = -U.c2;  // moves the sign from the smallest stretch to another
    if (along1 >= along0) {
      U.c1 = -U.c1;
      *reflected = svd.V.c1;
    } else {
      U.c0 = -U.c0;
      *reflected = svd.V.c0;
    }
  }
  return U * Transpose(svd.V);
}

/// The rotation Q (det 1) whose first two columns are the first two of F made orthonormal by
/// Gram and Schmidt [Nesme et al. 2005]. It depends on the order of the tet's nodes. Columns that
/// vanish or are parallel are replaced by directions that fit.
template <class T>
Matrix3<T> QrRotation(const Matrix3<T>& F) {
  constexpr T kTiny = std::numeric_limits<T>::min(), kEpsilon = std::numeric_limits<T>::epsilon();
  const auto unit_or_zero = [](const Vector3<T>& v) {
    const T size = std::fmax(std::fabs(v.x), std::fmax(std::fabs(v.y), std::fabs(v.z)));
    if (!(size > kTiny)) return Vector3<T>{};
    const Vector3<T> scaled = Divided(v, size);
    return scaled * (T(1) / Length(scaled));
  };
  Vector3<T> q0 = unit_or_zero(F.c0);
  if (Dot(q0, q0) == T(0)) q0 = {T(1), T(0), T(0)};
  const auto beside = [&q0](const Vector3<T>& v) { return v - q0 * Dot(q0, v); };
  // A short rest is mostly rounding, so it is made orthogonal again, or replaced.
  const Vector3<T> rest = beside(unit_or_zero(F.c1));
  const bool is_line = !(Dot(rest, rest) > T(256) * kEpsilon * kEpsilon);
  const Vector3<T> q1 = is_line ? AnyPerpendicular(q0) : unit_or_zero(beside(unit_or_zero(rest)));
  return {q0, q1, Cross(q0, q1)};
}

/// x with (tr(S) I - sym(S)) x = b. Zero if the matrix is singular to rounding: two rotations are
/// then as close to F as each other.
template <class T>
Vector3<T> SolveTurn(const Matrix3<T>& S, const Vector3<T>& b) {
  const T trace = Trace(S);
  const Matrix3<T> G = DiagonalMatrix(trace, trace, trace) - SymmetricPart(S);
  T size = T(0);
  for (const T g : {G.c0.x, G.c1.y, G.c2.z}) size = size < g ? g : size < -g ? -g : size;
  if (!(T(0) < size)) return {};
  const Matrix3<T> A = Divided(G, size);
  const Matrix3<T> cofactor = Cofactor(A);
  const T det = Dot(A.c0, cofactor.c0);
  constexpr T kFlat{std::numeric_limits<T>::epsilon()};
  if (!(kFlat < det || kFlat < -det)) return {};
  return cofactor * Divided(b, size) * (T(1) / det);  // A is symmetric: A^-1 = cof(A) / det(A)
}

/// dR = R [w]x, (tr(S) I - S) w = axial vector of W - W^T, W = R^T dF, S = R^T F: the differential
/// of each rotation above but QR, if F changes by `dF` [Civ, Eq. 3.13]. Derivation: dF = dR S + R
/// dS; R^T dR is antisymmetric and S, dS are symmetric. Zero if SolveTurn finds none.
template <class T>
Matrix3<T> PolarRotationDifferential(const Matrix3<T>& F, const Matrix3<T>& R,
                                     const Matrix3<T>& dF) {
  const Vector3<T> w = SolveTurn(TransposeTimes(R, F), TwiceAxial(TransposeTimes(R, dF)));
  return R * CrossMatrix(w);
}

/// Differential of Q = QrRotation(F). With F = Q U, W = Q^T dF: the part of Q^T dQ below the
/// diagonal is that of W U^-1, because dU U^-1 is upper triangular. Zero if the first two columns
/// of F do not span a plane.
template <class T>
Matrix3<T> QrRotationDifferential(const Matrix3<T>& F, const Matrix3<T>& Q, const Matrix3<T>& dF) {
  const T u00 = Dot(Q.c0, F.c0), u01 = Dot(Q.c0, F.c1), u11 = Dot(Q.c1, F.c1);
  const T flat = T(16) * std::numeric_limits<T>::epsilon() * std::fabs(u01);
  if (!(u00 > std::numeric_limits<T>::min()) || !(u11 > flat)) return {};
  const T w10 = Dot(Q.c1, dF.c0) / u00;
  const T w20 = Dot(Q.c2, dF.c0) / u00;
  const T w21 = (Dot(Q.c2, dF.c1) - w20 * u01) / u11;
  return Q * CrossMatrix(Vector3<T>{w21, -w20, w10});
}

}  // namespace plush
