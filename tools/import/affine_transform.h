// SPDX-License-Identifier: MIT
// Transforms of scene nodes and of joints.
#pragma once

#include "base/vec3.h"

#include <array>
#include <cstddef>
#include <optional>

namespace plush::tools {

/// The map x -> rows . x + translation. Node matrices are affine in every format.
struct AffineTransform {
  std::array<Vec3d, 3> rows = {Vec3d{1.0, 0.0, 0.0}, Vec3d{0.0, 1.0, 0.0}, Vec3d{0.0, 0.0, 1.0}};
  Vec3d translation;

  /// From a row-major 4x4 matrix that acts on columns. Ignores the fourth row.
  template <class T>
  static AffineTransform FromRowMajor(const std::array<T, 16>& m) {
    return {{Vec3d{m[0], m[1], m[2]}, Vec3d{m[4], m[5], m[6]}, Vec3d{m[8], m[9], m[10]}},
            {m[3], m[7], m[11]}};
  }

  Vec3d Direction(const Vec3d& x) const {
    return {Dot(rows[0], x), Dot(rows[1], x), Dot(rows[2], x)};
  }
  Vec3d Point(const Vec3d& x) const { return Direction(x) + translation; }

  /// Cofactors of the linear part: its inverse transpose times the determinant.
  std::array<Vec3d, 3> Cofactors() const {
    return {Cross(rows[1], rows[2]), Cross(rows[2], rows[0]), Cross(rows[0], rows[1])};
  }
  /// Determinant of the linear part; negative if it mirrors.
  double Determinant() const { return Dot(rows[0], Cross(rows[1], rows[2])); }

  /// The transform of normals, up to a positive factor. Unlike the inverse transpose, it exists for
  /// singular matrices too.
  AffineTransform ForNormals() const {
    const double sign = Determinant() < 0.0 ? -1.0 : 1.0;
    const std::array<Vec3d, 3> c = Cofactors();
    return {{sign * c[0], sign * c[1], sign * c[2]}, {}};
  }

  /// The inverse; nothing if there is none, or if it is not finite.
  std::optional<AffineTransform> Inverse() const {
    const double determinant = Determinant();
    const std::array<Vec3d, 3> c = Cofactors();
    AffineTransform inverse;
    for (int i = 0; i < 3; ++i) {
      inverse.rows[static_cast<size_t>(i)] = Vec3d{c[0][i], c[1][i], c[2][i]} / determinant;
    }
    inverse.translation = -inverse.Direction(translation);
    return inverse.IsFinite() ? std::optional(inverse) : std::nullopt;
  }

  bool IsFinite() const {
    return tools::IsFinite(rows[0]) && tools::IsFinite(rows[1]) && tools::IsFinite(rows[2]) &&
           tools::IsFinite(translation);
  }

  /// Applies `b` first, then this.
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
    return s > 0.0 && rows == std::array{Vec3d{s, 0, 0}, Vec3d{0, s, 0}, Vec3d{0, 0, s}};
  }
};

/// The rotation nearest to the linear part of `transform`, or to its negative if that mirrors. The
/// last component is not negative. Nothing if the linear part has no inverse.
std::optional<Quat> NearestRotation(const AffineTransform& transform);

}  // namespace plush::tools
