// SPDX-License-Identifier: MIT
// The tet that carries each point of the surface, by connectivity.
#pragma once

#include "lattice/cage_boundary.h"
#include "lattice/split_cage.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// For each point of the surface a tet that contains it: of the tets that owned a triangle at the
/// point before the fit, else of those reached from them across the fewest faces. Where several
/// strands that overlap in space come into question, the one that hangs together with the tets of
/// neighbouring points (TetNeighbourhood); the lowest of what is left. kNoTet for points of no
/// triangle, or where none is found within a few steps. Exact.
std::vector<uint32_t> LocateSurface(const SolidSurface& surface, const SplitCage& cage,
                                    const CageFaces& faces);

}  // namespace plush::tools
