// SPDX-License-Identifier: MIT
// Embeds points, such as render vertices, in the tets of the cage by barycentric weights [Civ
// 5.3.1].
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
  std::vector<Vec4> weights;      ///< sum to 1 up to float rounding (num_points x 1)
  double max_error_m = 0.0;       ///< largest distance of an embedded point from its place [m]
  uint64_t num_outside = 0;       ///< points outside all tets, embedded in the nearest one
  double max_outside_m = 0.0;     ///< largest distance of a point from all tets [m]
  uint32_t farthest = 0;          ///< first point at that distance; 0 if none is outside
};

/// Embeds each point in the tet that contains it (the lowest id of several), or, if none does, in
/// the nearest. `tets` (num_points x 1, or empty) gives each point's tet if it is known, else
/// UINT32_MAX. Deterministic for any thread count.
Embedding EmbedPoints(std::span<const Vec3d> points, const TetMesh& mesh,
                      std::span<const uint32_t> tets = {});

}  // namespace plush::tools
