// SPDX-License-Identifier: MIT
// Finds the size and place of the lattice that give a wanted number of tets.
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

/// The surface, rotated about the centre of its bounding box by a rotation that is the same for all
/// models. Afterwards no axis, face diagonal or space diagonal of the model is parallel to one of
/// the lattice. The rotation rounds the points.
SolidSurface TurnedSurface(const SolidSurface& surface);

/// Rotates a cage of TurnedSurface(surface) back. The cage must not be fitted yet. Its nodes are
/// rounded to single precision. Far from the origin that may move them by more than the clearance;
/// so CellSearch splits a turned lattice with a clearance of at least that.
void TurnBack(const SolidSurface& surface, SplitCage* cage);

/// The cage of one lattice, before fitting.
struct CellAttempt {
  double cell_m = 0.0;  ///< edge of the lattice's cells [m]
  SplitCage cage;

  uint32_t num_tets() const { return static_cast<uint32_t>(cage.mesh.tets.size()); }
};

/// The tets of a lattice that a surface touches or comes near.
struct TouchedTets {
  uint32_t count = 0;
  double volume_m3 = 0.0;
};

/// Searches for a lattice. A lattice has a cell size and a place: the offset of the model within a
/// cell (LatticeShift). An attempt builds the cage of one lattice. The number of tets is right if
/// it is at most `target` and more than 95% of that. A cage is good if its number of tets is right
/// and its boundary is nowhere pinched.
///
/// Nearest(target) tries places in this order:
/// 1. If `target` is below 50: only the centred place (CentredShift).
/// 2. Otherwise it first scores places, without building cages, by voxels (SolidVoxels) that are
///    smaller than the tets: the less volume and the fewer copies a place promises, the better. It
///    scores the centred place and
///    - up to 2,000 tets: a grid of 2 x 4 x 4 places within the cell;
///    - up to 20,000 tets: a grid of 2 x 2 x 2 places;
///    - beyond: no other place, because one is as good as another.
/// 3. It then makes attempts at the six best places, the best score first. At each place it adjusts
///    the cell size to the number of tets. An open surface with many triangles gets fewer places.
/// 4. If no cage of step 3 is good, it repeats steps 2 and 3 with the model turned against the
///    lattice (TurnedSurface): a box along the axes gains or loses whole layers of tets at once, a
///    turned box does not. It skips this step if an open surface got fewer than six places.
///
/// When the search ends:
/// - The attempts at one place end when a cage has the right number of tets (even if it is
///   pinched), after 5 attempts, when there are too many tets even in cells so large that one tet
///   holds the model, or at the lattice's limits. The last place gets 5 to 16 attempts if there is
///   no cage yet: fewer if there are more triangles.
/// - Step 3 always tries the first places: one to six, fewer if there are more triangles. It tries
///   the others only until a cage is good.
/// - A good cage in step 3 ends the search; there is no step 4 then.
///
/// The result is the cage of the lowest cost. The cost is the volume of all tets of the cage and a
/// penalty for copies; it is multiplied by at least 1000 if the cage is not good.
class CellSearch {
 public:
  /// Keeps references to `surface` and `inside`. `clearance` [m]. `join_parts`: see PieceFinder.
  CellSearch(const SolidSurface& surface, const InsideTest& inside, LatticeKind kind,
             double clearance, bool join_parts);

  /// The cage with cells of this size [m] at the centred place. Errors as Lattice::Make and
  /// SplitLattice.
  Result<CellAttempt> Try(double cell) { return Try(cell, CentredShift(kind_)); }

  /// The best cage that the search above finds for `target` tets; not always a good one. Errors as
  /// Try, if no attempt succeeds.
  Result<CellAttempt> Nearest(uint32_t target);

  /// The tets that the surface touches in a lattice with cells of this size [m] at the centred
  /// place; builds no cage. Errors as Try.
  Result<TouchedTets> Touch(double cell) const;

  uint32_t num_attempts() const { return num_attempts_; }  ///< cages built so far
  /// Most tets that the surface touched in the lattice of an attempt.
  size_t most_touched() const { return most_touched_; }

 private:
  struct Place {
    double cell = 0.0;
    LatticeShift shift = {};
  };
  class Guess;

  Result<CellAttempt> Try(double cell, const LatticeShift& shift);
  Guess ResolvingGuess(Place* start, double wanted) const;
  Result<CellAttempt> NearestAlong(uint32_t target);
  Result<CellAttempt> Adjust(Place place, uint32_t target, int tries);
  static bool IsGood(const CellAttempt& attempt, uint32_t target);
  static double CostOf(const CellAttempt& attempt, uint32_t target);
  double LongestSide() const;
  size_t Work() const;       // of one attempt, in triangles
  size_t NumPlaces() const;  // most places at which attempts are made

  const SolidSurface& surface_;
  const InsideTest& inside_;
  const LatticeKind kind_;
  const double clearance_;
  const bool join_parts_;
  SurfaceLinks links_;
  Box3 box_;
  uint32_t num_attempts_ = 0;
  size_t most_touched_ = 0;
};

}  // namespace plush::tools
