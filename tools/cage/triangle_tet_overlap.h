// SPDX-License-Identifier: MIT
// Whether a triangle touches a tetrahedron, by separating axes.
#pragma once

#include "base/vec3.h"

#include <array>

namespace plush::tools {

/// False only where an axis separates the closed triangle from the closed tet by more than rounding
/// can explain: what touches is never missed, and what misses by less than about 1e-14 of its size
/// may count as touching.
bool TriangleMayTouchTet(const std::array<Vec3d, 3>& triangle, const std::array<Vec3d, 4>& tet);

/// The same for an axis-aligned box, by its faces and the triangle's plane only: cheaper and
/// coarser, errs towards true.
bool TriangleMayTouchBox(const std::array<Vec3d, 3>& triangle, const Vec3d& lower,
                         const Vec3d& upper);

}  // namespace plush::tools
