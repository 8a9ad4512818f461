// SPDX-License-Identifier: MIT
// How deep a body lies in a collider.
#pragma once

#include "base/node_vec.h"
#include "touching/contact_problem.h"

namespace plush {

/// Depth in a collider, at the end of its substep, of the deepest vertex of a surface with the
/// nodes at `x` (num_nodes x 1) [m], >= 0, of those that contacts can move (kLeastMovable); of a
/// cage without a surface, of the deepest node.
float DepthIn(const LocalCollider& collider, const TouchingSurface& surface, NodeVectors x);

}  // namespace plush
