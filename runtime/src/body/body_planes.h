// SPDX-License-Identifier: MIT
// Everything between one body and the world's planes except the solve, which is in
// contact/plane_contacts.h.
#pragma once

#include "body/body.h"

namespace plush {

/// Depth below which a point counts as below a plane [m].
float ContactTolerance(const Body& body);

/// Depth that contacts correct within a step, see AllowedDepth [m]; infinite unless contact is part
/// of the solve.
float ContactSlop(const StepSettings& settings, const Body& body);

/// What of the body touches.
TouchingSurface SurfaceOf(const Body& body);

/// The contact problem of a substep of `h` seconds at `body.y`.
ContactProblem ProblemOf(const StepSettings& settings, float h, const Body& body);

/// Whether planes take part in solves. If so, solves count as contact, whether or not the body
/// touches one.
inline bool MayHold(const StepSettings& settings, const Body& body) {
  return settings.solver.response == ContactResponse::kHold && body.planes.size() > 0;
}
inline Phase SolvePhase(const StepSettings& settings, const Body& body) {
  return MayHold(settings, body) ? Phase::kContact : Phase::kSolve;
}

/// Writes the world's planes to body->planes, in the body's coordinates, as they are at the share
/// `at` in [0, 1] of the step. Their motion is that of a substep of `h` seconds. Planes that the
/// body's filter excludes get no normal.
void PlacePlanes(const StepSettings& settings, float at, float h, Body* body);

/// Places the planes for substep `k` of `count` if nodes are moved onto them: as at its end, but no
/// higher than lifts the deepest node by a quarter of a median edge, and by 25 median edges per
/// second, beyond the plane's own motion.
void PlaceLoweredPlanes(const StepSettings& settings, int k, int count, Body* body);

/// Whether a point is so deep below a plane, as the planes were last placed, that contacts take it
/// out. Looks at the whole surface.
bool IsOnWayOut(const StepSettings& settings, const Body& body);

/// Depth of the body's deepest point below a plane at the start of its step, in the body's
/// coordinates [m]; see contact/deepest_point.h.
float DepthBelow(const StepPlane& plane, const Body& body);

/// Whether a node touches a plane or may do so within the step. Places the planes as at its end.
bool CanTouchPlanes(const StepSettings& settings, Body* body);

/// The number of substeps of the last step, if it was as long as this one and contact is part of
/// the solve; else 0.
int LastSubsteps(const StepSettings& settings, const Body& body);

/// Whether multipliers follow from the substeps of the last step to `count` of them: they are at
/// most twice as long.
bool FollowsSubsteps(const StepSettings& settings, int count, const Body& body);

/// Number of substeps: clamp(ceil(2 v dt / e), half of LastSubsteps, max), where v is the largest
/// approach speed of nodes that can touch a plane within the step, and e the median edge. The
/// planes must be placed as at the start of the step, with the motion of the whole step.
int CountSubsteps(const StepSettings& settings, const Body& body);

/// Pushes each node below a plane by a spring for `h` seconds: changes its velocity [Rio 8.1.1].
void PushOutOfPlanes(const StepSettings& settings, float h, Body* body);

/// Whether the body touches a plane, as the planes were last placed: it has contacts, or if it
/// touches with its nodes, a movable one is on or below a plane.
bool TouchesPlane(const StepSettings& settings, const Body& body);

/// Whether a point of the iterate `body->y` is deeper below a plane than it may be, by more than
/// the sweeps of a solve leave.
bool IsBelowPlane(const StepSettings& settings, Body* body);

/// Moves nodes of `body->y` below a plane onto it [Rio 8.1.2].
void SnapToPlanes(Body* body);

}  // namespace plush
