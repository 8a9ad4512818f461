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

/// Whether the stiffness of a tet, (dt^2 + damping dt) 2 mu V |grad N|^2, exceeds the mass of one
/// of its nodes by more than 1e5, so that solves need `roots`. Does not allocate.
bool NeedsRoots(const SystemTerms& terms);

/// Writes the factor of the matrix into `values` (as many as the supernodes' panels have), computed
/// in double precision. The structure must hold every pair of nodes of every tet and all fill, as
/// Asset::Open checks. O(flops of the factor); allocates about four times the bytes of `values`
/// from `allocator`, and frees it. Errors: kOutOfMemory; kInvalidArgument (A is not positive
/// definite in double precision, or the factor does not fit into float).
///
/// `roots`: (num_supernodes x 1) [1/kg], or empty. A supernode without rows, one of each component,
/// holds how forces move its component as a whole. In D_JJ^-1 that outweighs what strains it, and
/// rounding multiplies strains by up to 1e-7 of the ratio in NeedsRoots. With `roots` the block is
/// stored without it: roots[k] is what all its elements lack, 0 if the supernode has rows. Solves
/// add the sum of b_J times roots[k] to all of x_J. A file's factors have no roots.
Status FactoriseSystem(const SystemTerms& terms, const FactorStructure& structure,
                       const Allocator& allocator, std::span<float> values,
                       std::span<float> roots = {});

}  // namespace plush
