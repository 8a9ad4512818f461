// SPDX-License-Identifier: MIT
// Numeric factorisation of the splitting solver's matrix on a baked structure.
//
// The matrix A = M + (dt^2 + damping dt) sum_t 2 mu V G G^T [Kug, Alg. 1, damping added] has one
// scalar per pair of nodes, because the three axes share it. Row i of G (4 x 3) is the gradient of
// the tet's i-th shape function: rows of Dm^-1 for b, c, d, minus their sum for a. The converter
// and the runtime factor it with the same code, so that the same terms give the same numbers.
#pragma once

#include "plush/allocator.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"
#include "plush/status.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// The terms of the matrix.
struct SystemTerms {
  std::span<const TetBlock> blocks;  ///< (num_blocks x 1)
  std::span<const float> stiffness;  ///< 2 mu V of each place [J] (16 num_blocks x 1), or empty:
                                     ///< that of the blocks
  std::span<const float> masses;     ///< lumped [kg] (num_nodes x 1)
  float mass_scale = 1.0f;           ///< of all masses
  std::span<const uint8_t> pinned;   ///< 1 if a node never moves (num_nodes x 1), or empty: none;
                                     ///< its row and column are those of the identity
  float dt = 0.0f;                   ///< [s], > 0
  float damping = 0.0f;              ///< Kelvin-Voigt relaxation time [s], >= 0
};

/// Where the factor's entries lie.
struct FactorStructure {
  std::span<const Supernode> supernodes;   ///< each after all that have its columns as rows
  std::span<const uint32_t> supernode_of;  ///< supernode of each column (num_nodes x 1)
  std::span<const uint32_t> rows;          ///< of all supernodes, padded; see factor_panels.h
};

/// The supernodes without rows below, one for each component, know how its forces move it as a
/// whole. Where stiffness exceeds inertia by 1e7, that part of D_JJ^-1 is so much larger than the
/// rest that its rounding strains the component: by 1e-7 of that ratio of the strain before, in
/// each solve. With `roots` (num_supernodes x 1), D_JJ^-1 is stored without it, and roots[k] [1/kg]
/// is what all elements of the block of supernode k lack: solves give all its columns the sum of
/// b_J times roots[k]. Others get 0. A file's factors have no roots.
///
/// Writes the factor of the matrix into `values` (as many as the supernodes' panels have), computed
/// in double precision. The structure must hold every pair of nodes of every tet and all fill, as
/// Asset::Open checks. O(flops of the factor); allocates about four times the bytes of `values`
/// from `allocator`, and frees it. Errors: kOutOfMemory; kInvalidArgument (A is not positive
/// definite in double precision, or the factor does not fit into float).
Status FactoriseSystem(const SystemTerms& terms, const FactorStructure& structure,
                       const Allocator& allocator, std::span<float> values,
                       std::span<float> roots = {});

}  // namespace plush
