// SPDX-License-Identifier: MIT
// Contacts of points with planes, solved within the elastic step. A convex solid holds each point
// by a tangent plane.
//
// An outer iteration minimises its quadratic model while no point sinks into a plane and Coulomb's
// friction acts. The unknowns are the contacts' impulses. A is a scalar matrix, so impulses move
// points by S (x) I3 (point_couplings.h). Gauss-Seidel sweeps find the impulses. One scalar for the
// three axes of a contact, S_ii, makes each change safe: it never overshoots, and the fixed point
// is Signorini's condition with Coulomb's cone. Impulses start from those of the solve before, also
// of the step before.
#pragma once

#include "plush/jobs.h"
#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "contact/free_turn.h"
#include "contact/point_couplings.h"
#include "contact/touched_clusters.h"
#include "touching/contact_problem.h"
#include "touching/sunk_points.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace plush {

/// A point that presses on a collider.
struct PlaneContact {
  uint32_t slot = 0;            ///< of the point in the couplings
  uint32_t collider = 0;        ///< its slot
  uint32_t face = kNoTriangle;  ///< of a mesh
  Vec3 impulse;                 ///< on the point times dt, friction included [kg m]
  HoldingPlane plane;           ///< of the substep
  // Of the current solve.
  Vec3 offset;  ///< gap along the normal, plus slip so far in the substep [m]. After AddTouches the
                ///< arm from LocalCollider::end.position [m]
  float yielding = 0.0f;  ///< impulse per displacement that is safe along any axis [kg]; 0: none
  float friction = 0.0f;  ///< Coulomb coefficient
  float limit = 0.0f;     ///< most friction [kg m]. Of pushes, the least motion along the normal
                          ///< [m] or [m/s]
  float push = 0.0f;      ///< of FindPushOut [kg m] or FindRebound [kg m/s]
  float rebound = 0.0f;   ///< speed off the plane that NoteRebounds asks for, then what is missing
                          ///< [m/s]
  float carried = 0.0f;   ///< speed of the plane along its normal there [m/s]
};

// The memory of a contact, besides its row of couplings and scratch memory.
static_assert(sizeof(PlaneContact) + sizeof(EmbeddedPoint) == 128);

/// The impulse along the plane's normal, times dt [kg m].
inline float NormalImpulse(const PlaneContact& contact) {
  return Dot(contact.plane.normal, contact.impulse);
}

/// Distance of a point at `x` from the plane [m].
inline float Gap(const PlaneContact& contact, const Vec3& x) {
  return Dot(contact.plane.normal, x) - contact.plane.offset;
}

/// Whether the cones of friction follow the normal impulses in a sweep. In the second half of
/// `most` sweeps they do not: the problem is then convex. Jammed wedges would raise their impulses
/// for ever. If sweeps are many, cones follow once more in each sixteenth of them except the last
/// two: one change of the cones rarely reaches the solution. Ending with frozen cones is common and
/// not counted: the next solve goes on from there. StepStats::contacts_unsettled counts solves that
/// many sweeps do not settle although cones are frozen.
constexpr bool ConesFollow(int sweep, int most) {
  constexpr int kMany = 64, kRounds = 16;
  const bool is_new_round = most >= kMany && sweep % (most / kRounds) == 0;
  return 2 * sweep <= most || (is_new_round && sweep < most - 2 * (most / kRounds));
}

/// Changes the impulse of a contact whose point moves on by `d` with the impulses so far. Returns
/// the change. If it is zero for all contacts while their cones follow, Signorini's condition and
/// Coulomb's friction hold.
inline Vec3 ChangeImpulse(const Vec3& d, bool cone_follows, PlaneContact* contact) {
  const Vec3& normal = contact->plane.normal;
  const Vec3 wanted = contact->impulse - (contact->offset + d) * contact->yielding;
  const float along_normal = Dot(normal, wanted);
  const float pressing = along_normal > 0.0f ? along_normal : 0.0f;
  const Vec3 along = wanted - normal * along_normal;
  if (cone_follows) contact->limit = contact->friction * pressing;
  const float length2 = Dot(along, along), most = contact->limit;
  // No processor foresees which contacts slide, so there is no branch.
  const bool slides = length2 > most * most;
  const float kept = (slides ? most : 1.0f) / std::sqrt(slides ? length2 : 1.0f);
  const Vec3 before = contact->impulse;
  contact->impulse = normal * pressing + along * kept;
  return contact->impulse - before;
}

/// Most contacts of a point with one mesh: a corner's.
inline constexpr uint32_t kMostOnMesh = 3;

/// Most contacts of a body at once. A point may touch several colliders.
constexpr uint32_t MostContacts(uint32_t num_nodes, uint32_t num_planes,
                                uint32_t max_contacts = UINT32_MAX) {
  const uint32_t each = num_planes < kMostOnMesh ? num_planes : kMostOnMesh;
  return each * MostTouchingPoints(num_nodes, max_contacts);
}

