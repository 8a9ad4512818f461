// SPDX-License-Identifier: MIT
// The boundary of tets that end at the surface, as a surface cut by its tets.
#pragma once

#include "mesh/tet_mesh.h"
#include "partition/cut_surface.h"

namespace plush::tools {

/// The faces of `mesh` that belong to one tet, each in that tet; sources are their numbers in this
/// order (by tet, then by opposite corner). O(t log t).
CutSurface CutBoundary(const TetMesh& mesh);

}  // namespace plush::tools
