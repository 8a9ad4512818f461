// SPDX-License-Identifier: MIT
// Where a point lies with respect to one tetrahedron.
#pragma once

#include "base/vec3.h"

#include <array>

namespace plush::tools {

/// The four corners of a positively oriented tet [m].
using TetCorners = std::array<Vec3d, 4>;

/// Barycentric weights of `point`: all in [0, 1] exactly where it lies inside. Each is a ratio of
/// volumes with the point as origin, so a point equal to a corner gets 0 exactly for the others.
std::array<double, 4> BarycentricWeights(const Vec3d& point, const TetCorners& tet);

/// The point of triangle (a, b, c) nearest to `point`; the triangle may be degenerate.
Vec3d ClosestPointOnTriangle(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c);

/// Squared distance from `point` to the tet [m^2]; 0 inside.
double SquaredDistance(const Vec3d& point, const TetCorners& tet);

}  // namespace plush::tools