/// What an impact still asks for. A soft body takes many substeps to turn round. If only the
/// substep in which its points come in threw them back, the rest of it would press them down again.
struct Rebound {
  uint32_t collider = 0;
  float speed = 0.0f;   ///< at which points shall leave the plane [m/s]
  float time = 0.0f;    ///< for which this holds [s]
  float energy = 0.0f;  ///< kinetic and elastic energy before the impact, relative to the plane [J]
};

struct AttachedPoints;
struct BodyContact;
struct CoarseContacts;

/// Groups of bodies in a sweep, a power of two (sweep_rounds.h).
inline constexpr uint32_t kSweepGroups = 8;

/// One side of a contact with another body (body_contacts.h).
struct BodyContactSide {
  BodyContact* contact = nullptr;
  uint32_t side = 0;
  // In the current solve, since BeginSolve:
  bool acts = false;   ///< the contact may change
  bool leads = false;  ///< it changes when the body on this side has its turn
};

/// The nodes' velocities, what shall move them at the start of the substep, and their positions in
/// the iterate.
struct MovedNodes {
  std::span<NodeVec> v, shifts, y;  ///< (num_nodes x 1 or more). `shifts`: sums of displacements,
                                    ///< whose number is w
};

/// Contacts of one body and the memory to solve them. Allocated at AddBody, kept between steps.
struct ContactState {
  // What sweeps over another body's contacts read of this one is in as few cache lines as can be.
  bool is_static = false;              ///< no solve moves it
  bool is_carried = false;             ///< it is static, but its pins move by v in this step
  bool in_solve = false;               ///< it takes part in the current solve
  bool is_settled = false;             ///< the next sweep would hardly change its impulses
  bool moves = false;                  ///< the last sweep moved a point by more than the accuracy
  float scale = 1.0f;                  ///< of the body
  FreeTurn* turn = nullptr;            ///< in the current solve, or null
  AttachedPoints* attached = nullptr;  ///< its springs in the current solve, or null
  Array<float> moved;  ///< scratch: displacements by axis and slot [m] (3 x stride of couplings)
  PointCouplings couplings;
  uint32_t max_contacts = UINT32_MAX;  ///< of WorldDesc; set before the first Reserve
  Array<PlaneContact> contacts;  ///< ascending (id of the point, collider, face) (capacity x 1)
  uint32_t num_contacts = 0;
  Rebound rebound;
  // Contacts with other bodies, of the current step, and what they need to know of this one.
  std::span<BodyContactSide> between;      ///< by round of sweeps
  uint32_t later[kSweepGroups] = {};       ///< how many of these are of later rounds than this
  uint32_t group = 0;                      ///< of bodies in sweeps
  uint32_t num_wanted = 0;                 ///< contacts with other bodies that have no slot yet
  MovedNodes moved_nodes;                  ///< what a contact method changes
  std::span<BodyContactSide> apart;        ///< those that a contact method acts on, not the solves,
                                           ///< within the step
  std::span<const NodeVec> v;              ///< at the start of the step [m/s] (num_nodes x 1)
  std::span<const NodeVec> x;              ///< at the start of the substep [m] (num_nodes x 1)
  std::span<const NodeVec> y;              ///< the current iterate [m] (num_nodes x 1 or more)
  double origin[3] = {};                   ///< of the body's coordinates [m]
  float thickness = 0.0f;                  ///< of its surface [m]; 0: unknown
  double wave_rate6 = 0.0;                 ///< of its CoarseLevel, if its solves use one, else 0
  CoarseContacts* coarse_solve = nullptr;  ///< its part in the current coarse one
  // Scratch memory.
  SunkPoints sunk;
  Array<CoarsePoint> coarse;  ///< of the contacts; empty for a body without clusters

  /// Sets `between`, all in the first round.
  void SetBetween(std::span<BodyContactSide> sides) {
    between = sides;
    std::fill_n(later, kSweepGroups, 0u);
  }
  /// Its contacts with other bodies that are swept in a round.
  std::span<const BodyContactSide> BetweenIn(uint32_t round) const {
    const size_t begin = round == 0 ? 0 : between.size() - later[round - 1];
    return between.subspan(begin, between.size() - later[round] - begin);
  }
  /// Whether it leads one of these.
  bool LeadsIn(uint32_t round) const {
    return std::ranges::any_of(BetweenIn(round), &BodyContactSide::leads);
  }
  /// Whether a body that it touches moved in the last sweep.
  bool IsMoved() const;

  /// How many more points may get slots.
  size_t NumFree() const { return couplings.points.size() - couplings.num_slots - num_wanted; }
  /// Whether it touches anything.
  bool any() const { return num_contacts > 0 || !between.empty(); }
  std::span<PlaneContact> Current() { return contacts.span().first(num_contacts); }
  std::span<const PlaneContact> Current() const { return contacts.span().first(num_contacts); }
  const EmbeddedPoint& PointOf(const PlaneContact& contact) const {
    return couplings.points[contact.slot];
  }

