// SPDX-License-Identifier: MIT
// Impulses on the points of a contact between two bodies that move the points' nodes alone, by the
// nodes' masses: what contact methods outside the solve do.
#pragma once

#include "contact/body_contacts.h"

namespace plush {

/// Adds what an impulse on the first point, and its opposite on the second, changes in `nodes`,
/// which are displacements [kg m] or velocities [kg m/s] [Civ, Eq. 3.32]. Static bodies keep
/// theirs.
void AddImpulse(const Vec3& impulse, std::span<NodeVec> MovedNodes::*nodes, BodyContact* contact);

/// Moves the first point away from the second by `way` [m]: each takes the share of its inverse
/// effective mass [Civ, Eq. 3.51, 3.52]. Returns the impulse that does so [kg m].
Vec3 MoveApart(const Vec3& way, std::span<NodeVec> MovedNodes::*nodes, BodyContact* contact);

}  // namespace plush
