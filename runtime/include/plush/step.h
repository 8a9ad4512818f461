// SPDX-License-Identifier: MIT
// Settings of a step, and what it reports.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plush {

/// Shortest time step [s]. What forces move in a shorter one is lost in the rounding of float
/// positions: accelerations below 3e-8 times the body's size over dt^2, at 1e-4 s and 1 m 3 m/s^2.
inline constexpr float kLeastTimeStep = 1.0e-4f;

/// A textbook way to keep bodies out of colliders, for comparison with contact that is part of the
/// solve. The cage's nodes touch colliders; bodies touch each other at the same contacts as ever.
/// Without restitution. A program that does not name a method does not link its code.
struct ContactMethod;

/// Nodes, and points of bodies, move to the surface after the solve [Rio 8.1.2, 8.2.2], without
/// friction. Adds elastic energy.
extern const ContactMethod kSnapContact;
/// Springs push them while they are below the surface [Rio 8.1.1], without friction. Adds energy
/// and bounces.
extern const ContactMethod kPenaltyContact;
/// After each outer iteration, points stop one after the other, by their nodes' masses and with
/// Coulomb's friction [Civ, Eq. 3.51 to 3.53]; deep ones come out as ever [Civ, Eq. 3.56, 3.57].
extern const ContactMethod kPseudoImpulseContact;

/// How bodies touch: settings of a world.
struct ContactSettings {
  int iterations = 3;  ///< most outer iterations while a body touches and moves on, 2..64; one
                       ///< more if a point sinks after them. Up to 8 while a body among others
                       ///< or on springs would gain energy. Without clusters: the least, and up
                       ///< to 8
  int sweeps = 8;      ///< most sweeps over a body's contacts between two solves, 1..256; up to 256
                       ///< if points would stay sunk. The coarse level makes up to 32
  int max_substeps = 4;        ///< most substeps of a step in which a body can touch, or that is
                               ///< more than 1.5 times as long as the one before, 1..4
  float push_out_time = 0.2f;  ///< how fast deep points come out [s], > 0: a substep of h seconds
                               ///< takes away h / (h + push_out_time) of their depth. In a shorter
                               ///< time, undamped bodies spring back
  const ContactMethod* method = nullptr;  ///< null: contact is part of the solve
  float penalty_stiffness = 1.0e4f;  ///< of kPenaltyContact: force per depth and node, or contact
                                     ///< of two bodies [N/m], > 0
};

/// When held bodies fall asleep: settings of a world.
struct SleepSettings {
  float speed = 2.0e-3f;  ///< a body falls asleep if all its nodes stay within speed * time for
                          ///< `time` [diagonals of its rest bounding box per s], >= 0; 0: bodies
                          ///< never sleep
  float time = 0.5f;      ///< [s], > 0
};

/// What a step did that the game may want to know, and what to do about it.
enum StepFlags : uint32_t {
  kStepOk = 0,
  kStepPreparedTimeStep = 1u << 0,  ///< dt had no factor, so the step made one and allocated; to
                                    ///< avoid this, call PrepareTimeStep(dt) beforehand
  kStepBodyFrozen = 1u << 1,        ///< a body's state became non-finite; it keeps its last finite
                                    ///< positions and no longer moves
  kStepContactsDropped = 1u << 2,  ///< more points or colliders touch a body than there is room for
                                   ///< (WorldDesc::max_contacts, runtime/README.md): the shallowest
                                   ///< ones may sink in
  kStepPinsFar = 1u << 3,          ///< pins moved further than two median edges of their cage in a
                                   ///< substep: tets may invert; use more steps
  kStepEventsLost = 1u << 4,  ///< more than WorldDesc::max_events or max_contact_events happened,
                              ///< or a body overlaps too many sensors (runtime/README.md); the
                              ///< others are lost
  kStepColliderTurnsFar = 1u << 5,  ///< a collider near a body turned by more than 30 degrees in a
                                    ///< substep: points may end on its wrong side; use more steps
  kStepBodiesFast = 1u << 6,    ///< two bodies approached each other in a substep by more than half
                                ///< the thickness of the thinner one (CollisionView::thickness), or
                                ///< met within it and do not press on each other: they may end on
                                ///< wrong sides; use more steps
  kStepSurfacesOpen = 1u << 7,  ///< where two bodies overlap, a surface ends at an open border:
                                ///< what is inside is not known there, and contacts may be missing;
                                ///< close the mesh
};

/// Parts of a step that are timed.
enum class Phase : uint8_t {
  kElements,   ///< rotations and the right-hand side
  kSolve,      ///< solves of crowds, and of bodies with no collider near
  kVolume,     ///< volume sweeps and the lifting of flat tets
  kContact,    ///< solves of single bodies near colliders, without a ContactMethod
  kFindPairs,  ///< which bodies touch each other, and where
  kOther,      ///< prediction, new velocities, copying into lanes and back
  kCount
};

/// What the last step did: sums or extremes over the bodies. Costs nothing extra. World::Measure
/// has energies, tets and depths.
struct StepStats {
  uint32_t flags = kStepOk;       ///< StepFlags
  float max_speed = 0.0f;         ///< fastest node at the end [m/s]; of quasistatic bodies, which
                                  ///< have no velocities, in the last substep
  uint32_t contact_sweeps = 0;    ///< largest number of sweeps over a body's contacts
  uint32_t contacts = 0;          ///< pairs of a point and a collider that press, at the end, and
                                  ///< contacts between bodies
  uint32_t body_pairs = 0;        ///< bodies that press on each other
  uint32_t pairs_searched = 0;    ///< pairs of near bodies whose contacts were searched anew; those
                                  ///< of the others held
  uint32_t substeps = 0;          ///< largest number of substeps of a body
  uint32_t outer_iterations = 0;  ///< largest number of outer iterations in a substep
  uint32_t asleep = 0;            ///< bodies that slept
  uint32_t contacts_dropped = 0;  ///< without room (kStepContactsDropped): points, the most of each
                                  ///< body at once, and contacts that searches of two bodies found
  uint32_t contacts_unsettled = 0;  ///< solves, one per island and outer iteration, after whose 64
                                    ///< to 256 sweeps points still moved by more than the depth
                                    ///< that counts, although bounds of friction no longer changed:
                                    ///< hard impacts, jams, colliders that leave too little room
  uint32_t flat_tets = 0;   ///< tets that ended the step with det F < 0.05 although they were
                            ///< lifted: pins or colliders leave them no room, or they were flatter
                            ///< before. Those of implicit bodies are not lifted
  uint32_t overshoots = 0;  ///< coarse corrections that were taken back, at least in part: the
                            ///< body is strained so much that its clusters resist turns.
                            ///< Implicit: Newton steps that the line search shortened
  uint32_t linear_iterations = 0;  ///< implicit: of conjugate gradients, the most of a body
  uint32_t newton_fallbacks = 0;   ///< implicit: Newton steps that did not descend, or whose matrix
                                   ///< was not positive: the hybrid differential took over
  float phase_s[static_cast<size_t>(Phase::kCount)] = {};  ///< wall time by phase [s], summed over
                                                           ///< the bodies
};

}  // namespace plush
