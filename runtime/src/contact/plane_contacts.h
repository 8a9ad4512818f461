// SPDX-License-Identifier: MIT
// Contacts of nodes with planes, solved within the elastic step.
//
// An outer iteration minimises its quadratic model while no node sinks into a plane. An active set
// finds the nodes whose normal displacements must be held. Friction holds a node's tangential
// displacement too, as long as the impulse is inside Coulomb's cone. If the node slides, friction
// is a known impulse on the cone.
#pragma once

#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "base/vector_math.h"
#include "contact/held_solve.h"

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

  /// Displacement in the substep of its material at `x` [m].
  Vec3 MotionAt(const Vec3& x) const { return shift + Cross(turn, x); }
};

/// Distance of a point from the plane [m], negative inside the solid.
inline float Gap(const LocalPlane& plane, const Vec3& x) {
  return Dot(plane.normal, x) - plane.offset;
}

/// Whether there is a plane: an unused one has no normal.
inline bool IsUsed(const LocalPlane& plane) { return Dot(plane.normal, plane.normal) != 0.0f; }

/// A node held by a plane.
struct PlaneContact {
  uint32_t node = 0;
  uint32_t plane = 0;
  bool sliding = false;   ///< whether friction is at the cone's limit
  bool alone = true;      ///< whether the node touches no other plane
  float normal = 0.0f;    ///< normal impulse times dt, >= 0 [kg m]
  Vec3 friction;          ///< tangential impulse times dt of the last solve [kg m]
  Vec3 slide;             ///< friction impulse times dt while sliding [kg m]
  float resisted = 0.0f;  ///< length of the last slip, if the solve resists slips [m]; 0: friction
                          ///< is the known `slide`
  float response = 0.0f;  ///< of SolveCoarseContacts: displacement per impulse [1/kg]
  float slipped = 0.0f;  ///< tangential displacement relative to the plane after the last solve [m]
};

/// Contacts of one body and the memory to solve them. Allocated at AddBody, kept between steps.
struct ContactState {
  Array<PlaneContact> contacts;  ///< ascending (node, plane) (capacity x 1)
  uint32_t num_contacts = 0;
  Array<HeldRow> rows;  ///< (3 capacity x 1)
  Array<NodeVec> rhs;   ///< (num_nodes + 1 x 1)
  HeldSolveWorkspace held;

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
  int cg_iterations = 20;  ///< of solves with more than kMaxSchurRows rows
};

/// Outcome of a contact solve.
struct ContactSolveStats {
  float held_residual = 0.0f;  ///< of iterative solves; 0 otherwise
  bool iterative = false;
};

/// Computes the outer iteration's displacement `d` (num_nodes + 1 x 1): A d = b, with no node below
/// a plane. Updates the contacts. Does not allocate.
ContactSolveStats SolveWithContacts(const FactoredSystem& system, const ContactProblem& problem,
                                    ContactState* state, std::span<NodeVec> d);

/// Adds a contact for every free node that the displacement `d` (num_nodes + 1 x 1) puts below a
/// plane. Returns whether there was one.
bool AddContacts(const ContactProblem& problem, std::span<const uint8_t> pinned,
                 std::span<const NodeVec> d, ContactState* state);

/// The node's displacement along its plane in the substep, relative to the plane, if it moves on
/// from problem.y by `d`.
Vec3 SlipOf(const ContactProblem& problem, const PlaneContact& contact, const Vec3& d);

/// Holds touching nodes in a volume sweep (num_nodes + 1 x 1 each):
/// - y.w = 0 for nodes on a plane with friction and for nodes on several planes;
/// - the plane's normal in `held_normals` for the others.
/// Sliding nodes do not move in sweeps either: friction resists motion only inside the solve, and
/// boxes would creep forever on slopes near the friction angle.
void HoldNodes(const ContactState& state, std::span<const LocalPlane> planes, std::span<NodeVec> y,
               std::span<NodeVec> held_normals);

}  // namespace plush
