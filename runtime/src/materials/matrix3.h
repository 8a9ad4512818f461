// SPDX-License-Identifier: MIT
// 3x3 matrices of any scalar: float in a step, double in references, Dual for derivatives. The
// functions have the names of base/vector_math.h.
#pragma once

#include "plush/types.h"

#include <cmath>

namespace plush {

#define PLUSH_FORMULA constexpr
#include "materials/matrix3_formulas.h"
#undef PLUSH_FORMULA

template <class T>
T Length(const Vector3<T>& a) {
  return std::sqrt(Dot(a, a));
}

template <class T>
bool IsFinite(const Matrix3<T>& a) {
  const Vector3<T> sum = a.c0 * T(0) + a.c1 * T(0) + a.c2 * T(0);  // zero, or else NaN
  return sum.x + sum.y + sum.z == T(0);
}

inline Matrix3<float> ToMatrix3(const Mat3& m) {
  const auto column = [](const Vec3& v) { return Vector3<float>{v.x, v.y, v.z}; };
  return {column(m.c0), column(m.c1), column(m.c2)};
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
