// SPDX-License-Identifier: MIT
// Makes a coarser copy of a surface that stays inside the cage and near the original.
#pragma once

#include "mesh/tet_mesh.h"
#include "solid/solid_surface.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plush::tools {

/// The collision surface's share of the settings of a bake.
struct SimplifySettings {
  std::optional<uint32_t> triangles;  ///< number to simplify to; nullopt: the surface as it is
  double distance = 0.01;             ///< largest distance between copy and original, as a share of
                                      ///< the diagonal of the surface's box
};

/// A simplified surface. Its points are some of those of the original.
struct SimplifiedSurface {
  SolidSurface surface;                ///< without point_of_vertex; a triangle's source is one of
                                       ///< those whose place it takes
  std::vector<uint32_t> tet_of_point;  ///< of surface.points
  double distance_m = 0.0;  ///< no point of either surface is farther from the other one [m]; too
                            ///< large by at most kDistanceShare of the limit
  double limit_m = 0.0;     ///< the distance that was allowed [m]
  // Collapses that were refused at the end; all zero if the number was reached.
  size_t num_too_far = 0;    ///< they would exceed the distance
  size_t num_escaping = 0;   ///< a triangle would leave the cage, or its strand
  size_t num_misshapen = 0;  ///< triangles would be turned over or thin, or pass through others, or
                             ///< the topology would change
};

/// Collapses edges of `surface`, those that change it least first, until it has
/// `settings.triangles` triangles. A collapse is refused if
/// - it changes the topology (CollapsingSurface::CanCollapse);
/// - it turns a triangle by more than about 78 degrees, folds it onto its neighbour, or makes it
///   thin;
/// - a triangle that it changes passes through another one (exact; what passed through others in
/// the
///   original may go on to do so);
/// - a triangle that it changes is not strictly inside the cage, in one strand
///   (EnclosureTest::HoldsInOneStrand, exact), or
/// - a point of the new surface, or of the original around it, is farther from the other surface
///   than the distance allowed. The bound holds for all points, not for samples only.
///
/// So a surface that `mesh` encloses stays enclosed, and a closed one closed. `tet_of_point` is the
/// tet that each point lies in (num_points x 1). Deterministic.
SimplifiedSurface SimplifySurface(const SolidSurface& surface, const TetMesh& mesh,
                                  std::span<const uint32_t> tet_of_point,
                                  const SimplifySettings& settings);

}  // namespace plush::tools
