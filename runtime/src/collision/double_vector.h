// SPDX-License-Identifier: MIT
// Vectors in double, for the few steps of a query or a refit that float cannot hold.
#pragma once

#include "plush/types.h"

#include <algorithm>
#include <limits>

namespace plush {

struct DoubleVector {
  double x, y, z;
};

inline DoubleVector InDouble(const Vec3& v) { return {v.x, v.y, v.z}; }
/// a - b.
inline DoubleVector Difference(const Vec3& a, const Vec3& b) {
  return {double(a.x) - double(b.x), double(a.y) - double(b.y), double(a.z) - double(b.z)};
}
inline DoubleVector operator+(const DoubleVector& a, const DoubleVector& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline DoubleVector operator-(const DoubleVector& a, const DoubleVector& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline DoubleVector operator*(const DoubleVector& a, double s) {
  return {a.x * s, a.y * s, a.z * s};
}
inline double Dot(const DoubleVector& a, const DoubleVector& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline DoubleVector Cross(const DoubleVector& a, const DoubleVector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/// The nearest float, clamped to float's range.
inline float ToFloat(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMost, kMost));
}
inline Vec3 InFloat(const DoubleVector& v) { return {ToFloat(v.x), ToFloat(v.y), ToFloat(v.z)}; }

}  // namespace plush
