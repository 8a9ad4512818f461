// SPDX-License-Identifier: MIT
// Sparse Cholesky factor with a baked pattern: numeric factorisation and substitution.
// Based on:
// Timothy Davis. Direct Methods for Sparse Linear Systems. 2006 (left-looking factorisation)
#pragma once

#include "plush/types.h"

#include "base/array.h"

#include <cstdint>
#include <span>

namespace plush {

/// Pattern of L by columns: the diagonal first, rows ascending, and for each column the rows below
/// the diagonal contained in the pattern of its parent (first off-diagonal row). Asset::Open checks
/// this, so that nothing here has to.
struct CholeskyPattern {
  std::span<const uint32_t> column_starts;  ///< (n + 1 x 1)
  std::span<const uint32_t> rows;           ///< (nnz x 1)

  uint32_t size() const { return static_cast<uint32_t>(column_starts.size() - 1); }
};

/// Working memory of Factorise.
struct CholeskyWorkspace {
  Array<double> column;  ///< dense accumulator (n x 1)
  Array<uint32_t> next;  ///< per column, where its next contribution starts (n x 1)
  Array<uint32_t> link;  ///< per row, first of the columns that contribute to it (n x 1)
  bool Allocate(const Allocator& allocator, uint32_t n);
};

/// Overwrites `values` (nnz x 1), the lower triangle of A in the pattern of L, by L with L L^T = A.
/// O(flops of L); does not allocate. Returns false where A is not positive definite in double.
bool Factorise(const CholeskyPattern& pattern, CholeskyWorkspace* workspace,
               std::span<double> values);

/// Solves L L^T x = b in place for three right-hand sides, the axes of `x` (n x 1).
void Substitute(const CholeskyPattern& pattern, std::span<const float> values, std::span<Vec3> x);

/// The same for one right-hand side.
void Substitute(const CholeskyPattern& pattern, std::span<const float> values, std::span<float> x);

}  // namespace plush
