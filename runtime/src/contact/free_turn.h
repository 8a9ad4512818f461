// SPDX-License-Identifier: MIT
// How impulses on contacts and attached points turn a body that is free, or on a hinge.
//
// A holds the frames of the tets, so it takes turns back, and with them the moment of impulses: the
// stiffer the body, the more. A free body answers impulses f by P f + (I - P M) A^-1 (f - M P f):
// P f is the rigid turn that has the moment of f. The body gets exactly this moment, less what
// TurnResistance takes, and the map is symmetric like A^-1.
#pragma once

#include "contact/point_couplings.h"
#include "solver/coarse_level.h"
#include "touching/contact_problem.h"

#include <span>

namespace plush {

/// Points move on by turn x r - kept x z.
struct Turning {
  Vec3 turn, kept;
};

/// The free turn of a body of one piece, with no pins but those of a hinge, in a solve.
struct FreeTurn {
  bool acts = false;
  Vec3 centre;                     ///< of mass, or on the hinge [m]
  Mat3 yielding;                   ///< inverse of the tensor of inertia [1/(kg m^2)], see
                                   ///< TurnResistance; on the line of a hinge only
  Mat3 kept;                       ///< what A keeps of it: sum of m (r z I - z r^T) [kg m^2]
  std::span<const NodeVec> nodes;  ///< positions [m]; w: inverse masses [1/kg] (num_nodes x 1)
  std::span<const NodeVec> z;      ///< A^-1 M r, r from the centre [m] (num_nodes x 1)
  // Of the impulses so far.
  Vec3 moment, kept_moment;  ///< their sum, and what A keeps of it [kg m^2]
  Turning turning;

  Turning Answer(const Vec3& to_moment, const Vec3& to_kept) const;
};

/// The turn of nodes at `at` (num_nodes x 1), which must stay valid, about their hinge or else
/// their centre of mass. It does not act if all mass lies near a line. Solves with A once. Fills
/// `z` (num_nodes + 1 x 1), which must stay valid, too. Does not allocate.
FreeTurn FindFreeTurn(const FactoredSystem& system, std::span<const NodeVec> at,
                      std::span<NodeVec> z, const Hinge& hinge = {});

/// Fills `z` (num_nodes + 1 x 1) of a turn anew, with one solve. All else of the turn stays.
void FindKept(const FactoredSystem& system, std::span<NodeVec> z, FreeTurn* turn);

/// How impulses that act already resist a turn of the body. If it turns by w, the moment of an
/// impulse p at arm r changes by (w x r) x p, in all by -G w, G = sum (r . p) I - sym(r p^T).
class TurnResistance {
 public:
  void Add(const Vec3& arm, const Vec3& impulse);
  /// Changes how the turn yields to (I + G)^-1, I the tensor of inertia. Leaves out what G helps
  /// the turn on. Without, a light body that carries many others would swing beyond its balance,
  /// ever farther if G > 4 I: a chain of ten planks of 4 cm exploded.
  void ApplyTo(FreeTurn* turn) const;

 private:
  double G_[3][3] = {};  // [kg m^2]
};

/// A point of a body that turns.
struct TurnedPoint {
  TurnedPoint() = default;
  TurnedPoint(const FreeTurn& turn, const EmbeddedPoint& point);

  Vec3 MovedBy(const Turning& by) const { return Cross(by.turn, arm) - Cross(by.kept, z); }
  /// How a unit impulse along an axis turns the body.
  Turning Answer(const FreeTurn& turn, const Vec3& axis) const {
    return turn.Answer(Cross(arm, axis), Cross(z, axis));
  }
  /// How far a unit impulse moves the point at most, if A^-1 moves it by `own` [1/kg].
  float Bound(float own, const FreeTurn& turn) const;
  void Push(const Vec3& impulse, FreeTurn* turn) const;

  Vec3 arm, z;  // [m]
};

}  // namespace plush
