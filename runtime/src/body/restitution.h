// SPDX-License-Identifier: MIT
// Restitution: after a substep, points that hit a plane get a share of their speed off it, by
// velocities alone and within the energy before the impact.
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

}  // namespace plush
