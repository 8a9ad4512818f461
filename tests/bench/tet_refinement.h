// SPDX-License-Identifier: MIT
// Finer tet meshes from those that the models come as.
#pragma once

#include "mesh/tet_mesh.h"

#include <cstddef>

namespace plush::bench {

/// `mesh` with its longest edges halved, one after the other, until it has `least_tets` tets or a
/// few more: every tet at an edge becomes two, so that the mesh stays conforming and its tets
/// become alike in size. Splitting each tet into eight would miss most numbers of tets by far. The
/// nodes of `mesh` keep their numbers; those at the edges' middles follow. O(n log n).
tools::TetMesh RefinedTo(size_t least_tets, tools::TetMesh mesh);

}  // namespace plush::bench
