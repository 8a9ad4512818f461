// SPDX-License-Identifier: MIT
// The degenerate tets of a body, from step to step.
// Based on:
// Civit. Interactive simulation of detailed deformable solids (thesis), 4.4.1.
#pragma once

#include "elasticity/elements.h"
#include "materials/collapse.h"

#include <cstddef>
#include <span>

namespace plush {

/// Updates the witness pairs of a body's tets (num_tets x 1) after a step that moved the nodes from
/// `before` to `after` [m] (num_nodes x 1 each): see UpdateWitness for each tet. Tets with det F
/// below `alpha`, in (0, 1), have one afterwards. Returns how many do. Does not allocate.
size_t UpdateWitnesses(const ElementView& elements, NodeVectors before, NodeVectors after,
                       float alpha, std::span<Witness> witnesses);

}  // namespace plush
