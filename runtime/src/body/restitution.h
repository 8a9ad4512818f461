// SPDX-License-Identifier: MIT
// Restitution: after a substep, points that hit a plane or another body get a share of their speed
// off it, by velocities alone and within the energy before the impact.
#pragma once

#include "body/body.h"

namespace plush {

/// Finds what restitution asks for after a substep of `h` seconds, before velocities change.
/// Updates body->contacts.rebound.
ThrowBack FindThrowBack(const StepSettings& settings, float h, Body* body);

/// Changes velocities as FindThrowBack asked, or by the share that leaves no more than its energy.
/// To be called once the substep has new velocities. Does not allocate.
void Throw(const StepSettings& settings, const FactoredSystem& system, const ThrowBack& back,
           Body* body, StepStats* stats);

/// What restitution between the bodies of an island asks for after a substep.
struct JointThrow {
  Rebound* owed = nullptr;  ///< of the two that part fastest, or null: it asks for nothing
  Vec3 frame;               ///< velocity of that one of them that no solve moves, or 0 [m/s]
  double energy = 0.0;  ///< of the island before the substep: kinetic in this frame, elastic [J]
  uint32_t num_bodies = 0;  ///< that move
};

/// Finds what contacts between the bodies of an island ask for after a substep of `h` seconds,
/// before velocities change. Updates what their pairs are owed.
JointThrow FindJointThrow(const StepSettings& settings, float h, Body* first);

/// Changes velocities as FindJointThrow asked, or by the share for which the energy suffices that
/// the island has lost since the impact; not at all if a body froze in the substep. `solves`: of
/// the bodies that move, with their FindFreeTurn. To be called once the substep has new velocities.
/// Does not allocate.
void ThrowJointly(const StepSettings& settings, float h, const JointThrow& thrown,
                  ContactSolve* solves, Body* first);

}  // namespace plush
