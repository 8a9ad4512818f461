// SPDX-License-Identifier: MIT
// Limits of velocities.
#pragma once

#include "body/body.h"

namespace plush {

/// Slows movable nodes that are faster than body->max_speed down to it. Returns the speed of the
/// fastest node afterwards, in the world [m/s].
float LimitSpeed(Body* body);

}  // namespace plush
