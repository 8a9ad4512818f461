// SPDX-License-Identifier: MIT
// How deep a body lies below a plane.
#pragma once

#include "base/node_vec.h"
#include "contact/contact_problem.h"

namespace plush {

/// Depth below a plane of the deepest point of a surface with the nodes at `x` (num_nodes x 1) [m],
/// >= 0, of those that contacts can move (kLeastMovable). Looks at all vertices of all tets that
/// reach below the plane.
float DepthBelow(const LocalCollider& plane, const TouchingSurface& surface, NodeVectors x);

}  // namespace plush