  /// Drops the contacts for which `goes` returns true. Returns whether there are any. Couplings
  /// stay.
  template <class Goes>
  bool Drop(Goes goes) {
    const std::span<PlaneContact> all = Current();
    const auto end = std::remove_if(all.begin(), all.end(), goes);
    num_contacts = static_cast<uint32_t>(end - all.begin());
    return end != all.end();
  }

  /// Forgets the couplings of points without contacts.
  void KeepTouching();

  /// Forgets all contacts with colliders. Couplings stay.
  void Forget() {
    num_contacts = 0;
    rebound = {};
  }

  /// Makes room for contacts of a body (the same in every call) with `num_planes` planes, and keeps
  /// existing ones. Returns false, with nothing changed, if the allocator fails.
  bool Reserve(const Allocator& allocator, size_t num_tets, uint32_t num_nodes, bool has_clusters,
               uint32_t num_planes);
};

/// Outcome of a contact solve.
struct ContactSolveStats {
  int sweeps = 0;            ///< most between two solves with A
  uint32_t num_dropped = 0;  ///< points that touched without room, most at once
  uint32_t unsettled = 0;    ///< solves that 64 sweeps and more did not settle; of the first body
};

/// Outcome of AddContacts.
struct AddedContacts {
  bool any = false;
  uint32_t num_dropped = 0;  ///< those without room
};

/// What a sweep changed on a body.
struct SweepChange {
  float longest = 0.0f;         ///< displacement of a point by the change of its own impulse [m]
  float deepest = 0.0f;         ///< the same along a normal, or of a spring [m]
  float load = 0.0f;            ///< sum of normal impulses after it [kg m]
  float change_of_load = 0.0f;  ///< [kg m]
};

/// A body's part in a solve, and the next body of the solve.
struct ContactSolve {
  FactoredSystem system;
  ContactProblem problem;
  ContactState* state = nullptr;
  std::span<NodeVec> d;  ///< see SolveWithContacts (num_nodes + 1 x 1)
  ContactSolveStats stats;
  AddedContacts added;    ///< by the last search
  bool may_turn = false;  ///< once the body touches, `turn` becomes its free turn
  Hinge hinge = {};       ///< about which it turns, or kNone
  FreeTurn turn;          ///< acts if impulses turn the body
  SweepChange change;     ///< in the current sweep
  ContactSolve* next = nullptr;
  ContactSolve* next_of_round[kSweepGroups] = {};  ///< see SweepRounds
};

/// Computes the outer iteration's displacement `d` of each body: A d = b + impulses of the
/// contacts, which keep points from sinking, and of springs. Changes of impulses turn the body,
/// too, if its FreeTurn acts, by a rotation. Updates the contacts. Springs between several bodies
/// then move no other iterate. Does not allocate. `jobs`: shares bodies without springs between
/// threads, or null.
void SolveWithContacts(ContactSolve* first, const JobSystem* jobs = nullptr);

/// The same for one body. Contacts with other bodies keep their impulses.
ContactSolveStats SolveWithContacts(const FactoredSystem& system, const ContactProblem& problem,
                                    ContactState* state, std::span<NodeVec> d);

/// Adds the impulses of a body's contacts and springs to its right-hand side `to`
/// (num_nodes + 1 x 1).
void AddImpulses(const ContactSolve& of, std::span<NodeVec> to);

/// Adds contacts for points that the displacement `d` (num_nodes + 1 x 1, or empty) puts below
/// planes: those that SunkPoints::Find returns. Once half of the room is taken, leaves out vertices
/// whose main node has two contacts with the plane at no smaller weight. If there is too little
/// room, adds the deepest ones.
AddedContacts AddContacts(const ContactProblem& problem, std::span<const NodeVec> d,
                          ContactState* state);

/// Finds the planes of contacts kept from the substep before, from the prediction problem.y. Drops
/// those whose colliders are no longer near. To be called when a substep begins. A contact inside a
/// triangle moves to where the triangle is now deepest.
void BeginSubstep(const ContactProblem& problem, ContactState* state);

/// Drops contacts that do not press.
void DropOpenContacts(ContactState* state);

/// Sets the contacts' `offset` and `friction`, for sweeps from problem.y.
void FindOffsets(const ContactProblem& problem, ContactState* state);

/// Writes where the contacts' points are now to their `offset`, or `place`, for PutBack.
void NotePlaces(std::span<const NodeVec> y, ContactState* state);

/// Puts pressing points back to the places of NotePlaces after other corrections moved the nodes
/// `y` (num_nodes x 1), one after the other, by their nodes' masses: without friction along the
/// normal only. With friction sliding points come back, too: friction resists motion only inside
/// the solve, and boxes would creep forever on slopes near the friction angle.
void PutBack(const ContactState& state, std::span<NodeVec> y);

/// Lifts the points of problem.y that are deeper below a plane than they may be, by their nodes'
/// masses: those of contacts, and, if it `searches`, those that make new ones. `y` is problem.y.
void LiftSunk(const ContactProblem& problem, bool searches, ContactState* state,
              std::span<NodeVec> y);

}  // namespace plush
