// SPDX-License-Identifier: MIT
// Dual numbers: a value and its derivative in one direction. Arithmetic on them differentiates a
// formula exactly.
#pragma once

#include "materials/matrix3.h"

namespace plush {

template <class T>
struct Dual {
  T value{};
  T slope{};

  constexpr Dual() = default;
  constexpr explicit Dual(T v) : value(v) {}
  constexpr Dual(T v, T s) : value(v), slope(s) {}

  friend constexpr Dual operator-(const Dual& a) { return {-a.value, -a.slope}; }
  friend constexpr Dual operator+(const Dual& a, const Dual& b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  friend constexpr Dual operator-(const Dual& a, const Dual& b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  friend constexpr Dual operator*(const Dual& a, const Dual& b) {
    return {a.value * b.value, a.slope * b.value + a.value * b.slope};
  }
  friend constexpr Dual operator/(const Dual& a, const Dual& b) {
    const T quotient = a.value / b.value;
    return {quotient, (a.slope - quotient * b.slope) / b.value};
  }
  friend constexpr bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
};

/// The matrix A with the derivative dA.
template <class T>
constexpr Matrix3<Dual<T>> MakeDual(const Matrix3<T>& a, const Matrix3<T>& da) {
  const auto column = [](const Vector3<T>& v, const Vector3<T>& dv) {
    return Vector3<Dual<T>>{{v.x, dv.x}, {v.y, dv.y}, {v.z, dv.z}};
  };
  return {column(a.c0, da.c0), column(a.c1, da.c1), column(a.c2, da.c2)};
}

/// The derivatives of all entries.
template <class T>
constexpr Matrix3<T> Slope(const Matrix3<Dual<T>>& a) {
  const auto column = [](const Vector3<Dual<T>>& v) {
    return Vector3<T>{v.x.slope, v.y.slope, v.z.slope};
  };
  return {column(a.c0), column(a.c1), column(a.c2)};
}

}  // namespace plush
