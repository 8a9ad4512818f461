// SPDX-License-Identifier: MIT
// Arithmetic on the public value types. Every compiler and instruction set rounds it alike, because
// nothing is contracted (see runtime/cmake/PlushTargetDefaults.cmake).
#pragma once

#include "plush/types.h"

#include <cmath>

namespace plush {

inline Vec3 operator+(const Vec3& a, const Vec3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator-(const Vec3& a, const Vec3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec3 operator-(const Vec3& a) { return {-a.x, -a.y, -a.z}; }
inline Vec3 operator*(const Vec3& a, float s) { return {a.x * s, a.y * s, a.z * s}; }
inline Vec3 operator*(float s, const Vec3& a) { return a * s; }
inline Vec3& operator+=(Vec3& a, const Vec3& b) { return a = a + b; }
inline Vec3& operator-=(Vec3& a, const Vec3& b) { return a = a - b; }
inline Vec3& operator*=(Vec3& a, float s) { return a = a * s; }

inline float Dot(const Vec3& a, const Vec3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec3 Cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline float Length(const Vec3& a) { return std::sqrt(Dot(a, a)); }
inline bool IsZero(const Vec3& a) { return a.x == 0.0f && a.y == 0.0f && a.z == 0.0f; }
inline bool IsFinite(const Vec3& a) {
  return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z);
}

/// A v.
inline Vec3 operator*(const Mat3& a, const Vec3& v) { return a.c0 * v.x + a.c1 * v.y + a.c2 * v.z; }
/// A B.
inline Mat3 operator*(const Mat3& a, const Mat3& b) { return {a * b.c0, a * b.c1, a * b.c2}; }
inline Mat3 operator+(const Mat3& a, const Mat3& b) {
  return {a.c0 + b.c0, a.c1 + b.c1, a.c2 + b.c2};
}
inline Mat3 operator-(const Mat3& a, const Mat3& b) {
  return {a.c0 - b.c0, a.c1 - b.c1, a.c2 - b.c2};
}
inline Mat3 operator*(const Mat3& a, float s) { return {a.c0 * s, a.c1 * s, a.c2 * s}; }

inline Mat3 Transpose(const Mat3& a) {
  return {{a.c0.x, a.c1.x, a.c2.x}, {a.c0.y, a.c1.y, a.c2.y}, {a.c0.z, a.c1.z, a.c2.z}};
}
/// A^T B.
inline Vec3 TransposeTimes(const Mat3& a, const Vec3& v) {
  return {Dot(a.c0, v), Dot(a.c1, v), Dot(a.c2, v)};
}

inline Mat3 TransposeTimes(const Mat3& a, const Mat3& b) {
  return {{Dot(a.c0, b.c0), Dot(a.c1, b.c0), Dot(a.c2, b.c0)},
          {Dot(a.c0, b.c1), Dot(a.c1, b.c1), Dot(a.c2, b.c1)},
          {Dot(a.c0, b.c2), Dot(a.c1, b.c2), Dot(a.c2, b.c2)}};
}
inline float Determinant(const Mat3& a) { return Dot(Cross(a.c0, a.c1), a.c2); }
/// At least the largest eigenvalue of a symmetric matrix without negative ones.
inline float BoundOf(const Mat3& a) {
  const auto sum = [](const Vec3& c) { return std::fabs(c.x) + std::fabs(c.y) + std::fabs(c.z); };
  return std::fmin(a.c0.x + a.c1.y + a.c2.z, std::fmax(sum(a.c0), std::fmax(sum(a.c1), sum(a.c2))));
}
/// Cofactor matrix: det(A) A^-T, the derivative of the determinant.
inline Mat3 Cofactor(const Mat3& a) {
  return {Cross(a.c1, a.c2), Cross(a.c2, a.c0), Cross(a.c0, a.c1)};
}
inline float SquaredNorm(const Mat3& a) {
  return Dot(a.c0, a.c0) + Dot(a.c1, a.c1) + Dot(a.c2, a.c2);
}

/// Rotation matrix of a unit quaternion.
inline Mat3 RotationMatrix(const Quat& q) {
  const float xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  const float xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  const float wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return {{1.0f - 2.0f * (yy + zz), 2.0f * (xy + wz), 2.0f * (xz - wy)},
          {2.0f * (xy - wz), 1.0f - 2.0f * (xx + zz), 2.0f * (yz + wx)},
          {2.0f * (xz + wy), 2.0f * (yz - wx), 1.0f - 2.0f * (xx + yy)}};
}

/// Quaternion product a b: turns by b first, then by a.
inline Quat operator*(const Quat& a, const Quat& b) {
  return {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

}  // namespace plush
