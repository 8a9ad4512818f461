// SPDX-License-Identifier: MIT
// Whether the factor is the Cholesky factor of the matrix that the rest data make.
#pragma once

#include "plush/asset.h"

#include "base/finding.h"

namespace plush::tools {

/// Compares L L^T with A = M + dt^2 sum 2 mu V G G^T [Kug, Alg. 1], entry by entry, in double
/// precision. Rounding an exact factor to float changes an entry of L L^T by at most
/// (2 u + u^2) (|L| |L|^T)_ij, u = 2^-24, and by Cauchy-Schwarz (|L| |L|^T)_ij <=
/// sqrt(A_ii A_jj) (1 + 2 u); with room for the double-precision factoring the bound is
/// 4 u sqrt(A_ii A_jj). Adds FILE_FACTOR with the nodes of the columns beyond it. Needs an asset
/// whose tets and factor structure have passed Asset::Open's checks. O(flops of factoring).
void CheckFactorAccuracy(const SimulationView& simulation, const FactorView& factor,
                         FindingList* findings);

}  // namespace plush::tools
