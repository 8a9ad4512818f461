// SPDX-License-Identifier: MIT
// The element pass's decomposition alone, without the gathers before it and the scatters after it.
#pragma once

#include <span>

namespace plush::bench {

/// Rotations of blocks of 16 matrices `F` (9 x 16 num_blocks) from the warm starts in `rotations`
/// (4 x 16 num_blocks).
void RotateBlocks(std::span<const float> F, int max_iterations, std::span<float> rotations);

}  // namespace plush::bench
