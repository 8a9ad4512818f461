// SPDX-License-Identifier: MIT
// The step's rotations in lanes, for matrices that lie one after the other.
#pragma once

#include "plush/types.h"

#include <span>

namespace plush {

/// AnalyticPolarDecomposition of many matrices at once, as many per instruction as the processor
/// has lanes: the rotation of each F (n x 1), from the warm start in its place in `rotations` (n x
/// 1). The matrices do not affect each other. Results differ from the scalar function's in the last
/// bits, but are as near to the minimum; F that are degenerate, inverted, far from their start or
/// of a norm far from one go through that function and take its time. Does not allocate.
void AnalyticPolarDecompositions(std::span<const Mat3> F, std::span<Quat> rotations,
                                 int max_iterations);

}  // namespace plush
