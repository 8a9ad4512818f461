// SPDX-License-Identifier: MIT
// The collision surface of a body whose tets hold a surface: that surface, or a simplified copy.
#pragma once

#include "base/finding.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"
#include "partition/partition.h"
#include "simplify/simplify.h"
#include "solid/solid_surface.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush::tools {

class StageClock;

/// A collision surface, and what became of it on the way.
struct CollisionSurface {
  Partition partition;                 ///< empty if the tets do not hold the surface
  size_t simplified_triangles = 0;     ///< before the cut; 0 if it was not simplified
  double simplified_distance_m = 0.0;  ///< SimplifiedSurface::distance_m
};

/// Cuts `solid`, which `tets` hold, or a simplified copy of it if `settings` ask for fewer
/// triangles than it has. `render` is the render surface, `tet_of_point` the tet of each point of
/// the solid. Adds the stage "simplify" to `clock`, and CDG_... findings:
/// - CDG_TRIANGLES_NOT_REACHED if the copy has more triangles than asked for;
/// - CDG_NOT_SIMPLIFIED if it cannot be cut as well as the solid; then the solid is cut.
CollisionSurface MakeCollisionSurface(const SolidSurface& solid,
                                      std::span<const uint32_t> tet_of_point,
                                      const SurfaceMesh& render, const TetMesh& tets,
                                      const SimplifySettings& settings, StageClock* clock,
                                      FindingList* findings);

/// The collision surface of tets with a separate render mesh: that mesh, as above, if the tets hold
/// all of it. Otherwise adds CDG_OUTSIDE and takes the boundary of the tets. `tet_ids` are the tets
/// of the mesh's vertices (num_vertices x 1).
CollisionSurface MakeEmbeddedCollision(const SurfaceMesh& surface,
                                       std::span<const uint32_t> tet_ids, const TetMesh& tets,
                                       const SimplifySettings& settings, StageClock* clock,
                                       FindingList* findings);

}  // namespace plush::tools
