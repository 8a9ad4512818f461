// SPDX-License-Identifier: MIT
// Which tets of a cage overlap in space by design.
#pragma once

#include "cage/split_cage.h"

#include <cstdint>

namespace plush::tools {

/// Whether the boundaries of two tets may pass through each other: their places in the lattice were
/// within three cells of each other, and they do not hang together (TetNeighbourhood) or have
/// different copies of one lattice node. `cell` [m].
bool MayOverlap(const SplitCage& cage, uint32_t tet, uint32_t other, bool connected, double cell);

}  // namespace plush::tools
