// SPDX-License-Identifier: MIT
// A triangle surface in which each triangle lies in one tet of the cage.
#pragma once

#include "base/vec3.h"
#include "mesh/topology.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Where a point lies in the cage: at a node, on an edge or face, or inside a tet.
struct Carrier {
  std::array<uint32_t, 4> nodes = {};  ///< the first `count` of them, ascending
  std::array<double, 4> weights = {};  ///< >= 0, sum 1; parallel to nodes
  uint32_t count = 0;                  ///< 1..4

  bool operator==(const Carrier&) const = default;
};

/// The surface after clipping. Half-edge 3 t + k runs from corner k of triangle t to the next.
struct CutSurface {
  std::vector<Vec3d> points;                       ///< at rest [m] (num_points x 1)
  std::vector<Carrier> carriers;                   ///< (num_points x 1)
  std::vector<std::array<uint32_t, 3>> triangles;  ///< into points (num_triangles x 3)
  std::vector<uint32_t> tets;                      ///< of each triangle (num_triangles x 1)
  std::vector<uint32_t> sources;   ///< triangle of the SolidSurface, or of the cage's boundary
  std::vector<uint32_t> opposite;  ///< half-edge on the other side, or kNoHalfEdge
                                   ///< (3 num_triangles x 1)
};

}  // namespace plush::tools
