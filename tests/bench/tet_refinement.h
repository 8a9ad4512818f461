// SPDX-License-Identifier: MIT
// Refines the tet meshes of models.
#pragma once

#include "mesh/tet_mesh.h"

#include <cstddef>

namespace plush::bench {

/// Halves the longest edge of `mesh` until it has `least_tets` tets or a few more. Every tet at
/// that edge becomes two, which keeps the mesh conforming and evens out tet sizes. (Splitting each
/// tet into eight would miss most target numbers.) Nodes of `mesh` keep their numbers; new ones at
/// edge middles follow. O(n log n).
tools::TetMesh RefinedTo(size_t least_tets, tools::TetMesh mesh);

}  // namespace plush::bench
