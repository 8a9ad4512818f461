// SPDX-License-Identifier: MIT
// Groups the tets that a step computes at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// A place in a block that holds no tet.
inline constexpr uint32_t kNoTet = UINT32_MAX;

/// Divides the tets into blocks of up to kBlockTets that share no node. Returns place -> tet,
/// kNoTet after the last tet of a block (a multiple of kBlockTets x 1). Tets with similar node
/// indices come in the same or nearby blocks, so number nodes by elimination. A node needs a block
/// for each of its tets, so small cages leave places empty. Precondition: every index of `tets` is
/// below `num_nodes`, and the four of a tet differ. Tets with nodes of two `clusters` (num_nodes x
/// 1, or empty) come first, in few blocks: a step reads these more often. Deterministic; O(t log t)
/// if nodes have few tets.
std::vector<uint32_t> PackTetBlocks(uint32_t num_nodes,
                                    std::span<const std::array<uint32_t, 4>> tets,
                                    std::span<const uint16_t> clusters = {});

}  // namespace plush::tools
