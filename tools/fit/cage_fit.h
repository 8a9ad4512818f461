// SPDX-License-Identifier: MIT
// Draws the cage in around the surface [Civ, Sec. 5.3.1, step 4].
#pragma once

#include "lattice/split_cage.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

enum class FitMethod {
  kSnug,  ///< reduces the cage's volume and its small dihedral angles together: the default
  kOdt,   ///< reduces the energy of optimal Delaunay triangulation, as in [Civ]
  kNone,  ///< leaves the lattice as it is
};

struct FitSettings {
  FitMethod method = FitMethod::kSnug;
  double clearance_m = 0.0;        ///< least distance between boundary and surface [m], > 0
  double min_dihedral_deg = 20.0;  ///< the guard: no tet gets a smaller dihedral angle, [0, 50]
  double quality_weight = 3.0;     ///< lambda: weight of the angles relative to the volume, >= 0
  double solid_volume_m3 = 0.0;    ///< unit of the volume term [m^3], > 0
  double cell_m = 0.0;             ///< edge of the lattice's cells [m]
  uint32_t passes = 0;             ///< most passes; 0: the method's default
  double odt_relaxation = 0.1;     ///< k_ODT: share of the way to the ODT position, (0, 1]
  std::vector<uint32_t> frozen;    ///< nodes that do not move (SplitCage::node_ids)
};

/// Moves the nodes of `cage` and removes tets that become empty (PeelCage). During every move:
/// - Every tet stays positively oriented. Its dihedral angles stay above the guard, or above its
///   smallest angle before the fit if that is less.
/// - Every boundary face stays farther than the clearance from the triangles that nearby tets own.
/// - The boundary does not pass through itself, except between copies of lattice tets, which
///   overlap anyway.
/// - If the surface has holes, boundary faces stay outside the solid that winding numbers close.
///   Only the corners and middles of the faces are tested for this.
/// Deterministic. Returns the number of passes made.
uint32_t FitCage(const SolidSurface& surface, const InsideTest& inside, const FitSettings& settings,
                 SplitCage* cage);

}  // namespace plush::tools
