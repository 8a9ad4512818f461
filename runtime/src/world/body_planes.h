// SPDX-License-Identifier: MIT
// One body and the world's planes outside the solve: where the planes are, how near nodes come, and
// what moves nodes off them. contact/plane_contacts.h holds nodes inside the solve.
#pragma once

#include "world/body.h"

namespace plush {

/// Depth below which a node counts as below a plane [m].
float ContactTolerance(const Body& body);

/// Writes the world's planes to body->planes, in the body's coordinates.
void PlacePlanes(const StepSettings& settings, Body* body);

/// Lowers body->planes for a substep of `h` seconds, so that they lift the deepest node by at most
/// a quarter of a median edge and at most 25 median edges per second. Pushing a half-buried body
/// out at once would press it flat and make it fly apart.
void LowerPlanes(float h, Body* body);

/// Depth of the deepest movable node below body->planes [m], >= 0.
float DeepestNode(const Body& body);

/// Whether a node touches a plane or may do so within the step. Calls PlacePlanes.
bool CanTouchPlanes(const StepSettings& settings, Body* body);

/// Number of substeps n = clamp(ceil(2 v dt / e), 1, max). v is the largest approach speed of nodes
/// that touch a plane or can touch one within the step; e is the median edge.
int CountSubsteps(const StepSettings& settings, const Body& body);

/// Changes the velocity of each node below a plane by that of a spring over a substep of `h`
/// seconds [Rio 8.1.1].
void PushOutOfPlanes(const StepSettings& settings, float h, Body* body);

/// Whether a movable node is on or below a plane, as the planes were last placed.
bool TouchesPlane(const Body& body);

/// Whether a node of the iterate `body->y` is below a plane.
bool IsBelowPlane(const Body& body);

/// Moves nodes of `body->y` below a plane onto it [Rio 8.1.2].
void SnapToPlanes(Body* body);

/// Projects nodes of `body->y` below a plane onto it. Writes the normals of nodes on a plane to
/// `body->held_normals`; such a node may only move along its normal away from the plane. Pins a
/// node on several planes.
void PlaceOnPlanes(Body* body);

}  // namespace plush
