// SPDX-License-Identifier: MIT
// Where the boundary of a cage passes through itself.
#pragma once

#include "cage/cage_boundary.h"
#include "cage/split_cage.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Pairs of boundary faces that share a point beyond common nodes, exactly, without those whose
/// tets overlap by design (MayOverlap). Indices into faces.boundary, ascending.
std::vector<std::array<uint32_t, 2>> FindCageCrossings(const SplitCage& cage,
                                                       const CageFaces& faces, double cell);

}  // namespace plush::tools
