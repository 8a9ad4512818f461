// SPDX-License-Identifier: MIT
// Solid angle of one triangle.
// Based on:
// Adriaan Van Oosterom, Jan Strackee. The Solid Angle of a Plane Triangle. 1983
#pragma once

#include "base/vec3.h"

namespace plush::tools {

/// atan2(y, x) in [-pi, pi] to 1e-9 from multiplications, divisions and additions only, so that no
/// mathematical library has a say in what is baked. atan2(0, 0) is 0.
double PortableAtan2(double y, double x);

/// Signed solid angle of triangle (a, b, c) seen from `point`, divided by 4 pi: positive where the
/// point lies behind the triangle (the summed value is 1 inside a closed outward surface). 0 for a
/// point on a corner or in the plane beside the triangle.
double WindingOfTriangle(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c);

}  // namespace plush::tools
