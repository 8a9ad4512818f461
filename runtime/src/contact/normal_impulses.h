// SPDX-License-Identifier: MIT
// The normal impulses of a body's contacts with colliders, all at once.
//
// Sweeps pass an impulse on from contact to contact. Points on the same few nodes then need up to a
// hundred of them, and a body hits the floor with many such points. With friction held, the normal
// impulses solve a linear complementarity problem: p >= 0, K p + gaps >= 0, and one of the two is 0
// for each contact, K_ij = S_ij dot(n_i, n_j). Block principal pivoting solves it in a few small
// linear systems: all contacts of a guess press, those that then pull leave the guess, and those
// that sink join it; one at a time once whole blocks do not help.
// Deviation: K may be singular. A contact whose point moves as others determine keeps its impulse,
// or leaves the guess if its gap opens. If it still sinks, the others depend on it from then on.
// If the body is slow, each call takes one step of the proximal point method: the diagonal of K is
// larger, so that impulses stay near those before. Points on the same nodes would otherwise take
// all of each other's load whenever one is a fraction of a micrometre deeper.
// Source: Joaquim Judice, Fernanda Pires. A block principal pivoting algorithm for large-scale
// strictly monotone linear complementarity problems. 1994
#pragma once

#include "contact/plane_contacts.h"

namespace plush {

/// Changes the impulses along normals, and the slots' motions (`moved`), so that no point sinks by
/// more than `accuracy` [m], unless others determine its motion, and no point off its plane
/// presses. If the body `is_slow`, only repeated calls come there, in small steps. Friction is left
/// to sweeps: on one plane, it does not move points along the normal. So only contacts are solved
/// together whose normals differ by at most 25 degrees, or from the opposite (bodies jammed among
/// solids would explode: friction then acts on other normal impulses). These are all contacts of
/// the body if they are on one side, or those on two sides of a body that hardly yields between
/// them: sweeps would move it as a whole, in turns, and hardly press it. (Soft bodies between two
/// sides are left to sweeps. A game that moves light boxes by the reactions of soft bodies must
/// guess a box's motion: a solve at once would answer each error with its whole force.) Does
/// nothing if the body has more than 64 contacts, or if the guesses do not settle. Couplings and
/// offsets must be known.
void SolveNormals(float accuracy, bool is_slow, ContactState* state);

}  // namespace plush
