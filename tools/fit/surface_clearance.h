// SPDX-License-Identifier: MIT
// Whether a boundary face of the cage can move without coming near the surface that it encloses.
#pragma once

#include "lattice/split_cage.h"
#include "lattice/tet_neighbourhood.h"
#include "mesh/triangle_bvh.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// Answers for one selected tet of the cage. Obstacles are only the triangles that tets connected
/// to it own (TetNeighbourhood): copies of a tet overlap in space, and the surface in one copy does
/// not obstruct another.
class SurfaceClearance {
 public:
  /// Keeps references. `bvh` is that of the surface; `clearance` [m].
  SurfaceClearance(const SolidSurface& surface, const TriangleBvh& bvh, const SplitCage& cage,
                   const CageFaces& faces, double clearance);

  /// Selects a tet.
  void LookAround(uint32_t tet) { near_.LookAround(tet); }

  /// Whether `tet` belongs to the neighbourhood of the selected one.
  bool IsNear(uint32_t tet) const { return near_.Has(tet); }

  /// Whether face (from, a, b) of the selected tet can move its first corner straight to `to` and
  /// stay farther than the clearance from the surface all the way. The face sweeps over the tet
  /// (from, to, a, b); its corners turn counter-clockwise seen from outside. `*last_hit` is a
  /// triangle to test first, or kNoTriangle. If a triangle stops the face, sets `*last_hit` to it,
  /// because it often stops the face again.
  bool IsFree(const Vec3d& from, const Vec3d& to, const Vec3d& a, const Vec3d& b,
              uint32_t* last_hit) const;

  static constexpr uint32_t kNoTriangle = UINT32_MAX;

 private:
  bool IsOwnedNear(uint32_t triangle) const;

  const SolidSurface& surface_;
  const double clearance_;
  const TriangleBvh& bvh_;
  std::vector<uint32_t> owner_starts_;  // (num_triangles + 1 x 1)
  std::vector<uint32_t> owners_;        // tets, by the surface triangle that they own
  TetNeighbourhood near_;
};

}  // namespace plush::tools
