// SPDX-License-Identifier: MIT
// The surface checks of `plush check`.
#pragma once

#include "base/finding.h"
#include "mesh/surface_mesh.h"

#include <cstdint>

namespace plush::tools {

/// MESH_FAR_FROM_ORIGIN: floats at the model lie farther apart than this share of its size.
inline constexpr double kMaxFloatSpacing = 1e-4;
/// MESH_STRAY_VERTEX: a point lies farther from the middle than this many median distances.
inline constexpr double kStrayRatio = 1e4;

struct SurfaceCheckSettings {
  bool self_intersections = true;
};

struct SurfaceFacts {
  uint32_t num_points = 0;      ///< different positions
  uint32_t num_components = 0;  ///< sets of triangles that share no point with each other
};

/// Adds every MESH_... and SEAMS_WELDED finding that applies to `mesh`, with indices of
/// mesh.triangles as places. Adds the error MESH_EMPTY if no triangle has a positive area.
/// O(n log n) plus the self-intersections; under a second for 100,000 triangles.
SurfaceFacts CheckSurface(const SurfaceMesh& mesh, const SurfaceCheckSettings& settings,
                          FindingList* findings);

}  // namespace plush::tools
