// SPDX-License-Identifier: MIT
// Whether the factor is that of the matrix that the rest data make.
#pragma once

#include "plush/asset.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "base/finding.h"

namespace plush::tools {

/// Looks at the factor's values in two ways. They must be those that the runtime's factorisation
/// makes of the rest data, to a few roundings of float. And because that could be wrong itself: of
/// solutions x of A x = b with the factor, for a matrix A = M + (dt^2 + damping dt) sum 2 mu V G
/// G^T [Kug, Alg. 1] that is assembled here from the tets, the residual must be within what
/// rounding an exact factor to float changes. With u = 2^-24, to first order that is u (2 |L| |D| +
/// |L| |D| |D^-1| |D|) |L^T| |x| by rows: an entry of L or of D^-1 moves by at most u times itself,
/// and D by D E D where D^-1 moves by E. Adds FILE_FACTOR with the nodes beyond it. Needs an asset
/// whose rest data and factor structure have passed Asset::Open's checks. O(flops of factoring).
void CheckFactorAccuracy(const SimulationView& simulation, const FactorView& factor,
                         FindingList* findings);

}  // namespace plush::tools
