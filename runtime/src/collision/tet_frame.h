// SPDX-License-Identifier: MIT
// From a body's coordinates to the barycentric ones of a deformed tet.
#pragma once

#include "plush/types.h"

#include "collision/collision_state.h"

#include <array>

namespace plush {

/// The frame of a tet with these nodes [m] in a body of this reach [m], at most
/// CollisionState::kMostReach. Inverted tets have one like others; flat ones have none (usable() is
/// false).
TetFrame MakeTetFrame(const std::array<Vec3, 4>& nodes, float reach);

}  // namespace plush
