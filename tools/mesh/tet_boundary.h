// SPDX-License-Identifier: MIT
// The surface of a tet mesh.
#pragma once

#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"

namespace plush::tools {

/// The faces that belong to one tet only, counter-clockwise seen from outside, as one part without
/// names; vertices are the nodes on them in ascending order, with area-weighted normals. A face
/// that more than two tets share counts as inner. O(t log t).
SurfaceMesh BoundarySurface(const TetMesh& mesh);

}  // namespace plush::tools
