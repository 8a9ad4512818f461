// SPDX-License-Identifier: MIT
// Everything between one body and the world's planes except the solve, which is in
// contact/plane_contacts.h.
#pragma once

#include "world/body.h"

namespace plush {

/// Depth below which a node counts as below a plane [m].
float ContactTolerance(const Body& body);

/// Writes the world's planes to body->planes, in the body's coordinates.
void PlacePlanes(const StepSettings& settings, Body* body);

/// Lowers body->planes for a substep of `h` seconds. They then lift the deepest node by at most a
/// quarter of a median edge, and at most 25 median edges per second. Pushed out at once, a
/// half-buried body would be pressed flat and fly apart.
void LowerPlanes(float h, Body* body);

/// Depth of the deepest movable node below body->planes [m], >= 0.
float DeepestNode(const Body& body);

/// Whether a node touches a plane or may do so within the step. Calls PlacePlanes.
bool CanTouchPlanes(const StepSettings& settings, Body* body);

/// Number of substeps: clamp(ceil(2 v dt / e), 1, max), where v is the largest approach speed of
/// nodes that can touch a plane within the step, and e the median edge.
int CountSubsteps(const StepSettings& settings, const Body& body);

/// Pushes each node below a plane by a spring for `h` seconds: changes its velocity [Rio 8.1.1].
void PushOutOfPlanes(const StepSettings& settings, float h, Body* body);

/// Whether a movable node is on or below a plane, as the planes were last placed.
bool TouchesPlane(const Body& body);

/// Whether a node of the iterate `body->y` is below a plane.
bool IsBelowPlane(const Body& body);

/// Moves nodes of `body->y` below a plane onto it [Rio 8.1.2].
void SnapToPlanes(Body* body);

/// Projects nodes of `body->y` below a plane onto it. Writes the normals of nodes on a plane to
/// `body->held_normals`. Gives nodes on several planes y.w = 0.
void PlaceOnPlanes(Body* body);

}  // namespace plush
