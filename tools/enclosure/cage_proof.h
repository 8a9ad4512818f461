// SPDX-License-Identifier: MIT
// The proof that a cage encloses its surface, and the tets at which it fails.
#pragma once

#include "lattice/cage_boundary.h"
#include "lattice/split_cage.h"
#include "solid/solid_surface.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// The result of a proof. Lists of tets may repeat a tet.
struct CageProof {
  CageFaces faces;
  std::vector<uint32_t> tet_of_point;  ///< tet of each surface point (LocateSurface)
  std::vector<uint32_t> suspects;      ///< tets at which the proof fails
  size_t num_failures = 0;             ///< triangles that escape, and pairs of faces that cross
  std::vector<uint32_t> torn;          ///< tets in which torn triangles lie (WalkSurface)

  bool holds() const { return num_failures == 0; }
};

/// Proves that no triangle escapes (FindEscapes) and that the boundary does not cross itself
/// (FindCageCrossings). If the proof holds, also looks for torn triangles (WalkSurface). `cell` is
/// the edge of the lattice's cells [m].
CageProof ProveCage(const SolidSurface& surface, const SplitCage& cage, double cell);

}  // namespace plush::tools
