// SPDX-License-Identifier: MIT
// Draws the cage in around the surface [Civ 5.3.1, step 4].
#pragma once

#include "lattice/split_cage.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

enum class FitMethod {
  kSnug,  ///< volume and shape of the tets together: the default
  kOdt,   ///< optimal Delaunay triangulation energy, as the paper has it
  kNone,  ///< the lattice as it is
};

struct FitSettings {
  FitMethod method = FitMethod::kSnug;
  double clearance_m = 0.0;        ///< least distance between boundary and surface [m], > 0
  double min_dihedral_deg = 20.0;  ///< no tet gets a smaller dihedral angle, [0, 50]
  double quality_weight = 3.0;     ///< lambda, weight of shape against volume, >= 0
  double solid_volume_m3 = 0.0;    ///< unit of the volume term [m^3], > 0
  double cell_m = 0.0;             ///< cell of the lattice [m]
  uint32_t passes = 0;             ///< 0: as many as the method wants
  double odt_relaxation = 0.1;     ///< k_ODT, (0, 1]
  std::vector<uint32_t> frozen;    ///< nodes (SplitCage::node_ids) that stay where they are
};

/// What a fit did.
struct FitReport {
  uint32_t passes = 0;
  uint64_t face_queries = 0;  ///< boundary faces tested against the surface
  uint32_t num_peeled = 0;    ///< tets without content that were taken away
};

/// Moves the nodes of `cage`. Throughout, every tet stays positively oriented with its dihedral
/// angles above the guard (or above what they were), every boundary face stays farther than the
/// clearance from the surface that tets near it own, on the whole way of every move, and no part of
/// the boundary passes through another, except between copies of lattice tets, which overlap
/// already. Where the surface has holes, boundary faces stay out of the solid that winding numbers
/// close, as far as their middles and corners tell. Deterministic.
FitReport FitCage(const SolidSurface& surface, const InsideTest& inside,
                  const FitSettings& settings, SplitCage* cage);

}  // namespace plush::tools
