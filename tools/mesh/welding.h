// SPDX-License-Identifier: MIT
// Topology by position: seams of UVs and normals must not open the surface.
//
// The surface as topology sees it: points instead of render vertices, each face once.
#pragma once

#include "mesh/surface_mesh.h"

#include <array>
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

/// Points at pairwise different positions and triangles with three different corners, no two of
/// which have the same corners.
struct WeldedSurface {
  std::vector<Vec3d> points;                       ///< [m] (num_points x 1)
  std::vector<uint32_t> point_of_vertex;           ///< of the SurfaceMesh (num_vertices x 1)
  std::vector<std::array<uint32_t, 3>> triangles;  ///< with area first, then flat ones
  std::vector<uint32_t> source_triangle;           ///< of the SurfaceMesh, ascending in both runs
  size_t num_with_area = 0;          ///< triangles beyond have three corners on one line
  std::vector<uint32_t> degenerate;  ///< source triangles without area: flat, or with equal corners
  /// Source triangles left out because one before has the same corners, whatever its orientation.
  std::vector<uint32_t> duplicates;
};

/// Welds by position and sorts the triangles out. O(n log n).
WeldedSurface MakeWeldedSurface(const SurfaceMesh& mesh);

}  // namespace plush::tools
