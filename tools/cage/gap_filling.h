// SPDX-License-Identifier: MIT
// Empty tets where a cage would be pinched.
#pragma once

#include "cage/lattice.h"
#include "cage/split_cage.h"

#include <cstdint>

namespace plush::tools {

/// Adds tets without content around edges and nodes at which the boundary is pinched
/// (FindBoundaryDefects): all but the largest gap of an edge, the smallest gap of a node, until
/// none is left that lattice tets could fill. Counts them in num_filled; the number of pinched
/// edges and nodes that are left.
uint32_t FillGaps(const Lattice& lattice, SplitCage* cage);

}  // namespace plush::tools
