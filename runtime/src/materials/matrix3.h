// SPDX-License-Identifier: MIT
// 3x3 matrices of any scalar: float in a step, double in references, Dual for derivatives. The
// functions have the names of base/vector_math.h.
#pragma once

#include "plush/types.h"

#include <cmath>

namespace plush {

template <class T>
struct Vector3 {
  T x{}, y{}, z{};
};

/// Column-major: c0, c1, c2 are the columns.
template <class T>
struct Matrix3 {
  Vector3<T> c0, c1, c2;
};

template <class T>
constexpr Vector3<T> operator+(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class T>
constexpr Vector3<T> operator-(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class T>
constexpr Vector3<T> operator-(const Vector3<T>& a) {
  return {-a.x, -a.y, -a.z};
}
template <class T>
constexpr Vector3<T> operator*(const Vector3<T>& a, T s) {
  return {a.x * s, a.y * s, a.z * s};
}
template <class T>
constexpr T Dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
constexpr Vector3<T> Cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
T Length(const Vector3<T>& a) {
  return std::sqrt(Dot(a, a));
}

template <class T>
constexpr Matrix3<T> operator+(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2};
}
template <class T>
constexpr Matrix3<T> operator-(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
}
template <class T>
constexpr Matrix3<T> operator*(const Matrix3<T>& a, T s) {
  return {a.c0 * s, a.c1 * s, a.c2 * s};
}
/// Unlike a product with 1 / s, does not overflow if s is tiny.
template <class T>
constexpr Vector3<T> Divided(const Vector3<T>& a, T s) {
  return {a.x / s, a.y / s, a.z / s};
}
template <class T>
constexpr Matrix3<T> Divided(const Matrix3<T>& a, T s) {
  return {Divided(a.c0, s), Divided(a.c1, s), Divided(a.c2, s)};
}
/// A v.
template <class T>
constexpr Vector3<T> operator*(const Matrix3<T>& a, const Vector3<T>& v) {
  return a.c0 * v.x + a.c1 * v.y + a.c2 * v.z;
}
/// A B.
template <class T>
constexpr Matrix3<T> operator*(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {a * b.c0, a * b.c1, a * b.c2};
}

template <class T>
constexpr Matrix3<T> DiagonalMatrix(T x, T y, T z) {
  return {{x, T(0), T(0)}, {T(0), y, T(0)}, {T(0), T(0), z}};
}
template <class T>
constexpr Matrix3<T> IdentityMatrix() {
  return DiagonalMatrix(T(1), T(1), T(1));
}
/// a b^T.
template <class T>
constexpr Matrix3<T> Outer(const Vector3<T>& a, const Vector3<T>& b) {
  return {a * b.x, a * b.y, a * b.z};
}
template <class T>
constexpr Matrix3<T> Transpose(const Matrix3<T>& a) {
  return {{a.c0.x, a.c1.x, a.c2.x}, {a.c0.y, a.c1.y, a.c2.y}, {a.c0.z, a.c1.z, a.c2.z}};
}
/// A^T v.
template <class T>
constexpr Vector3<T> TransposeTimes(const Matrix3<T>& a, const Vector3<T>& v) {
  return {Dot(a.c0, v), Dot(a.c1, v), Dot(a.c2, v)};
}
/// A^T B.
template <class T>
constexpr Matrix3<T> TransposeTimes(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {TransposeTimes(a, b.c0), TransposeTimes(a, b.c1), TransposeTimes(a, b.c2)};
}
/// (A + A^T) / 2.
template <class T>
constexpr Matrix3<T> SymmetricPart(const Matrix3<T>& a) {
  return (a + Transpose(a)) * (T(1) / T(2));
}
template <class T>
constexpr T Trace(const Matrix3<T>& a) {
  return a.c0.x + a.c1.y + a.c2.z;
}
/// A : B, the sum of the products of equal entries.
template <class T>
constexpr T Inner(const Matrix3<T>& a, const Matrix3<T>& b) {
  return Dot(a.c0, b.c0) + Dot(a.c1, b.c1) + Dot(a.c2, b.c2);
}
template <class T>
constexpr T Determinant(const Matrix3<T>& a) {
  return Dot(Cross(a.c0, a.c1), a.c2);
}
/// det(A) A^-T, the derivative of the determinant.
template <class T>
constexpr Matrix3<T> Cofactor(const Matrix3<T>& a) {
  return {Cross(a.c1, a.c2), Cross(a.c2, a.c0), Cross(a.c0, a.c1)};
}
/// Derivative of Cofactor at A in the direction B. Symmetric in A and B, and
/// X : CofactorDifferential(A, B) = B : CofactorDifferential(A, X).
template <class T>
constexpr Matrix3<T> CofactorDifferential(const Matrix3<T>& a, const Matrix3<T>& b) {
  return {Cross(a.c1, b.c2) + Cross(b.c1, a.c2), Cross(a.c2, b.c0) + Cross(b.c2, a.c0),
          Cross(a.c0, b.c1) + Cross(b.c0, a.c1)};
}
/// v as a cross product: CrossMatrix(v) w = v x w.
template <class T>
constexpr Matrix3<T> CrossMatrix(const Vector3<T>& v) {
  return {{T(0), v.z, -v.y}, {-v.z, T(0), v.x}, {v.y, -v.x, T(0)}};
}
/// The vector w with CrossMatrix(w) = A - A^T. For all v, A : CrossMatrix(v) = w . v.
template <class T>
constexpr Vector3<T> TwiceAxial(const Matrix3<T>& a) {
  return {a.c1.z - a.c2.y, a.c2.x - a.c0.z, a.c0.y - a.c1.x};
}

template <class T>
bool IsFinite(const Matrix3<T>& a) {
  const Vector3<T> sum = a.c0 * T(0) + a.c1 * T(0) + a.c2 * T(0);  // zero, or else NaN
  return sum.x + sum.y + sum.z == T(0);
}

/// Between scalar types.
template <class To, class From>
Vector3<To> Cast(const Vector3<From>& a) {
  return {static_cast<To>(a.x), static_cast<To>(a.y), static_cast<To>(a.z)};
}
template <class To, class From>
Matrix3<To> Cast(const Matrix3<From>& a) {
  return {Cast<To>(a.c0), Cast<To>(a.c1), Cast<To>(a.c2)};
}

}  // namespace plush
