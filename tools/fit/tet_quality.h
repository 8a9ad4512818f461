// SPDX-License-Identifier: MIT
// Dihedral angles of tets, without libm: bakes are the same to the bit everywhere.
#pragma once

#include "base/vec3.h"

#include <array>

namespace plush::tools {

/// Angle in [0, 180] degrees of a cosine in [-1, 1] (values beyond are clamped), to 2e-6 degrees.
/// Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 4.4.46.
double DegreesOfCosine(double cosine);

/// Smallest of the six dihedral angles of a tet [degrees]; 0 where it is flat or inverted.
double SmallestDihedral(const std::array<Vec3d, 4>& tet);

/// Dihedral angle at the edge between corners `i` and `j` of a positively oriented tet [degrees].
double DihedralAt(const std::array<Vec3d, 4>& tet, size_t i, size_t j);

}  // namespace plush::tools
