// SPDX-License-Identifier: MIT
// Forces of the tets and their differentials at one place, for implicit steps. The energy is
// elements.h's.
// Based on:
// Oscar Civit-Flores. Interactive simulation of detailed deformable solids with the corotational
//   finite element method. Thesis. (3.3.2 to 3.3.4: Eq. 3.13 and 3.16 to 3.23)
//
// With F = R S, M = R^T dF, C = cof S and c = det F - 1, a differential of the stress is R T:
// - exact: T = 2 mu (M - W) + lambda (C:M) C + lambda c dC. R^T dR = W is skew, with the axial
//   vector (tr(S) I - S)^-1 axl(M - M^T) [Civ, Eq. 3.13]; dC = d cof(S) in the direction M. Where
//   the pressure is at its bound (volume_law.h), it stands in the place of lambda c, and the term
//   of (C:M) C is zero.
// - constant rotation: T = 2 mu M + lambda (C:M) C [Civ, Eq. 3.19], positive semidefinite.
// - warped: T = 2 mu sym(M) + lambda (C:M) C [Civ, Eq. 3.21], positive semidefinite.
// - hybrid: T = 2 mu ((1 - g) sym(M) + g M) + lambda (C:M) C [Civ, Eq. 3.23], positive
//   semidefinite, with g = clamp(sum_i |S_ii - 1| / 3, 0, 1). The paper's material is linear in the
//   volume; this one's lambda term has cof F in the place of R.
// Where the pressure p is at its bound, the last three take p / c in the place of lambda: their
// energy is above the bounded one.
#pragma once

#include "plush/implicit_settings.h"

#include "base/node_vec.h"
#include "elasticity/block_matrix.h"
#include "elasticity/elements.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Numbers per tet of a symmetric stretch S: S_xx, S_yy, S_zz, S_xy, S_xz, S_yz.
inline constexpr size_t kStretchNumbers = 6;

/// What the tets' differentials depend on besides rest data.
struct TetsAt {
  RotationView rotations;
  std::span<float> stretches;  ///< S by block (6 x 16 num_blocks)
};

/// Goes to positions `x` [m] (num_nodes + 1 x 1): finds the rotations, from those of `at`, and the
/// stretches, and adds dt^2 times the tets' forces to `rhs` [kg m] (num_nodes + 1 x 1). Unless
/// `starts` is empty, they include the viscous ones of AddElasticImpulses, with S = `starts` by
/// block (9 x 16 num_blocks). Sets `kappa` to the multipliers -p V dt^2 [kg m^2] (16
/// num_blocks x 1). settings.relaxation does not matter. Returns the lowest det F, at most 1. Does
/// not allocate.
float LineariseTets(const ElementView& elements, std::span<const NodeVec> x,
                    const ElementSettings& settings, std::span<const float> starts, TetsAt at,
                    std::span<float> kappa, std::span<NodeVec> rhs);

/// Makes `matrix` (dt^2 + damping dt) K, the one of stiffness_product.h [kg]. Tets are added in the
/// order of their blocks: the same bits in every call. Does not allocate.
void MakeStiffness(const ElementView& elements, const ElementSettings& settings, TetsAt at,
                   StressDifferential differential, BlockMatrix* matrix);

/// Adds the 3x3 blocks on the diagonal of (dt^2 + damping dt) K, of the hybrid differential, to
/// `blocks` [kg] (num_nodes x 1). Does not allocate.
void AddStiffnessDiagonal(const ElementView& elements, const ElementSettings& settings, TetsAt at,
                          std::span<Mat3> blocks);

}  // namespace plush
