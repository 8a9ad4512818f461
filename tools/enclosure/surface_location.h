// SPDX-License-Identifier: MIT
// Finds the tet that carries each point of the surface, by connectivity.
#pragma once

#include "lattice/cage_boundary.h"
#include "lattice/split_cage.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// For each point of the surface a tet that contains it. Exact. Chosen in this order:
/// - a tet that owned a triangle at the point before the fit;
/// - else a tet that is reached from those across the fewest faces, at most six;
/// - of several such tets, one that is connected to the tets of neighbouring points
///   (TetNeighbourhood), which decides between strands that overlap in space;
/// - of several left, the lowest.
/// kNoTet for points that no triangle uses, and if no tet is found.
std::vector<uint32_t> LocateSurface(const SolidSurface& surface, const SplitCage& cage,
                                    const CageFaces& faces);

}  // namespace plush::tools
