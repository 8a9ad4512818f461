// SPDX-License-Identifier: MIT
// External, Internal and Piercing tets of a lattice [Civ 5.3.1, step 2].
#pragma once

#include "cage/inside.h"
#include "cage/lattice.h"
#include "cage/solid_surface.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// Class of every tet of a lattice, one bit per tet in one byte per cube; External is neither.
struct LatticeClasses {
  std::vector<uint8_t> piercing;  ///< bit k: a triangle touches tet k (num_cubes x 1)
  std::vector<uint8_t> internal;  ///< bit k: no triangle does and its centroid is inside
  uint32_t num_piercing = 0;
  uint32_t num_internal = 0;
};

/// Classifies the tets of `lattice`, which encloses the surface. Deterministic for any thread
/// count.
LatticeClasses ClassifyTets(const Lattice& lattice, const SolidSurface& surface,
                            const InsideTest& inside);

}  // namespace plush::tools
