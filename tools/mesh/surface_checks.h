// SPDX-License-Identifier: MIT
// The lint of `plush check`.
#pragma once

#include "base/finding.h"
#include "mesh/surface_mesh.h"

namespace plush::tools {

/// Which of the costlier checks to make.
struct SurfaceCheckSettings {
  bool self_intersections = true;
};

/// Adds every MESH_... and SEAMS_WELDED finding that applies to `mesh`, MESH_EMPTY (an error) where
/// no triangle with positive area is left.
void CheckSurface(const SurfaceMesh& mesh, const SurfaceCheckSettings& settings,
                  FindingList* findings);

}  // namespace plush::tools
