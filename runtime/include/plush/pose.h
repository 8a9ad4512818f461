// SPDX-License-Identifier: MIT
// Arithmetic on poses, in double precision and with square roots only: the same bits everywhere.
#pragma once

#include "plush/types.h"

namespace plush {

/// A rotation by a unit quaternion in double precision.
struct Rotation {
  double x = 0.0, y = 0.0, z = 0.0, w = 1.0;
};

/// q / |q|; the identity if q is zero or not finite.
Rotation Normalised(const Rotation& q);

Rotation RotationOf(const Quat& q);
Quat ToQuat(const Rotation& q);

/// The inverse rotation.
Rotation Conjugate(const Rotation& q);

/// Turns by b, then by a.
Rotation operator*(const Rotation& a, const Rotation& b);

/// Turns the vector `v` (3 x 1) in place.
void Turn(const Rotation& q, double* v);

/// The rotation at `t` in [0, 1] of the way from `a` to `b`, at constant angular speed on the
/// shortest way (slerp). Halves the way 32 times.
Rotation Slerp(const Rotation& a, const Rotation& b, double t);

/// a b: places by b, then by a.
Pose operator*(const Pose& a, const Pose& b);
Pose Inverse(const Pose& a);

/// The pose at `t` in [0, 1] of the way from `a` to `b`: the position on a straight line, the
/// rotation by Slerp. Exact at both ends.
Pose Interpolated(const Pose& a, const Pose& b, double t);

}  // namespace plush
