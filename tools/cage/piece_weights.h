// SPDX-License-Identifier: MIT
// How much of the solid each tet of a split cage carries.
#pragma once

#include "lattice/split_cage.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <vector>

namespace plush::tools {

/// Weight of each tet: its volume [m^3]. Copies of one lattice tet share it in proportion to the
/// solid in their pieces, measured by samples; each copy gets at least a twentieth.
std::vector<double> WeighPieces(const SolidSurface& surface, const InsideTest& inside,
                                const SplitCage& cage);

}  // namespace plush::tools
