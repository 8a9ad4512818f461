// SPDX-License-Identifier: MIT
// The elastic energy of one body in vectors, for a look within a step. Measures use
// SummariseElements, whose rotations converge.
#pragma once

#include "base/node_vec.h"
#include "elasticity/elements.h"

#include <span>

namespace plush {

/// Sum of mu V |F - R|^2 + lambda/2 V (det F - 1)^2 at positions `x` (num_nodes + 1 x 1) [J], with
/// lambda at most kMostBulk mu. Rotations take at most `polar_iterations` Newton steps from
/// `rotations`, and are stored there. Does not allocate.
double ElasticEnergy(const ElementView& elements, std::span<const NodeVec> x, int polar_iterations,
                     const RotationView& rotations);

}  // namespace plush
