// SPDX-License-Identifier: MIT
// Keeps substeps from ending with more energy than they began with.
//
// Nearly incompressible tets need dozens of iterations to build up the pressure that stops an
// impact, and a substep makes two or three. So colliders press tets too far, and the energy so
// stored would become speed. A substep that would end with more energy than it began with ends
// slower: positions stay, so that this turns no tet inside out and opens no contact. If the elastic
// energy alone is too high, the substep goes only a share of its way. Colliders that move do work.
// So all energies and ways are those that an observer sees who moves along with them.
//
// In flight, pressures of nearly incompressible thin tets lag behind volumes, which drives slow
// swings. (A sheet of Poisson's ratio 0.49 on three pins gained 8% of its energy in each step.) And
// a stiff body may have been given velocities that it cannot follow, by a blow to a corner or on
// pins: two or three iterations leave it strained, with up to 40,000 times the energy that it had.
// So it iterates on while it would gain. A free body keeps the rigid motions of its components,
// with their momenta, and only what it does beside them is shortened and slowed down.
//
// Other bodies that touch a body do work on it, and so do springs. The impulse on the body, times
// the way of its own point, is that work, so each body has its own bound. Its positions stay:
// others touch them. If it gains over 1%, it iterates on with its island, at most 8 times. Then it
// slows down, a free one beside the rigid motions of its components, which keeps momenta. (Without
// it, nearly incompressible sheets that touched something or hung on springs swung higher and
// higher, to over five times the energy of all bodies, and balls gained 7% in an impact.)
//
// Colliders can crush a body of any material: they press it against its pins, or they want what no
// places of its nodes meet. (A thin plate that cuts a body wants the same nodes on both sides.)
// Impulses then grow with each sweep, and lifts of flat tets add energy, too. So a body ends such a
// substep with no more energy than it began with and its colliders give: the work of a contact's
// impulse on its collider's way. (Plates of 2 to 60 mm threw bodies that began around them about at
// 2 to 70 m/s, a few at 60 km/s; now such bodies move at up to 0.5 m/s.)
#pragma once

#include "body/body.h"

namespace plush {

/// The most kinetic energy that a substep may leave.
struct EnergyBound {
  bool any = false;
  bool is_shorter = false;   ///< whether the way has been shortened
  Vec3 carried;              ///< velocity of the colliders [m/s]
  double kinetic = 0.0;      ///< below 0: the elastic energy alone is too high [J]
  double least = 0.0;        ///< smaller excesses may be rounding, or work that is not exact [J]
  bool keeps_rigid = false;  ///< the rigid motions of components: `kinetic` is that beside the
                             ///< centre of mass
};

/// The bound of a substep of `h` seconds from body->x and body->v to body->y, if
/// - the substep `is_rough`: tets may have been flat, or nodes move far (a free body that touches
///   may gain 1% if it does not speed up: collapses of soft bodies would sink in), or
/// - the body touches colliders, is nearly incompressible, and pins hold it or a tet is pressed, or
/// - it touches colliders, its last solve still moved nodes, and it would gain over 1%, or
/// - it touches nothing, and MayGainInFlight or IsJerked made it iterate on, or
/// - other bodies or springs act on it, it is nearly incompressible and its nodes move beside each
///   other, or the substep is rough, or its last solve still moved nodes (unless it is on springs
///   and on pins, whose reactions would not know).
/// Not if pins move, or constraints hold the body: nobody counts their work.
/// Never with a ContactMethod: it has the last word on where nodes are. If colliders of a free body
/// turn or move apart, their work is not exact (walls that close would sink in): then only what
/// would double the energy is too much.
///
/// Unless other bodies or springs act on it, shortens the way to body->y if the elastic energy at
/// its end is too high for any velocities. If a tet would pass flat on a shorter way, a pinned body
/// does not move, and a free one in the air moves rigidly. One that touches does not move if the
/// whole way would double the energy, and else goes it. In the air, multipliers begin anew after
/// that. Uses body->rhs. Does not allocate.
EnergyBound FindEnergyBound(const StepSettings& settings, float h, bool is_rough, Body* body);

/// Slows the nodes down to the bound. The mean speed along all contacts' planes stays, unless pins
/// hold the body. Without pins, colliders take the momentum that is lost, and reactions say so,
/// unless they would pull. Does not allocate.
void BoundKineticEnergy(const EnergyBound& bound, Body* body);

}  // namespace plush
