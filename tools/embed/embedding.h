// SPDX-License-Identifier: MIT
// Barycentric embedding of the render surface in the cage [Civ 5.3.1].
#pragma once

#include "plush/types.h"

#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// The tet that carries each point, and the point's weights in it.
struct Embedding {
  std::vector<uint32_t> tet_ids;  ///< (num_points x 1)
  std::vector<Vec4>
      weights;  ///< for the tet's nodes; sum to 1 within float rounding (num_points x 1)
  double max_error_m = 0.0;    ///< largest distance between a point and its embedded place [m]
  uint64_t num_outside = 0;    ///< points outside every tet, embedded in the nearest one
  double max_outside_m = 0.0;  ///< largest distance of a point from all tets [m]
  uint32_t farthest = 0;       ///< the first point at that distance; 0 where none is outside
};

/// Embeds `points` in `mesh`: each in the containing tet (the lowest id of several), or, outside
/// all, in the nearest. `tets` (num_points x 1, or empty) gives tets that are known already, or
/// UINT32_MAX. Deterministic for any thread count.
Embedding EmbedPoints(std::span<const Vec3d> points, const TetMesh& mesh,
                      std::span<const uint32_t> tets = {});

}  // namespace plush::tools
