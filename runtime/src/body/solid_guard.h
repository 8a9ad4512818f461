// SPDX-License-Identifier: MIT
// The last word of a substep on solids: no triangle of a body passes the core of one.
#pragma once

namespace plush {

struct Body;

/// Whether a triangle passes the core of a near solid while the nodes move from body->x to body->y
/// and solids rest where the substep ends.
bool PassesSolids(const Body& body);

/// Changes body->y until no triangle passes the core of a near solid from the substep's start on.
/// Uses body->rhs. Does not allocate.
void StayOutsideSolids(Body* body);

}  // namespace plush
