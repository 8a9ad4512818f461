// SPDX-License-Identifier: MIT
// The constant matrix of the splitting solver and its Cholesky factor.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#pragma once

#include "plush/types.h"

#include "base/result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// What the matrix is made of, in elimination order and exactly as the file stores it, so that the
/// runtime can refactor from the file to the same numbers.
struct SystemTerms {
  std::span<const float> masses;   ///< [kg] (num_nodes x 1)
  std::span<const Tet> tets;       ///< (num_tets x 1)
  std::span<const Mat3> dm_inv;    ///< [1/m] (num_tets x 1)
  std::span<const float> volumes;  ///< [m^3] (num_tets x 1)
  std::span<const float> mu;       ///< [Pa] (num_tets x 1)
  float dt = 0.0f;                 ///< [s]
  float damping = 0.0f;            ///< Kelvin-Voigt relaxation time [s]
};

/// A sparse matrix by columns.
struct LowerMatrix {
  std::vector<uint32_t> column_starts;  ///< (num_nodes + 1 x 1)
  std::vector<uint32_t> rows;           ///< ascending within a column, the diagonal first
  std::vector<double> values;
};

/// Lower triangle of A = diag(m) + (dt^2 + damping dt) sum_t 2 mu V G G^T [kg] [Kug, Alg. 1,
/// damping added], one scalar per pair of nodes that share a tet (entries that happen to be zero
/// are kept). Row i of G (4 x 3) is the gradient of the tet's i-th shape function: rows of Dm^-1
/// for b, c, d, minus their sum for a.
LowerMatrix AssembleSystemMatrix(const SystemTerms& terms);

/// L with L L^T = A, all structural fill kept. Errors: kInvalidInput (A is not numerically positive
/// definite).
Result<LowerMatrix> FactorSystemMatrix(const LowerMatrix& matrix);

}  // namespace plush::tools
