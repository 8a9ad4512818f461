// SPDX-License-Identifier: MIT
// Whether a face of the cage may move without touching the surface that it encloses.
#pragma once

#include "lattice/split_cage.h"
#include "lattice/tet_neighbourhood.h"
#include "mesh/triangle_bvh.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// Answers for one tet of the cage at a time. Only surface that tets hanging together with it own
/// counts (TetNeighbourhood): copies of tets overlap in space, and the surface in one is no
/// obstacle for another.
class SurfaceClearance {
 public:
  /// Keeps references. `bvh` is the surface's; `clearance` [m].
  SurfaceClearance(const SolidSurface& surface, const TriangleBvh& bvh, const SplitCage& cage,
                   const CageFaces& faces, double clearance);

  /// Turns to a tet.
  void LookAround(uint32_t tet) { near_.LookAround(tet); }

  /// Whether `tet` hangs together with the one turned to.
  bool IsNear(uint32_t tet) const { return near_.Has(tet); }

  /// Whether face (from, a, b) of that tet, counter-clockwise seen from outside, can move its first
  /// corner straight to `to` and all the way stay farther than the clearance from the surface. What
  /// it passes through is the tet (from, to, a, b). `*last_hit` is a triangle to look at first, or
  /// kNoTriangle; a hit is left there: what stopped a face once often does so again.
  bool IsFree(const Vec3d& from, const Vec3d& to, const Vec3d& a, const Vec3d& b,
              uint32_t* last_hit) const;

  static constexpr uint32_t kNoTriangle = UINT32_MAX;

  /// Number of questions answered so far.
  uint64_t num_queries() const { return num_queries_; }

 private:
  bool IsOwnedNear(uint32_t triangle) const;

  const SolidSurface& surface_;
  const double clearance_;
  const TriangleBvh& bvh_;
  std::vector<uint32_t> owner_starts_;  // (num_triangles + 1 x 1)
  std::vector<uint32_t> owners_;        // tets
  TetNeighbourhood near_;
  mutable uint64_t num_queries_ = 0;
};

}  // namespace plush::tools
