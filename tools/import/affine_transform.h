// SPDX-License-Identifier: MIT
// Node transforms in double precision.
#pragma once

#include "base/vec3.h"

#include <array>

namespace plush::tools {

/// x -> rows . x + translation. Node matrices are affine by every format's rules; a fourth row that
/// is not (0 0 0 1) is ignored.
struct AffineTransform {
  std::array<Vec3d, 3> rows = {Vec3d{1.0, 0.0, 0.0}, Vec3d{0.0, 1.0, 0.0}, Vec3d{0.0, 0.0, 1.0}};
  Vec3d translation;

  /// From a row-major 4x4 matrix that acts on columns.
  static AffineTransform FromRowMajor(const std::array<double, 16>& m) {
    return {{Vec3d{m[0], m[1], m[2]}, Vec3d{m[4], m[5], m[6]}, Vec3d{m[8], m[9], m[10]}},
            {m[3], m[7], m[11]}};
  }

  Vec3d Direction(const Vec3d& x) const {
    return {Dot(rows[0], x), Dot(rows[1], x), Dot(rows[2], x)};
  }
  Vec3d Point(const Vec3d& x) const { return Direction(x) + translation; }

  /// Determinant of the linear part: negative where it mirrors.
  double Determinant() const { return Dot(rows[0], Cross(rows[1], rows[2])); }

  /// The linear part of the transform of normals, up to a positive factor: the inverse transpose,
  /// or, with the determinant's sign, the matrix of cofactors, which singular matrices have too.
  AffineTransform ForNormals() const {
    const double sign = Determinant() < 0.0 ? -1.0 : 1.0;
    return {{sign * Cross(rows[1], rows[2]), sign * Cross(rows[2], rows[0]),
             sign * Cross(rows[0], rows[1])},
            {}};
  }

  /// First `b`, then this.
  AffineTransform After(const AffineTransform& b) const {
    AffineTransform result;
    for (size_t i = 0; i < 3; ++i) {
      result.rows[i] = rows[i].x * b.rows[0] + rows[i].y * b.rows[1] + rows[i].z * b.rows[2];
    }
    result.translation = Point(b.translation);
    return result;
  }

  /// Whether the linear part is a positive multiple of the identity.
  bool KeepsDirections() const {
    const double s = rows[0].x;
    return s > 0.0 && rows[0] == Vec3d{s, 0.0, 0.0} && rows[1] == Vec3d{0.0, s, 0.0} &&
           rows[2] == Vec3d{0.0, 0.0, s};
  }
};

}  // namespace plush::tools
