// SPDX-License-Identifier: MIT
// The volume term as compliant constraints, solved by Gauss-Seidel sweeps over the tets.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
// Miles Macklin, Matthias Mueller, Nuttapong Chentanez. XPBD: Position-Based Simulation of
//   Compliant Constrained Dynamics. 2016
#pragma once

#include "plush/types.h"

#include "base/node_vec.h"
#include "elasticity/element_pass.h"
#include "elasticity/elements.h"

#include <cstdint>
#include <limits>
#include <span>

namespace plush {

/// Result of a sweep of the volume term, to first order.
struct SweepChanges {
  float lowest_det_f = 1.0f;  ///< of any tet after its own correction, at most 1
  float largest = 0.0f;       ///< change of a tet's det F by its own correction
};

/// One sweep, block after block; the tets of a block share no node. Each tet's constraint is C =
/// det F - 1, with the multiplier's step d kappa = (-C - alpha kappa) / (sum w |grad C|^2 + alpha),
/// alpha = 1/(lambda V dt^2) [Kug, Eq. 14-16 with the sign of XPBD].
/// - Moves the nodes `x` [m] (num_nodes + 1 x 1), whose w is the inverse mass [1/kg], 0 if pinned.
///   Updates `kappa` [kg m^2] (16 num_blocks x 1).
/// - Pushes back flat and inverted tets too. No move is longer than sqrt(lambda V dt^2 w) |C| / 2,
///   however small the gradient.
/// - lambda counts as at most `most_bulk` mu.
/// - Skips tets with lambda = 0 and clears their multipliers.
///
/// Does not allocate.
SweepChanges SweepVolumes(const ElementView& elements, float dt, std::span<NodeVec> x,
                          std::span<float> kappa,
                          float most_bulk = std::numeric_limits<float>::infinity());

/// Least det F of a tet at the end of a substep, unless it was below at the start.
inline constexpr float kLeastDetF = 0.05f;
/// That of HoldFlatTets.
inline constexpr float kLeastHeldDetF = 0.01f;

/// Whether a tet may have det F < kLeastDetF after the sweep that returned `last`: a quick test
/// before HasFlatTet. Rarely misses one.
bool MayBeFlat(const SweepChanges& last);

/// The same for a substep without sweeps, whose iterates had at least this det F.
bool MayBeFlat(float lowest_det_f);

/// Whether any tet has det F < kLeastDetF. `x`: positions [m] (num_nodes + 1 x 1).
bool HasFlatTet(const ElementView& elements, std::span<const NodeVec> x);

/// Whether a tet is flatter than that at `x`, and than it was at `before` (num_nodes + 1 x 1).
bool HasFlatterTet(const ElementView& elements, NodeVectors before, std::span<const NodeVec> x);

/// How many tets have. Does not allocate.
uint32_t CountFlatTets(const ElementView& elements, std::span<const NodeVec> x);

/// One sweep, block after block, of the inequality det F >= kLeastDetF. The energies of [Kug] are
/// finite for a flat tet, so a hard impact would turn it inside out.
/// - Moves `x` (as in SweepVolumes) along w grad det F, by equal and opposite impulses that store
/// no
///   energy. Each is bounded, however degenerate the tet.
/// - A tet that was below the bound at `before` [m] (num_nodes x 1) is kept from sinking further.
///
/// Returns by how much the tets that it lifted missed the bound, in sum; it usually takes a few
/// sweeps until none does. Does not allocate.
float LiftFlatTets(const ElementView& elements, NodeVectors before, std::span<NodeVec> x);

/// One sweep that takes a `share` of their moves since `before` from the nodes of each tet with
/// det F < kLeastHeldDetF that became flatter; returns whether there was one. Repeated with a share
/// of 1, it ends: nodes that have not moved leave no tet flatter than it was. Halved ways may end
/// as rounding errors that still do. Does not allocate.
bool HoldFlatTets(const ElementView& elements, NodeVectors before, float share,
                  std::span<NodeVec> x);

/// SweepChanges of each body of a crowd.
struct CrowdSweepChanges {
  float lowest_det_f[kCrowdLanes];
  float largest[kCrowdLanes];
};

/// SweepVolumes for a crowd, one tet after the other in block order. Moves `positions` (num_nodes x
/// 4 x 16), updates `kappa` (16 num_blocks x 16). Does not allocate.
void SweepCrowdVolumes(const ElementView& elements, float dt, float* positions, float* kappa,
                       CrowdSweepChanges* out_changes);

}  // namespace plush
