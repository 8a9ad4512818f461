// SPDX-License-Identifier: MIT
// The pass over the elements for a crowd: 16 bodies of one asset, one in each lane. Rest data are
// read once for all of them, and no index is looked up per body.
#pragma once

#include "elasticity/elements.h"

#include <cstddef>
#include <span>

namespace plush {

/// Bodies of a crowd. Numbers of its bodies lie beside each other: with c numbers to a node or tet,
/// number k of node i of the body in lane l stands at [16 (c i + k) + l].
inline constexpr size_t kCrowdLanes = 16;

/// Numbers to a node of a crowd's positions: x, y, z [m] and the inverse mass [1/kg].
inline constexpr size_t kCrowdPosition = 4 * kCrowdLanes;
/// Numbers to a node of a crowd's right-hand sides: x, y, z.
inline constexpr size_t kCrowdVector = 3 * kCrowdLanes;
/// Numbers to a place of a crowd's rotations.
inline constexpr size_t kCrowdRotation = 4 * kCrowdLanes;

/// AddElasticImpulses for a crowd, undamped: `positions` (num_nodes x 4 x 16), `kappa` by place (16
/// num_blocks x 16), `rotations` by place (16 num_blocks x 4 x 16), `rhs` (num_nodes x 3 x 16).
/// Lanes where `active` (16 x 1) is not above zero keep their rotations. Does not allocate.
void AddCrowdImpulses(const ElementView& elements, const float* positions, float dt,
                      int polar_iterations, const float* kappa, const float* active,
                      float* rotations, float* rhs);

}  // namespace plush
