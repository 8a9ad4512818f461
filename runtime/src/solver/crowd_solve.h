// SPDX-License-Identifier: MIT
// Solves with one factor for a crowd; see elasticity/crowd_elements.h for how its numbers lie.
#pragma once

#include "elasticity/crowd_elements.h"
#include "solver/panel_solve.h"

namespace plush {

/// x := A^-1 x for all bodies and axes of `x` (num_nodes x 3 x 16); entries from num_active on
/// become zero. Reads each value of the factor once on the way down and once on the way up. Does
/// not allocate.
void SolveCrowd(const PanelFactor& factor, float* x);

}  // namespace plush
