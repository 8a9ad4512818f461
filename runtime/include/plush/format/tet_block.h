// SPDX-License-Identifier: MIT
// Tets as a step reads them: 16 at once, each number of all 16 beside each other.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plush {

/// Tets of a block. Vectors narrower than this take a block in parts.
inline constexpr size_t kBlockTets = 16;

/// Rest data of up to 16 tets that share no node, so that all of them can be written to at once.
/// Row k of each array holds one number of every tet. A place without a tet has the number of nodes
/// for its four nodes, which is a spare place behind every array over nodes, and zeros elsewhere.
struct TetBlock {
  uint32_t nodes[4][kBlockTets];  ///< cage nodes a, b, c, d (4 x 16)
  float dm_inv[9][kBlockTets];    ///< Dm^-1 [1/m], entries by columns (9 x 16)
  float det_dm_inv[kBlockTets];   ///< 1 / (6 V) [1/m^3], > 0 where there is a tet (1 x 16)
  float stiffness[kBlockTets];    ///< 2 mu V [J], > 0 where there is a tet (1 x 16)
  float bulk[kBlockTets];         ///< lambda V [J], >= 0 (1 x 16)
};
static_assert(sizeof(TetBlock) == 1024);

}  // namespace plush
