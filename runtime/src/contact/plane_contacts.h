// SPDX-License-Identifier: MIT
// Contacts of nodes with planes, solved within the elastic step.
//
// An outer iteration minimises its quadratic model while no node sinks into a plane and Coulomb's
// friction acts. The unknowns are the contacts' impulses. A is a scalar matrix, so impulses move
// nodes by S (x) I3, S the block of A^-1 between touching nodes (node_couplings.h). Gauss-Seidel
// sweeps find the impulses. One scalar for the three axes of a contact, S_ii, makes each change
// safe: it never overshoots, and the fixed point is Signorini's condition with Coulomb's cone.
// Impulses start from those of the solve before, also of the step before.
#pragma once

#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "base/vector_math.h"
#include "contact/node_couplings.h"

#include <cstdint>
#include <span>

namespace plush {

/// A half-space in a body's own coordinates.
struct LocalPlane {
  Vec3 normal;            ///< unit, out of the solid
  float offset = 0.0f;    ///< dot(normal, x) on the surface [m]
  float friction = 0.0f;  ///< Coulomb coefficient
  Vec3 shift;             ///< displacement in the substep of its material at the origin [m]
  Vec3 turn;              ///< turn of its material in the substep [rad]
  // At the start of the substep.
  Vec3 start_normal;
  float start_offset = 0.0f;  ///< [m]

  /// Displacement in the substep of its material at `x` [m].
  Vec3 MotionAt(const Vec3& x) const { return shift + Cross(turn, x); }
};

/// Distance of a point from the plane [m], negative inside the solid.
inline float Gap(const LocalPlane& plane, const Vec3& x) {
  return Dot(plane.normal, x) - plane.offset;
}

/// How far below the plane a node may stay in a substep that it starts at `x`: its depth there,
/// less `slop` [m]. Contacts correct only small depths. Larger ones would become speed; see
/// FindPushOut.
inline float AllowedDepth(const LocalPlane& plane, const Vec3& x, float slop) {
  const float at_start = Dot(plane.start_normal, x) - plane.start_offset;
  return at_start < -slop ? -at_start - slop : 0.0f;
}

/// Whether there is a plane: an unused one has no normal.
inline bool IsUsed(const LocalPlane& plane) { return Dot(plane.normal, plane.normal) != 0.0f; }

/// A node that presses on a plane.
struct PlaneContact {
  uint32_t node = 0;
  uint32_t plane = 0;
  Vec3 impulse;  ///< on the node times dt, friction included [kg m]
  // Of the current solve.
  Vec3 offset;            ///< gap along the normal, plus slip so far in the substep [m]
  float yielding = 0.0f;  ///< impulse per displacement that is safe along any axis [kg]; 0: none
  float cone = 0.0f;      ///< most friction [kg m]
  float push = 0.0f;      ///< of FindPushOut [kg m]
};

/// The impulse along the plane's normal, times dt [kg m].
inline float NormalImpulse(const LocalPlane& plane, const PlaneContact& contact) {
  return Dot(plane.normal, contact.impulse);
}

/// Whether the cones of friction still follow the normal impulses in a sweep. In the second half of
/// `most` sweeps they do not: the problem is then convex. Jammed wedges would raise their impulses
/// for ever.
constexpr bool ConesFollow(int sweep, int most) { return 2 * sweep <= most; }

/// Changes the impulse of a contact whose node moves on by `d` with the impulses so far. Returns
/// the change. If it is zero for all contacts while their cones follow, Signorini's condition and
/// Coulomb's friction hold.
Vec3 ChangeImpulse(const LocalPlane& plane, const Vec3& d, bool cone_follows,
                   PlaneContact* contact);

/// Contacts of one body and the memory to solve them. Allocated at AddBody, kept between steps.
struct ContactState {
  Array<PlaneContact> contacts;  ///< ascending (node, plane) (capacity x 1)
  uint32_t num_contacts = 0;
  NodeCouplings couplings;
  // Scratch memory.
  Array<uint32_t> nodes;  ///< of the contacts (capacity x 1)
  Array<float> moved;     ///< displacements by axis and slot [m] (3 x stride of couplings)

  std::span<PlaneContact> Current() { return contacts.span().first(num_contacts); }
  std::span<const PlaneContact> Current() const { return contacts.span().first(num_contacts); }

  /// Makes room for contacts of `num_nodes` nodes (the same in every call) with `num_planes`
  /// planes, and keeps existing ones. Returns false, with nothing changed, if the allocator fails.
  bool Reserve(const Allocator& allocator, uint32_t num_nodes, uint32_t num_planes);
};

/// Inputs of a contact solve besides its state.
struct ContactProblem {
  std::span<const LocalPlane> planes;
  NodeVectors x;               ///< node positions at the start of the substep [m] (num_nodes x 1)
  std::span<const NodeVec> y;  ///< positions of the current iterate [m] (num_nodes + 1 x 1)
  std::span<const NodeVec>
      b;                   ///< right-hand side of the outer iteration [kg m] (num_nodes + 1 x 1)
  float tolerance = 0.0f;  ///< depth below which a node counts as below a plane [m]
  float slop = 0.0f;       ///< see AllowedDepth [m]
  float accuracy = 0.0f;   ///< sweeps end once they move contacts by less [m]
  int sweeps = 8;          ///< most of them between two solves with A
};

/// Outcome of a contact solve.
struct ContactSolveStats {
  int sweeps = 0;             ///< most between two solves with A
  bool is_over_full = false;  ///< more nodes touch than MostTouchingNodes
};

/// Computes the outer iteration's displacement `d` (num_nodes + 1 x 1): A d = b + impulses of the
/// contacts, which keep nodes from sinking. Updates the contacts. Does not allocate.
ContactSolveStats SolveWithContacts(const FactoredSystem& system, const ContactProblem& problem,
                                    ContactState* state, std::span<NodeVec> d);

/// Adds a contact for every free node that the displacement `d` (num_nodes + 1 x 1) puts below a
/// plane. Returns whether there was one.
bool AddContacts(const ContactProblem& problem, std::span<const uint8_t> pinned,
                 std::span<const NodeVec> d, ContactState* state);

/// Finds a displacement `d` (num_nodes + 1 x 1) that takes nodes deeper than problem.slop at
/// problem.y out by a `share` of their depth: A d = impulses along the contacts'
/// normals, without friction. Add it to positions only. Returns whether there are such nodes. Does
/// not allocate.
bool FindPushOut(const FactoredSystem& system, const ContactProblem& problem, float share,
                 ContactState* state, std::span<NodeVec> d);

/// Sets the contacts' `offset`, for sweeps from problem.y.
void FindOffsets(const ContactProblem& problem, ContactState* state);

/// Holds touching nodes in a volume sweep (num_nodes + 1 x 1 each):
/// - y.w = 0 for nodes on a plane with friction and for nodes on several planes;
/// - the plane's normal in `held_normals` for the others.
/// Sliding nodes do not move in sweeps either: friction resists motion only inside the solve, and
/// boxes would creep forever on slopes near the friction angle.
void HoldNodes(const ContactState& state, std::span<const LocalPlane> planes, std::span<NodeVec> y,
               std::span<NodeVec> held_normals);

}  // namespace plush
