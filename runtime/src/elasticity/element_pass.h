// SPDX-License-Identifier: MIT
// The step's pass over the elements: deformation gradients, rotations and right-hand side.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#pragma once

#include "base/node_vec.h"
#include "elasticity/elements.h"

#include <cstddef>
#include <span>

namespace plush {

/// Adds dt^2 times the forces of the tets at positions `x` [m] to `rhs` [kg m] (num_nodes + 1 x 1
/// each): of the stretch term with rotations from APD, warm-started from and stored to `rotations`;
/// of the volume term by its multipliers, kappa_t grad C_t [Kug, Eq. 12 and 16]; and, unless
/// `stretches` is empty, of the viscous potential (beta / dt) mu V |F - R S|^2 with S the
/// `stretches` at the start of the step: zero for a rigid motion. `kappa`: [kg m^2] (16 num_blocks
/// x 1); `stretches`: by blocks (9 x 16 num_blocks). Does not allocate.
void AddElasticImpulses(const ElementView& elements, std::span<const NodeVec> x, float dt,
                        int polar_iterations, std::span<const float> stretches,
                        std::span<const float> kappa, const RotationView& rotations,
                        std::span<NodeVec> rhs);

/// Rotations of the tets in the blocks [begin, end) at positions `x`, as AddElasticImpulses finds
/// them: for threads that share a large body, before AddElasticImpulses with no iteration of its
/// own. Does not allocate.
void FindRotations(const ElementView& elements, std::span<const NodeVec> x, int polar_iterations,
                   size_t begin, size_t end, const RotationView& rotations);

/// S = R^T F of every tet at positions `x`, by blocks (9 x 16 num_blocks): the stretch from which
/// damping measures the change in a step. The rotations R come from APD, warm-started from and
/// stored to `rotations`: those that the last solve used lag behind its result, and an S with the
/// lag in it would drive the tet to turn on by as much, whatever holds it. Does not allocate.
void ComputeStretches(const ElementView& elements, std::span<const NodeVec> x, int polar_iterations,
                      const RotationView& rotations, std::span<float> stretches);

/// Bodies of a crowd. Numbers of its bodies lie beside each other: with c numbers to a node or tet,
/// number k of node i of the body in lane l is at [16 (c i + k) + l].
inline constexpr size_t kCrowdLanes = 16;

/// Numbers to a node of a crowd's positions: x, y, z [m] and the inverse mass [1/kg].
inline constexpr size_t kCrowdPosition = 4 * kCrowdLanes;
/// Numbers to a node of a crowd's right-hand sides: x, y, z.
inline constexpr size_t kCrowdVector = 3 * kCrowdLanes;
/// Numbers to a place of a crowd's rotations.
inline constexpr size_t kCrowdRotation = 4 * kCrowdLanes;

/// AddElasticImpulses for a crowd, undamped: `positions` (num_nodes x 4 x 16), `kappa` by place (16
/// num_blocks x 16), `rotations` by place (16 num_blocks x 4 x 16), `rhs` (num_nodes x 3 x 16).
/// Lanes whose `active` (16 x 1) is not above zero keep their rotations. Does not allocate.
void AddCrowdImpulses(const ElementView& elements, const float* positions, float dt,
                      int polar_iterations, const float* kappa, const float* active,
                      float* rotations, float* rhs);

}  // namespace plush
