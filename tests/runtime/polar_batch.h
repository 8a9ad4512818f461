// SPDX-License-Identifier: MIT
// Rotations of consecutive matrices, computed in lanes like the step's.
#pragma once

#include "plush/types.h"

#include <span>

namespace plush {

/// AnalyticPolarDecomposition of many matrices, one per lane: the rotation of each F (n x 1), from
/// its warm start in `rotations` (n x 1). Does not allocate.
/// - The matrices do not affect each other.
/// - Results differ from the scalar function's in the last bits, and are as close to the minimum.
/// - The scalar function takes over F that are degenerate, inverted, far from their start, or of a
///   norm far from one.
void AnalyticPolarDecompositions(std::span<const Mat3> F, std::span<Quat> rotations,
                                 int max_iterations);

}  // namespace plush
