// SPDX-License-Identifier: MIT
// Springs on one body in a step: where their targets are, and their forces at the end.
#pragma once

#include "body/body.h"

namespace plush {

/// Makes room for `count` attached points. Returns false, with nothing changed that can be seen, if
/// the allocator fails.
bool ReserveAttached(const Allocator& allocator, uint32_t count, Body* body);

/// The same for springs among them, which are solved together.
bool ReserveSprings(const Allocator& allocator, Body* body);

/// The same for `count` constraints among them.
bool ReserveConstraints(const Allocator& allocator, uint32_t count, Body* body);

/// Lets body->attached know the body at the start of a substep, and how it answers impulses.
void PrepareAttached(const FactoredSystem& system, Body* body);

/// Begins substep `k` of `count` for the springs whose first point is the body's, after
/// PrepareAttached of all their bodies.
void BeginAttachments(const StepSettings& settings, int k, int count, Body* body);

/// Ends a substep of `count` in the step, of `h` seconds: notes the springs' forces. Those on a
/// body that has frozen stop to act.
void EndAttachments(float h, int count, Body* body);

/// Moves the iterate so that the constraints hold [Civ, Eq. 3.54, 3.55], see AttachedPoints::Hold.
void HoldConstraints(Body* body);

/// The same by the nodes of held points alone.
void HoldNodes(Body* body);
/// The same in a substep of `h` seconds, noted for reactions. Changes body->d.
void HoldConstraints(float h, Body* body);

/// The body's factor for substeps of dt / `count`.
FactoredSystem FactoredSystemOf(float dt, int count, Body* body);

// The steps of an outer iteration for a body in its crowd's lane.

/// Adds the springs' impulses to the lane of crowd->rhs.
void PushLane(Crowd* crowd, Body* body);
/// Finds impulses from where the lane of crowd->rhs, now displacements, moves the points. Changes
/// the lane accordingly.
void SolveLane(const StepSettings& settings, Crowd* crowd, Body* body);
/// HoldConstraints.
void HoldLane(Crowd* crowd, Body* body);
/// Adds the springs' impulses to the lane of crowd->sums.
void AddToLane(Crowd* crowd, Body* body);
/// Finds impulses for the motions of clusters. Changes `sums` (num_clusters x 1) and the lane of
/// crowd->sums accordingly, and adds the impulses to the inertial parts of `sums`.
void SolveLaneCoarse(const StepSettings& settings, std::span<ClusterSums> sums, Crowd* crowd,
                     Body* body);

}  // namespace plush
