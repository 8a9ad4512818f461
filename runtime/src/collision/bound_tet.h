// SPDX-License-Identifier: MIT
// Extents of a deformed tet's contents.
#pragma once

#include "collision/collision_state.h"

namespace plush {

/// Sets the volume that holds a tet's contents. `projections` as in CollisionState, with |x| + |y|
/// + |z| in place of the eighth direction. The same bits on every instruction set.
void BoundTet(const CdgTet& tet, const float* projections, Dop14* volume);

}  // namespace plush
