// SPDX-License-Identifier: MIT
// Smooth normals for vertices that came without.
#pragma once

#include "mesh/surface_mesh.h"

#include <vector>

namespace plush::tools {

/// Sets mesh->normals[v] for every v with missing[v]: the sum of the area-weighted normals of all
/// triangles at its position (seams stay smooth), normalised; (0, 1, 0) where that sum vanishes.
/// mesh->normals and `missing` must have one entry per vertex. O(n log n).
void FillMissingNormals(const std::vector<bool>& missing, SurfaceMesh* mesh);

}  // namespace plush::tools
