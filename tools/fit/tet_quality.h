// SPDX-License-Identifier: MIT
// Dihedral angles of tets, without libm, so that bakes are bit-identical on every platform.
#pragma once

#include "base/vec3.h"

#include <array>

namespace plush::tools {

/// The angle in [0, 180] degrees whose cosine is given, to 2e-6 degrees. Cosines beyond [-1, 1] are
/// clamped. Milton Abramowitz, Irene Stegun. Handbook of Mathematical Functions, 4.4.46. 1964.
double DegreesOfCosine(double cosine);

/// Smallest of the six dihedral angles of a tet [degrees]; 0 if the tet is flat or inverted.
double SmallestDihedral(const std::array<Vec3d, 4>& tet);

/// Dihedral angle at the edge between corners `i` and `j` of a positively oriented tet [degrees].
double DihedralAt(const std::array<Vec3d, 4>& tet, size_t i, size_t j);

}  // namespace plush::tools
