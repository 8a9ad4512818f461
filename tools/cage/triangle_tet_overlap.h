// SPDX-License-Identifier: MIT
// Whether a triangle touches a tetrahedron, by separating axes.
#pragma once

#include "base/vec3.h"

#include <array>

namespace plush::tools {

/// False only where an axis separates the closed triangle from the closed tet by more than
/// `distance` [m] and what rounding can explain: what comes as near as that is never missed, and
/// what stays a little farther away, past a corner, may count as near. Either may be degenerate.
bool TriangleMayTouchTet(const std::array<Vec3d, 3>& triangle, const std::array<Vec3d, 4>& tet,
                         double distance = 0.0);

}  // namespace plush::tools
