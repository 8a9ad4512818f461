// SPDX-License-Identifier: MIT
// Makes the file's collision surface (CDG) from a surface and a cage [Civ 5.4].
#pragma once

#include "base/finding.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"
#include "partition/collision_layout.h"
#include "solid/solid_surface.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush::tools {

/// Edges made by the cut are collapsed if they are shorter than this share of the diagonal of the
/// surface's box. The share is several hundred times the spacing of float coordinates.
inline constexpr double kShortestCutEdge = 3e-5;

/// A collision surface, and counts for the report.
struct Partition {
  CollisionData data;        ///< empty if the surface could not be cut
  size_t num_crossings = 0;  ///< of edges of the surface with faces of tets, and of edges of tets
                             ///< with the surface
  size_t num_merged = 0;     ///< short edges made by the cut that were collapsed
  size_t num_seams = 0;      ///< pieces of surface in one tet that were not discs and were cut
};

/// Cuts `surface` along the faces of `mesh`, whose nodes are numbered as in the file.
/// `tet_of_point` is the tet that each point lies in (num_points x 1). If the tets do not hold all
/// of the surface, adds CDG_OUTSIDE with the triangles and returns an empty result. If the result
/// is open although `surface` is not, adds CDG_TORN. O(n log n), deterministic for any thread
/// count.
Partition PartitionSurface(const SolidSurface& surface, const TetMesh& mesh,
                           std::span<const uint32_t> tet_of_point, FindingList* findings);

/// The same for a simplified copy of the surface (simplify/simplify.h). The source of each triangle
/// is the triangle of `render` nearest to its middle.
Partition PartitionSimplified(const SolidSurface& surface, const SurfaceMesh& render,
                              const TetMesh& mesh, std::span<const uint32_t> tet_of_point,
                              FindingList* findings);

/// Takes the boundary of tets that end at the surface, without a cut. The source of each face is
/// the triangle of `surface` (the render surface) nearest to the face's middle. Deterministic.
Partition PartitionBoundary(const SurfaceMesh& surface, const TetMesh& mesh);

}  // namespace plush::tools
