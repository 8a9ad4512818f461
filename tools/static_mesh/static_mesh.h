// SPDX-License-Identifier: MIT
// From a surface to the sections of a static mesh: welded positions, triangles with neighbours,
// tree.
#pragma once

#include "plush/format/static_mesh.h"
#include "plush/types.h"

#include "mesh/surface_mesh.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// A static mesh as the file stores it, without materials.
struct StaticMeshData {
  std::vector<Vec3> positions;             ///< [m] (num_vertices x 1)
  std::vector<StaticTriangle> triangles;   ///< in the order of the leaves (num_triangles x 1)
  std::vector<uint32_t> source_triangles;  ///< of the surface (num_triangles x 1); not stored
  std::vector<StaticNode> tree;
  Vec3 low, high;           ///< box of the positions [m]
  uint64_t open_edges = 0;  ///< edges of one triangle without a partner that agrees on the front
  bool is_closed = false;  ///< every edge is passed as often forwards as backwards: the mesh bounds
                           ///< a volume. Triangles without area count here
};

/// Makes the static mesh of `surface`, whose triangles are taken as they are turned. Equal
/// positions (as floats, +0 equals -0) become one. Leaves out triangles without area, and all but
/// the first of those with the same corners. More than two triangles at an edge are paired by
/// PairHalfEdges. Empty if no triangle has area. O(n log n); same surface, same data.
StaticMeshData MakeStaticMesh(const SurfaceMesh& surface);

}  // namespace plush::tools
