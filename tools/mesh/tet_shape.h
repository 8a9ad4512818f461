// SPDX-License-Identifier: MIT
// How good the shape of a tet is.
#pragma once

#include "base/vec3.h"

#include <array>

namespace plush::tools {

/// Corners of a tet [m].
using TetCorners = std::array<Vec3d, 4>;

/// Quality of a tet: 6 sqrt(2) V / l_rms^3, V its signed volume and l_rms the root mean square of
/// its edges. 1 for a regular tet, 0 for a flat one or a point.
double TetQuality(const TetCorners& corners);

/// Smallest and largest angle between two faces of a tet.
struct DihedralRange {
  double min_deg = 180.0;
  double max_deg = 0.0;
};
DihedralRange TetDihedrals(const TetCorners& corners);

}  // namespace plush::tools
