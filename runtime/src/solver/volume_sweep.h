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

/// What a sweep of the volume term met.
struct SweepChanges {
  float lowest_det_f = 1.0f;  ///< of a tet before its own correction, at most 1
  float largest = 0.0f;       ///< change of a tet's det F by its own correction, to first order
};

/// One sweep in tet order: C = det F - 1, d kappa = (-C - alpha kappa) / (sum w |grad C|^2 +
/// alpha), alpha = 1/(lambda V dt^2) [Kug, Eq. 14-16 with the sign of XPBD]. Moves the nodes: adds
/// the same to the positions `x` [m] and to the displacements `u` [m] (num_nodes x 1); updates
/// `kappa` [kg m^2] (num_tets x 1). Flattened and inverted tets are pushed back like others: no
/// move is longer than sqrt(lambda V dt^2 w) |C| / 2, however small the gradient. Tets with lambda
/// = 0 are skipped and their multiplier cleared. Does not allocate.
SweepChanges SweepVolumes(const ElementView& elements, std::span<const NodeMobility> mobility,
                          float dt, std::span<Vec3> x, std::span<Vec3> u, std::span<float> kappa);

/// Least det F of a tet at the end of a substep, unless it began below.
inline constexpr float kLeastDetF = 0.05f;

/// Whether any tet has det F < kLeastDetF. `x`: positions [m] (num_nodes x 1).
bool HasFlatTet(const ElementView& elements, std::span<const Vec3> x);

/// One sweep in tet order of the inequality det F >= kLeastDetF: the energies of [Kug] are finite
/// where a tet is flat, so that a hard enough impact would turn it inside out. A constraint without
/// compliance, which stores nothing: moves along w grad det F, that is by equal and opposite
/// impulses, each of bounded length however degenerate the tet. Held normals hold only what moves
/// against them. A tet that was below the bound before its nodes moved by `u` to `x` (num_nodes x 1
/// each, [m]) must only not sink further. Moves nothing else. Returns whether any tet was lifted; a
/// few sweeps are needed until none is. Does not allocate.
bool LiftFlatTets(const ElementView& elements, std::span<const NodeMobility> mobility,
                  std::span<Vec3> x, std::span<Vec3> u);

}  // namespace plush
