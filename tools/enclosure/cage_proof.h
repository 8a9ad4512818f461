// SPDX-License-Identifier: MIT
// The proof that a cage encloses its surface, and the tets at which it fails.
#pragma once

#include "base/finding.h"
#include "base/result.h"
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
  std::vector<uint32_t> escapes;       ///< triangles that are not strictly inside (FindEscapes), or
                                       ///< that no choice of strands holds (WalkSurface)
  size_t num_crossings = 0;            ///< pairs of boundary faces that cross
  std::vector<uint32_t> suspects;      ///< tets at which the proof fails
  std::vector<uint32_t> torn;          ///< tets in which torn triangles lie (WalkSurface)

  bool holds() const { return escapes.empty() && num_crossings == 0; }
};

/// Proves that no triangle escapes (FindEscapes) and that the boundary does not cross itself
/// (FindCageCrossings). At branches, also that the surface can be followed, and looks for torn
/// triangles (WalkSurface). `cell` is the edge of the lattice's cells [m].
CageProof ProveCage(const SolidSurface& surface, const SplitCage& cage, double cell);

/// Adds CAGE_NOT_ENCLOSED with places, and returns the error, if a triangle escapes. What the proof
/// found of the surface's points holds for the render triangles of the file: those have the same
/// corners in the same tets, and the nodes are representable in single precision.
Result<Done> RefuseEscapes(const SolidSurface& surface, const CageProof& proof,
                           FindingList* findings);

}  // namespace plush::tools
