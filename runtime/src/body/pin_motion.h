// SPDX-License-Identifier: MIT
// Pinned nodes that move: their positions in a step, and the forces on their targets.
#pragma once

#include "body/body.h"

#include <span>

namespace plush {

/// Makes room for targets of a body with `num_regions` regions. Returns false, with nothing
/// changed, if the allocator fails.
bool ReserveTargets(const Allocator& allocator, uint32_t num_regions, Body* body);

/// Makes room for the forces on targets. Returns false if the allocator fails.
bool ReserveReactions(const Allocator& allocator, Body* body);

/// The motion that takes `rest` to `target` [m] without scaling, applied to the point `X` (3 x 1)
/// in place. All in double precision.
void MoveWithPose(const Pose& rest, const Pose& target, double scale, double* X);

/// Moves the pinned nodes of body->y to where they are at the end of substep `k` of `count`. Flags
/// moves beyond two median edges.
void PlacePins(int k, int count, Body* body, StepStats* stats);

/// The same for a body in a crowd's step: writes to its lane of crowd->positions.
void PlaceCrowdPins(Crowd* crowd, const Body* body, StepStats* stats);

/// Whether the body is fixed, and its pins move or moved in the last step.
bool IsCarried(const Body& body);

/// Whether the body steps and may move: it is neither frozen nor fixed, or it is carried.
bool MayMove(const Body& body);

/// Sets the velocities of a body for which IsCarried() holds to those of the current step.
void FindCarriedVelocities(float dt, Body* body);

/// Steps a body for which IsCarried() holds.
void MoveFixedBody(float dt, Body* body, StepStats* stats);

/// Ends the motion of a step: targets hold for one step only.
void EndPinMotion(Body* body);

// Forces on targets, as impulses times dt that the solves' equations have for pinned nodes [kg m].
// In order: elastic impulses before a solve; the stiffness that it adds to them, fine or coarse;
// what volume sweeps add; then the mean force of the substep.

inline bool ReportsReactions(const Body& body) { return body.pins.reactions.size() > 0; }
/// Takes over the pinned nodes' elastic impulses from body->rhs.
void StartPinImpulses(Body* body);
/// Subtracts what the constant matrix of a substep of `h` seconds gives for the displacement `d`.
void SubtractStiffness(float h, std::span<const NodeVec> d, Body* body);
/// Subtracts what the material, which charges no turns, gives for the displacement `d`.
void SubtractStretchStiffness(float h, std::span<const NodeVec> d, Body* body);
/// Adds what the sweeps did since body->pins.swept was body->kappa.
void AddSweepImpulses(Body* body);
/// Adds the mean forces of substep `k` of `count`, before it is finished.
void AddReactions(const StepSettings& settings, int k, int count, Body* body);

}  // namespace plush
