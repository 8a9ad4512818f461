// SPDX-License-Identifier: MIT
// Everything between one body and the world's colliders except the solve, which is in
// contact/plane_contacts.h.
#pragma once

#include "body/body.h"
#include "body/contact_method.h"

namespace plush {

/// Depth below which a point counts as inside a collider [m].
float ContactTolerance(const Body& body);

/// Depth from which points are pushed out, see FindPushOut [m]; infinite unless contact is part of
/// the solve.
float ContactSlop(const StepSettings& settings, const Body& body);

/// What of the body touches.
TouchingSurface SurfaceOf(const Body& body);

/// A place on a triangle of the collision surface, by the weights of its second and third corners.
EmbeddedPoint TouchingPointAt(const Body& body, uint32_t triangle, float u, float v);

/// Motion of a point at which sweeps of a substep of `h` seconds end [m].
float SolveAccuracy(const StepSettings& settings, float h, const Body& body);

/// The contact problem of a substep of `h` seconds at `body.y`.
ContactProblem ProblemOf(const StepSettings& settings, float h, const Body& body);

/// Whether colliders take part in solves. If so, solves count as contact, whether or not the body
/// touches one.
inline bool MayHold(const StepSettings& settings, const Body& body) {
  return SolvesContact(settings) && (body.num_near > 0 || !body.contacts.between.empty());
}
inline Phase SolvePhase(const StepSettings& settings, const Body& body) {
  return MayHold(settings, body) ? Phase::kContact : Phase::kSolve;
}

/// A collider at the share `at` in [0, 1] of the step, in the body's coordinates, with the motion
/// of its shape in a `share` of the step, which ends there, or begins there if `at` is 0.
LocalCollider LocalColliderAt(const StepCollider& collider, float at, float share,
                              const Body& body);

/// Writes the slots of the colliders that the body may meet in the step to body->colliders: all
/// half-spaces and near solids that its filter lets through. Returns whether there is room for all.
bool FindNearColliders(const StepSettings& settings, Body* body);

/// Writes the rest of body->NearColliders(), in the body's coordinates, as they are at the share
/// `at` in [0, 1] of the step. Their motion is that of a substep of `h` seconds.
void PlaceLocalColliders(const StepSettings& settings, float at, float h, Body* body);

/// Whether a point is so deep in a near collider, as they were last placed, that contacts take it
/// out, and has moved on its way while the body was in its resting place: others are stuck. Looks
/// at the whole surface.
bool IsOnWayOut(const StepSettings& settings, const Body& body);

/// Depth of the body's deepest point in a collider at the start of its step, in the body's
/// coordinates [m]; see touching/deepest_point.h.
float DepthIn(const StepCollider& collider, const Body& body);

/// Whether the body touches a collider or may do so within the step. Finds the near ones, and
/// places them as at its end.
bool CanTouchColliders(const StepSettings& settings, Body* body);

/// The number of substeps of the last step, if it was as long as this one; else 0.
int LastSubsteps(const StepSettings& settings, const Body& body);

/// Whether contact is part of the solve, and multipliers follow from the substeps of the last step
/// to `count` of them: they are at most twice as long.
bool FollowsSubsteps(const StepSettings& settings, int count, const Body& body);

/// Number of substeps: ceil(2 v dt / e), where v is the largest approach speed of nodes that can
/// touch a collider within the step, and e the median edge; more if a collider turns by more than
/// 30 degrees in each, or if multipliers would not follow: at least half of LastSubsteps, or in a
/// step of another length, as many as kMostStepGrowth asks for; at most
/// ContactSettings::max_substeps. The colliders must be placed as at the start of the step, with
/// the motion of the whole step.
int CountSubsteps(const StepSettings& settings, const Body& body);

/// Whether a near collider turns by more than 30 degrees in a substep, in a step of `substeps`.
bool ColliderTurnsFar(const StepSettings& settings, const Body& body, int substeps);

/// Whether the body touches a collider, as they were last placed: it has contacts, or if it touches
/// with its nodes, a movable one is on or inside a collider.
bool TouchesCollider(const StepSettings& settings, const Body& body);

/// Whether a point of the iterate `body->y` is deeper in a collider than it may be, by more than
/// `slops` times ContactSlop.
bool IsBelowSurface(const StepSettings& settings, float slops, Body* body);

}  // namespace plush
