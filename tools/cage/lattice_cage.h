// SPDX-License-Identifier: MIT
// The bounding lattice cage, first version: [Civ 5.3.1] steps 1 and 2.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "cage/inside.h"
#include "cage/solid_surface.h"
#include "mesh/tet_mesh.h"

#include <cstdint>

namespace plush::tools {

/// Size of the lattice: one of the two.
struct LatticeSettings {
  /// The cell size whose cage comes nearest to this number of tets, where cell_m is 0.
  uint32_t target_tets = 450;
  double cell_m = 0.0;  ///< edge of the cubes [m]; 0: from target_tets
};

/// A cage and how it came about.
struct LatticeCage {
  TetMesh mesh;                 ///< nodes are representable in single precision
  double cell_m = 0.0;          ///< edge of the cubes [m]
  uint32_t num_internal = 0;    ///< tets inside the solid that no triangle touches
  uint32_t num_piercing = 0;    ///< tets that a triangle touches
  uint32_t num_components = 0;  ///< connected across shared nodes
};

/// Builds the cage: a regular lattice over the bounding box grown by a margin, five tets per cube
/// with alternating parity, external tets removed. Contains every point of the surface. Adds
/// CAGE_TETS_NOT_REACHED. Errors: kInvalidInput (no triangle of positive area, or the model is too
/// far from the origin for single precision), kLimit (more than 20 million lattice tets).
Result<LatticeCage> BuildLatticeCage(const SolidSurface& surface, const InsideTest& inside,
                                     const LatticeSettings& settings, FindingList* findings);

}  // namespace plush::tools
