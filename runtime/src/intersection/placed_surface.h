// SPDX-License-Identifier: MIT
// One of two bodies' surfaces, in the coordinates of both.
#pragma once

#include "collision/candidate_pairs.h"
#include "collision/double_vector.h"
#include "collision/surface_records.h"
#include "collision/vertex_positions.h"
#include "intersection/placed_patches.h"
#include "intersection/surface_edges.h"
#include "intersection/triangle_pairs.h"

namespace plush {

/// From the coordinates of `fixed` to those of `moved` [m].
inline Vec3 OffsetTo(const PlacedBody& moved, const PlacedBody& fixed) {
  return {ToFloat(fixed.origin[0] - moved.origin[0]), ToFloat(fixed.origin[1] - moved.origin[1]),
          ToFloat(fixed.origin[2] - moved.origin[2])};
}

struct PlacedSurface {
  const CollisionBody& body;
  Vec3 offset;                      ///< to the common coordinates [m]
  Surface role;                     ///< in ties
  PlacedPatches* placed = nullptr;  ///< by the search of the two bodies' pairs, or null

  /// O(log num_patches).
  uint32_t PatchOf(uint32_t triangle) const { return plush::PatchOf(body.surface, triangle); }

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

/// Corners of a patch's triangles, those of PlacedSurface::CornersAt.
class PatchCorners {
 public:
  PatchCorners(const PlacedSurface& surface, uint32_t patch)
      : surface_(surface),
        placed_(surface.placed != nullptr && surface.placed->HasPlaced(patch)
                    ? surface.placed->vertices.data()
                    : nullptr) {
    if (placed_ == nullptr) nodes_ = surface.NodesOfTet(surface.body.surface.patches[patch].tet);
  }

  Corners At(uint32_t triangle) const {
    if (placed_ == nullptr) return surface_.CornersAt(nodes_, triangle);
    return WithTriangles(surface_.body.surface, [&](const auto& triangles) {
      Corners corners;
      for (int k = 0; k < 3; ++k) {
        const float* const at = placed_ + size_t{4} * VertexOf(triangles[triangle], k);
        corners[static_cast<size_t>(k)] = {at[0], at[1], at[2]};
      }
      return corners;
    });
  }

 private:
  const PlacedSurface& surface_;
  const float* placed_;  // of the search, or null
  std::array<Vec3, 4> nodes_ = {};
};

}  // namespace plush
