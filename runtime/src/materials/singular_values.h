// SPDX-License-Identifier: MIT
// Singular value decomposition of a 3x3 matrix by one-sided Jacobi rotations, with + - * / and
// square roots only.
// Based on:
// Hestenes. Inversion of matrices by biorthogonalization and related results. 1958
#pragma once

#include "materials/matrix3.h"

#include <limits>
#include <utility>

namespace plush {

/// F = U diag(sigma) V^T with rotations U and V (det 1), sigma.x >= sigma.y >= |sigma.z| to
/// rounding. Only sigma.z can be negative, exactly if det F is [Irving et al. 2004].
template <class T>
struct SingularValues {
  Matrix3<T> U;
  Vector3<T> sigma;
  Matrix3<T> V;
};

/// A unit vector perpendicular to the unit vector `u`.
template <class T>
Vector3<T> AnyPerpendicular(const Vector3<T>& u) {
  const T x = std::fabs(u.x), y = std::fabs(u.y), z = std::fabs(u.z);
  Vector3<T> axis{T(0), T(0), T(1)};
  if (x <= y && x <= z)
    axis = {T(1), T(0), T(0)};
  else if (y <= z)
    axis = {T(0), T(1), T(0)};
  const Vector3<T> v = Cross(u, axis);
  return v * (T(1) / Length(v));
}

/// The largest absolute value of an entry; not finite if an entry is not.
template <class T>
T LargestEntry(const Matrix3<T>& F) {
  if (!IsFinite(F)) return std::numeric_limits<T>::infinity();
  T largest = T(0);
  for (const Vector3<T>& c : {F.c0, F.c1, F.c2}) {
    for (const T entry : {c.x, c.y, c.z}) largest = std::fmax(largest, std::fabs(entry));
  }
  return largest;
}

/// Turns columns p and q of B = F V, and of V, so that those of B become orthogonal.
template <class T>
void Orthogonalise(Vector3<T>* bp, Vector3<T>* bq, Vector3<T>* vp, Vector3<T>* vq) {
  const T pp = Dot(*bp, *bp), qq = Dot(*bq, *bq), pq = Dot(*bp, *bq);
  if (!(std::fabs(pq) > std::numeric_limits<T>::epsilon() / T(4) * std::sqrt(pp) * std::sqrt(qq))) {
    return;
  }
  const T zeta = (qq - pp) / (T(2) * pq);
  const T t = (zeta < T(0) ? T(-1) : T(1)) / (std::fabs(zeta) + std::sqrt(T(1) + zeta * zeta));
  const T c = T(1) / std::sqrt(T(1) + t * t), s = c * t;
  const auto turn = [c, s](Vector3<T>* p, Vector3<T>* q) {
    const Vector3<T> old = *p;
    *p = old * c - *q * s;
    *q = old * s + *q * c;
  };
  turn(bp, bq);
  turn(vp, vq);
}

/// Exchanges columns p and q if q is longer; the sign keeps det V.
template <class T>
void SortColumns(Vector3<T>* bp, Vector3<T>* bq, Vector3<T>* vp, Vector3<T>* vq) {
  if (!(Dot(*bp, *bp) < Dot(*bq, *bq))) return;
  std::swap(*bp, *bq);
  std::swap(*vp, *vq);
  *bq = -*bq;
  *vq = -*vq;
}

/// The decomposition of F. Singular vectors of singular values that are zero or equal are some of
/// those that fit. F with non-finite entries gives that of zero: U = V = I. Does not allocate.
template <class T>
SingularValues<T> DecomposeSingular(const Matrix3<T>& F) {
  SingularValues<T> result{IdentityMatrix<T>(), {}, IdentityMatrix<T>()};
  const T size = LargestEntry(F);
  if (!(size > T(0)) || !(size <= std::numeric_limits<T>::max())) return result;
  Matrix3<T>& V = result.V;
  Matrix3<T> B = Divided(F, size);
  constexpr int kSweeps = 12;  // five reach round-off
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    Orthogonalise(&B.c0, &B.c1, &V.c0, &V.c1);
    Orthogonalise(&B.c0, &B.c2, &V.c0, &V.c2);
    Orthogonalise(&B.c1, &B.c2, &V.c1, &V.c2);
  }
  SortColumns(&B.c0, &B.c1, &V.c0, &V.c1);
  SortColumns(&B.c0, &B.c2, &V.c0, &V.c2);
  SortColumns(&B.c1, &B.c2, &V.c1, &V.c2);
  // The columns of U, orthogonal even if those of B are only rounding.
  const T s0 = Length(B.c0);
  const Vector3<T> u0 = B.c0 * (T(1) / s0);
  const Vector3<T> rest = B.c1 - u0 * Dot(u0, B.c1);
  const T s1 = Length(rest);
  const bool is_line = !(s1 > std::numeric_limits<T>::epsilon() * s0);
  Vector3<T> u1 = is_line ? AnyPerpendicular(u0) : rest * (T(1) / s1);
  u1 = u1 - u0 * Dot(u0, u1);
  u1 = u1 * (T(1) / Length(u1));
  const Vector3<T> u2 = Cross(u0, u1);
  result.U = {u0, u1, u2};
  result.sigma = {s0 * size, s1 * size, Dot(u2, B.c2) * size};
  return result;
}

}  // namespace plush
