// SPDX-License-Identifier: MIT
// Removes empty tets from the boundary of a cage ("External tets are deleted" [Civ, Sec. 5.3.1]),
// including tets that became empty during the fit.
#pragma once

#include "lattice/split_cage.h"
#include "mesh/triangle_bvh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <cstdint>

namespace plush::tools {

/// Removes every boundary tet that
/// - is farther than `clearance` [m] from the triangles that nearby tets own,
/// - has its centre outside the solid (tested only if the surface has holes), and
/// - has no node at a branch. Without the tet, the boundary must stay a manifold and every part in
///   one piece.
/// Visits the tets once, in ascending order; tets that become boundary tets before their turn may
/// go too. The neighbours of a removed tet get its triangles. Returns the number of removed tets.
uint32_t PeelCage(const SolidSurface& surface, const TriangleBvh& bvh, const InsideTest& inside,
                  double clearance, SplitCage* cage);

}  // namespace plush::tools
