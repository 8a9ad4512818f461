// SPDX-License-Identifier: MIT
// One body and the world's planes, outside of the solve: where they are, how near they come, and
// what moves nodes off them. How a solve holds nodes is in contact/plane_contacts.h.
#pragma once

#include "world/body.h"

namespace plush {

/// Depth from which a node counts as below a plane [m].
float ContactTolerance(const Body& body);

/// Brings body->planes to the body's coordinates.
void PlacePlanes(const StepSettings& settings, Body* body);

/// Lowers body->planes for a substep of `h` seconds, so that they lift the deepest node by at most
/// a quarter of a median edge and 25 median edges per second. A body that is half inside a plane
/// and pushed out at once would be pressed flat and fly apart.
void LowerPlanes(float h, Body* body);

/// How far the deepest node that may move is below body->planes [m], >= 0.
float DeepestNode(const Body& body);

/// Whether a node touches a plane or may do so within the step. Places the planes.
bool CanTouchPlanes(const StepSettings& settings, Body* body);

/// Substeps of a step: n = clamp(ceil(2 v dt / e), 1, max), v the largest approach speed of the
/// nodes that touch a plane or can touch one within the step, e the median edge.
int CountSubsteps(const StepSettings& settings, const Body& body);

/// A spring on every node below a plane, as a change of velocity in a substep of `h` seconds [Rio
/// 8.1.1].
void PushOutOfPlanes(const StepSettings& settings, float h, Body* body);

/// Whether a node that may move is on or below a plane. Uses the planes as they were last placed.
bool TouchesPlane(const Body& body);

/// Whether a node of the iterate `body->y` is below a plane.
bool IsBelowPlane(const Body& body);

/// Moves nodes of `body->y` below a plane onto it [Rio 8.1.2].
void SnapToPlanes(Body* body);

/// Puts nodes of `body->y` below a plane onto it, and lets those on a plane leave it only, by
/// `body->held_normals`; one on several planes stays.
void PlaceOnPlanes(Body* body);

}  // namespace plush
