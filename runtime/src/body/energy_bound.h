// SPDX-License-Identifier: MIT
// An impact leaves a body with no more energy than it had.
//
// Nearly incompressible tets need dozens of iterations to build up the pressure that stops an
// impact, and a substep makes two or three. So colliders press tets too far, and pressures that
// come late give back more than the impact took. (25 of 1,500 thrown samples gained 1% to 48%; with
// 64 iterations two of them, whose tets were held from turning inside out.) A substep that would
// end with more energy than it began with goes only a share of its way, as it would if pressures
// were right.
#pragma once

#include "body/body.h"

namespace plush {

/// Shortens the way from body->x to body->y if kinetic, elastic and gravity's energy would be
/// higher at its end. What moves along all contacts' planes stays: colliders take the momentum that
/// is lost, and reactions say so. Only for undamped, nearly incompressible bodies with a tet that
/// is pressed, and only if nothing but colliders at rest holds them. Uses body->rhs. Does not
/// allocate.
void BoundEnergy(const StepSettings& settings, float h, Body* body, StepStats* stats);

}  // namespace plush
