// SPDX-License-Identifier: MIT
// One of two bodies' surfaces, in the coordinates of both.
#pragma once

#include "collision/candidate_pairs.h"
#include "collision/double_vector.h"
#include "collision/surface_records.h"
#include "collision/vertex_positions.h"
#include "intersection/triangle_pairs.h"

#include <algorithm>

namespace plush {

/// From the coordinates of `fixed` to those of `moved` [m].
inline Vec3 OffsetTo(const PlacedBody& moved, const PlacedBody& fixed) {
  return {ToFloat(fixed.origin[0] - moved.origin[0]), ToFloat(fixed.origin[1] - moved.origin[1]),
          ToFloat(fixed.origin[2] - moved.origin[2])};
}

struct PlacedSurface {
  const CollisionBody& body;
  Vec3 offset;   ///< to the common coordinates [m]
  Surface role;  ///< in ties

  /// O(log num_patches).
  uint32_t PatchOf(uint32_t triangle) const {
    const auto after = std::upper_bound(
        body.surface.patches.begin(), body.surface.patches.end(), triangle,
        [](uint32_t index, const CdgPatch& patch) { return index < patch.first_triangle; });
    return static_cast<uint32_t>(after - body.surface.patches.begin()) - 1;
  }

  std::array<Vec3, 4> NodesOfTet(uint32_t tet) const {
    std::array<Vec3, 4> nodes = NodesOf(body.surface.tets[tet], body.x);
    for (Vec3& node : nodes) node += offset;
    return nodes;
  }

  /// The corners that FindBodyPairs saw, to the bit.
  Corners CornersAt(const std::array<Vec3, 4>& nodes, uint32_t triangle) const {
    return WithTriangles(body.surface, [&](const auto& triangles) {
      Corners corners;
      for (int k = 0; k < 3; ++k)
        corners[static_cast<size_t>(k)] =
            VertexPosition(nodes, body.surface.vertices[VertexOf(triangles[triangle], k)]);
      return corners;
    });
  }
  Corners CornersAt(uint32_t triangle) const {
    return CornersAt(NodesOfTet(body.surface.patches[PatchOf(triangle)].tet), triangle);
  }

  uint32_t Neighbour(uint32_t triangle, int corner) const {
    return WithTriangles(body.surface, [&](const auto& triangles) {
      return NeighbourOf(triangles[triangle], corner);
    });
  }
};

}  // namespace plush
