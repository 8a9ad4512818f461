// SPDX-License-Identifier: MIT
// Takes tets without content off a cage [Civ 5.3.1: External tets are deleted], also those that
// became empty as the fit went on.
#pragma once

#include "lattice/split_cage.h"
#include "mesh/triangle_bvh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <cstdint>

namespace plush::tools {

/// Removes boundary tets that stay farther than `clearance` [m] from the surface that tets near
/// them own and whose middles do not lie inside (where holes are closed), where the boundary stays
/// a manifold and every part one piece; from the outside in, once around. What they owned goes to
/// their neighbours. Returns how many went.
uint32_t PeelCage(const SolidSurface& surface, const TriangleBvh& bvh, const InsideTest& inside,
                  double clearance, SplitCage* cage);

}  // namespace plush::tools
