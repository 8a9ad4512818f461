// SPDX-License-Identifier: MIT
// Topology by position: seams of UVs and normals must not open the surface.
#pragma once

#include "mesh/surface_mesh.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// Which render vertices are one point of the surface.
struct Welding {
  std::vector<uint32_t> point_of_vertex;  ///< (num_vertices x 1), values below num_points
  uint32_t num_points = 0;                ///< points are numbered by first use
};

/// Welds vertices whose positions are bit-equal (+0 and -0 are equal). O(n log n).
Welding WeldByPosition(const SurfaceMesh& mesh);

}  // namespace plush::tools
