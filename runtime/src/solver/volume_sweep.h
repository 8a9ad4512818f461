// SPDX-License-Identifier: MIT
// The volume term as compliant constraints, by Gauss-Seidel sweeps over the tets.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
// Miles Macklin, Matthias Mueller, Nuttapong Chentanez. XPBD: Position-Based Simulation of
// Compliant
//   Constrained Dynamics. 2016
#pragma once

#include "plush/types.h"

#include "elasticity/elements.h"

#include <cstdint>
#include <span>

namespace plush {

/// How a node may move in a sweep.
struct NodeMobility {
  float inverse_mass = 0.0f;  ///< [1/kg]; 0 for pinned and fully held nodes
  Vec3 held_normal;           ///< unit direction without mobility, or zero
};

/// One sweep in tet order: C = det F - 1, d kappa = (-C - alpha kappa) / (sum w |grad C|^2 +
/// alpha), alpha = 1/(lambda V dt^2) [Kug, Eq. 14-16 with the sign of XPBD]. Moves the nodes: adds
/// the same to the positions `x` [m] and to the displacements `u` [m] (num_nodes x 1); updates
/// `kappa` [kg m^2] (num_tets x 1). Flattened and inverted tets are pushed back like others: no
/// move is longer than sqrt(lambda V dt^2 w) |C| / 2, however small the gradient. Tets with lambda
/// = 0 are skipped and their multiplier cleared. Does not allocate.
void SweepVolumes(const ElementView& elements, std::span<const NodeMobility> mobility, float dt,
                  std::span<Vec3> x, std::span<Vec3> u, std::span<float> kappa);

}  // namespace plush
