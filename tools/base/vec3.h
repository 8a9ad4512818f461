// SPDX-License-Identifier: MIT
// Double-precision vectors of the tools. Eigen serves factorisations and dense algebra.
#pragma once

#include "plush/types.h"

#include <cmath>
#include <compare>

namespace plush::tools {

/// Three doubles: a position [m] or a direction.
struct Vec3d {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;

  double& operator[](int i) { return i == 0 ? x : (i == 1 ? y : z); }
  double operator[](int i) const { return i == 0 ? x : (i == 1 ? y : z); }
  auto operator<=>(const Vec3d&) const = default;  ///< by x, then y, then z
};

inline Vec3d operator+(const Vec3d& a, const Vec3d& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3d operator-(const Vec3d& a, const Vec3d& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3d operator-(const Vec3d& a) { return {-a.x, -a.y, -a.z}; }
inline Vec3d operator*(const Vec3d& a, double s) { return {a.x * s, a.y * s, a.z * s}; }
inline Vec3d operator*(double s, const Vec3d& a) { return a * s; }
inline Vec3d operator/(const Vec3d& a, double s) { return {a.x / s, a.y / s, a.z / s}; }
inline Vec3d& operator+=(Vec3d& a, const Vec3d& b) { return a = a + b; }
inline Vec3d& operator-=(Vec3d& a, const Vec3d& b) { return a = a - b; }

inline double Dot(const Vec3d& a, const Vec3d& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3d Cross(const Vec3d& a, const Vec3d& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double LengthSquared(const Vec3d& a) { return Dot(a, a); }
inline double Length(const Vec3d& a) { return std::sqrt(Dot(a, a)); }
inline Vec3d Min(const Vec3d& a, const Vec3d& b) {
  return {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
inline Vec3d Max(const Vec3d& a, const Vec3d& b) {
  return {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}
inline bool IsFinite(const Vec3d& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}
/// Exact.
inline Vec3d ToDouble(const Vec3& v) { return {v.x, v.y, v.z}; }
/// Each coordinate rounded to the nearest float.
inline Vec3 ToFloat(const Vec3d& v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}
/// Six times the signed volume of tet (a, b, c, d): positive if b-a, c-a, d-a are right-handed.
inline double SixVolume(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  return Dot(Cross(b - a, c - a), d - a);
}

}  // namespace plush::tools
