// SPDX-License-Identifier: MIT
// Size and place of the lattice that give a wanted number of tets.
//
// A model turned against the axes, for lattices that do not run along its faces.
#pragma once

#include "base/result.h"
#include "lattice/lattice.h"
#include "lattice/split_cage.h"
#include "lattice/tet_pieces.h"
#include "mesh/box3.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <optional>

namespace plush::tools {

/// The surface turned about the centre of its box, by the same turn for all models: no axis, plane
/// diagonal or space diagonal of the model lies along one of the lattice's. Points are rounded.
SolidSurface TurnedSurface(const SolidSurface& surface);

/// Turns a cage of TurnedSurface(surface) back, before it is fitted. Its nodes are rounded to
/// single precision, a tiny part of the clearance.
void TurnBack(const SolidSurface& surface, SplitCage* cage);

/// A lattice and its cage before fitting.
struct CellAttempt {
  double cell_m = 0.0;
  SplitCage cage;

  uint32_t num_tets() const { return static_cast<uint32_t>(cage.mesh.tets.size()); }
};

/// Tries lattices on one surface.
class CellSearch {
 public:
  /// Keeps references. `clearance` [m].
  CellSearch(const SolidSurface& surface, const InsideTest& inside, LatticeKind kind,
             double clearance, bool join_parts);

  /// The cage with cells of this size, the lattice centred. Errors as Lattice::Make.
  Result<CellAttempt> Try(double cell) { return Try(cell, CentredShift(kind_)); }

  /// A cage with at most `target` tets and more than 95% of that and nowhere pinched, if one is
  /// found, else the nearest below; where none has so few, the one with fewest. Of many places of
  /// the lattice the one is taken that promises the least volume and the fewest copies, judged by
  /// voxels (SolidVoxels); then the size of the cells is adjusted until the number is right. Where
  /// that fails, further places are tried, and at last a lattice that is turned against the model:
  /// boxes along the axes gain or lose whole layers of tets at once.
  Result<CellAttempt> Nearest(uint32_t target);

  uint32_t num_attempts() const { return num_attempts_; }  ///< cages built so far

 private:
  struct Place {
    double cell = 0.0;
    LatticeShift shift = {};
  };
  class Guess;

  Result<CellAttempt> Try(double cell, const LatticeShift& shift);
  Result<CellAttempt> NearestAlong(uint32_t target);
  Result<CellAttempt> Adjust(Place place, uint32_t target, int tries);
  static bool IsGood(const CellAttempt& attempt, uint32_t target);
  static double CostOf(const CellAttempt& attempt, uint32_t target);
  double LongestSide() const;
  size_t Work() const;       // of a trial cage, in triangles
  size_t NumPlaces() const;  // most that are tried

  const SolidSurface& surface_;
  const InsideTest& inside_;
  const LatticeKind kind_;
  const double clearance_;
  const bool join_parts_;
  SurfaceLinks links_;
  Box3 box_;
  uint32_t num_attempts_ = 0;
};

}  // namespace plush::tools
