// SPDX-License-Identifier: MIT
// Takes out the short edges that a cut leaves beside points of the surface and edges of the cage.
#pragma once

#include "mesh/tet_mesh.h"
#include "partition/cut_surface.h"

#include <cstddef>
#include <cstdint>

namespace plush::tools {

/// How far a point may move, in lengths of the edges that are taken out.
inline constexpr double kReachOfMerging = 4.0;

/// Collapses edges shorter than `length` [m] of which at least one end is a point from `first_new`
/// on, shortest first. The point that is left lies on what of the cage carries both, so that it
/// still belongs to every tet around it. An edge stays where its collapse would change the topology
/// of the surface (link condition), turn a triangle around, change the surface's area or vector
/// area by more than half a millionth of its area together with all before, or where nothing of the
/// cage carries both ends nearby. Returns the number of edges collapsed. O(n log n), deterministic.
size_t CollapseShortEdges(const TetMesh& mesh, double length, uint32_t first_new,
                          CutSurface* surface);

}  // namespace plush::tools
