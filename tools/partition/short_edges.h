// SPDX-License-Identifier: MIT
// Collapses the short edges that a cut leaves near points of the surface and edges of the cage.
#pragma once

#include "mesh/tet_mesh.h"
#include "partition/cut_surface.h"

#include <cstddef>
#include <cstdint>

namespace plush::tools {

/// How far a point may move, as a multiple of the length below which edges are collapsed.
inline constexpr double kReachOfMerging = 4.0;

/// Collapses edges shorter than `length` [m], shortest first, if at least one end has a number of
/// `first_new` or above. The remaining point lies on the node, edge, face or tet that carries both
/// ends, so that it still belongs to every tet around it. An edge stays if its collapse would
/// - change the topology of the surface (link condition) or flip a triangle;
/// - bring the change of area or vector area, summed over all collapses, above half a millionth of
///   the surface's area;
/// - move a point by more than kReachOfMerging times `length`;
/// - join points that no node, edge, face or tet carries together.
/// Returns the number of edges collapsed. O(n log n), deterministic.
size_t CollapseShortEdges(const TetMesh& mesh, double length, uint32_t first_new,
                          CutSurface* surface);

}  // namespace plush::tools
