// SPDX-License-Identifier: MIT
// The bounding lattice cage [Civ, Sec. 5.3.1]: finds a lattice, splits it, fits it and proves it.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "fit/cage_fit.h"
#include "lattice/lattice.h"
#include "mesh/tet_mesh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"
#include "solid/solid_volume.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// What cage to build.
struct CageSettings {
  LatticeKind lattice = LatticeKind::kBcc;
  uint32_t target_tets = 450;  ///< met from below within 5%; used if cell_m is 0
  double cell_m = 0.0;         ///< edge of the lattice's cells [m]; 0: from target_tets
  FitMethod fit = FitMethod::kSnug;
  double clearance = 1e-3;         ///< least distance from the surface, over the box's diagonal
  double min_dihedral_deg = 20.0;  ///< least dihedral angle that the fit makes, [0, 50]
  bool join_parts = false;         ///< whether parts of the surface in one tet move together
};

/// One lattice that was tried and fitted.
struct CageAttempt {
  const char* reason = nullptr;  ///< why it was tried
  uint32_t wanted_tets = 0;      ///< number of tets searched for; 0 if cell_m was given
  double cell_m = 0.0;           ///< edge of its cells [m]
  uint32_t lattice_tets = 0;     ///< before the fit
  uint32_t tets = 0;             ///< after it
  uint32_t fits = 0;             ///< number of fits made
  bool is_fitted = false;        ///< a fit passed the proof; else the lattice was left as it is
  bool is_untorn = false;        ///< no triangle is torn
};

/// A cage and how it was built.
struct LatticeCage {
  TetMesh mesh;                        ///< nodes are representable in single precision
  std::vector<uint32_t> tet_of_point;  ///< per point of the surface; kNoTet for unused points
  double cell_m = 0.0;                 ///< edge of the lattice's cells [m]
  SolidMeasure solid;                  ///< what the surface encloses
  bool is_shell = false;               ///< the surface encloses next to nothing (ReportSolid)
  uint32_t num_split_tets = 0;         ///< tets beyond the first copy of a lattice tet
  uint32_t num_split_nodes = 0;        ///< nodes beyond the first copy of a lattice node
  uint32_t num_shared = 0;             ///< tets that hold several separate pieces of the solid
  uint32_t num_branches = 0;           ///< faces at which several strands begin
  uint32_t num_pinched = 0;            ///< edges and nodes at which the boundary is not a manifold
  uint32_t num_lattices = 0;           ///< lattices that the searches tried
  uint32_t num_fits = 0;               ///< fits of the chosen lattice
  std::vector<CageAttempt> attempts;   ///< in order
};

/// Builds the cage and proves that it strictly encloses the surface (ProveCage).
/// - If a fit fails the proof, repeats it with more frozen nodes.
/// - If all fits fail, leaves the lattice as it is and adds CAGE_NOT_FITTED. Its message says
///   whether the boundary of that cage passes through itself.
/// - Adds CAGE_TETS_NOT_REACHED, CAGE_TOO_FEW_TETS, CAGE_PINCHED and the findings of ReportSolid.
///
/// Errors: MESH_EMPTY (no triangle has positive area); CAGE_NOT_ENCLOSED (a triangle is not
/// strictly inside the cage); CAGE_FAR_FROM_ORIGIN and CAGE_TOO_FINE (Lattice::Make).
Result<LatticeCage> BuildLatticeCage(const SolidSurface& surface, const InsideTest& inside,
                                     const CageSettings& settings, FindingList* findings);

}  // namespace plush::tools
