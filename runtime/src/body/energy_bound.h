// SPDX-License-Identifier: MIT
// An impact leaves a body with no more energy than it had.
//
// Nearly incompressible tets need dozens of iterations to build up the pressure that stops an
// impact, and a substep makes two or three. So colliders press tets too far, and the energy so
// stored would become speed. A substep that would end with more energy than it began with ends
// slower: positions stay, so that this turns no tet inside out and opens no contact. If the elastic
// energy alone is too high, the substep goes only a share of its way. Colliders that move do work.
// So all energies and ways are those that an observer sees who moves along with them. In flight
// nothing is bounded: there, scaled velocities would change the angular momentum.
//
// Colliders can crush a body against its pins, whatever its material: nothing that
// solves or lifts of flat tets find may be possible then. Such a substep ends with no more energy
// than it began with and its contacts' impulses give, as the world sees it: an impulse does work on
// the way of its collider.
#pragma once

#include "body/body.h"

namespace plush {

/// The most kinetic energy that a substep may leave.
struct EnergyBound {
  bool any = false;
  bool is_shorter = false;  ///< whether the way has been shortened
  Vec3 carried;             ///< velocity of the colliders [m/s]
  double kinetic = 0.0;     ///< below 0: the elastic energy alone is too high [J]
  double least = 0.0;       ///< smaller excesses may be rounding [J]
};

/// The bound of a substep of `h` seconds from body->x and body->v to body->y.
/// - Only for nearly incompressible bodies with a tet that is pressed, and `is_rough` ones: tets
///   may have been flat, or nodes move far. If pins hold them, or else, of the former only, if
///   colliders do that move with one velocity: the bound would let a press sink in.
/// - Not beside other bodies, attachments and pins that move: nobody counts their work.
/// - Shortens the way to body->y if the elastic energy at its end is too high for any velocities,
///   unless a tet passes flat on it. Pinned bodies then stay where they are.
///
/// Uses body->rhs. Does not allocate.
EnergyBound FindEnergyBound(const StepSettings& settings, float h, bool is_rough, Body* body);

/// Slows the nodes down to the bound. The mean speed along all contacts' planes stays, unless pins
/// hold the body. If colliders have one velocity, they take the momentum that is lost, and
/// reactions say so, unless they would pull. Does not allocate.
void BoundKineticEnergy(const EnergyBound& bound, Body* body);

}  // namespace plush
