// SPDX-License-Identifier: MIT
// The lint of `plush check`.
#pragma once

#include "base/finding.h"
#include "mesh/surface_mesh.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Floats this coarse, as a share of a model's size, make MESH_FAR_FROM_ORIGIN.
inline constexpr double kMaxFloatSpacing = 1e-4;
/// Distance from the middle, as a multiple of the median distance, beyond which a point is stray.
inline constexpr double kStrayRatio = 1e4;

/// Points far away from all others, ascending. The middle is the median of each coordinate; a
/// distance is the largest difference of a coordinate. O(n).
std::vector<uint32_t> FindStrayPoints(std::span<const Vec3d> points);

/// Which of the costlier checks to make.
struct SurfaceCheckSettings {
  bool self_intersections = true;
};

/// Facts that the checks find on the way.
struct SurfaceFacts {
  uint32_t num_points = 0;      ///< different positions
  uint32_t num_components = 0;  ///< sets of triangles without a common point
};

/// Adds every MESH_... and SEAMS_WELDED finding that applies to `mesh`; MESH_EMPTY, an error, if no
/// triangle has a positive area. Triangle numbers in places are indices of mesh.triangles.
/// O(n log n) plus the self-intersections; under a second for 100 000 triangles.
SurfaceFacts CheckSurface(const SurfaceMesh& mesh, const SurfaceCheckSettings& settings,
                          FindingList* findings);

}  // namespace plush::tools
