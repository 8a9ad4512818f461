// SPDX-License-Identifier: MIT
// Which tets a step computes at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// A place of a block without a tet.
inline constexpr uint32_t kNoTet = UINT32_MAX;

/// Divides the tets into blocks of kBlockTets that share no node: place -> tet, or kNoTet behind
/// the last tet of a block (a multiple of kBlockTets x 1). Tets with near node indices, which are
/// best those of the elimination order, come in the same or near blocks. A node needs a block for
/// each of its tets, so small cages leave some places empty. Every index of `tets` is below
/// `num_nodes`, and the four of a tet differ. Deterministic; O(t log t) where every node has few
/// tets.
std::vector<uint32_t> PackTetBlocks(uint32_t num_nodes,
                                    std::span<const std::array<uint32_t, 4>> tets);

}  // namespace plush::tools
