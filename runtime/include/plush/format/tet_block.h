// SPDX-License-Identifier: MIT
// Tets as a step reads them: 16 at once, equal numbers of all 16 next to each other.
#pragma once

#include "plush/asset.h"
#include "plush/types.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Tets of a block. Vectors narrower than this take a block in parts.
inline constexpr size_t kBlockTets = 16;

/// Rest data of up to 16 tets that share no node, so a step can write to all of their nodes at
/// once. Row k of each array holds number k of every tet. A place without a tet has zeros; its four
/// node indices are the number of nodes, the spare place at the end of every array over nodes.
struct TetBlock {
  uint32_t nodes[4][kBlockTets];  ///< cage nodes a, b, c, d (4 x 16)
  float dm_inv[9][kBlockTets];    ///< Dm^-1 [1/m], entries by columns (9 x 16)
  float det_dm_inv[kBlockTets];   ///< 1 / (6 V) [1/m^3], > 0 if there is a tet (1 x 16)
  float stiffness[kBlockTets];    ///< 2 mu V [J], > 0 if there is a tet (1 x 16)
  float bulk[kBlockTets];         ///< lambda V [J], >= 0 (1 x 16)
};
static_assert(sizeof(TetBlock) == 1024);

/// The cage and the rest data of its tets.
struct SimulationView : CageView {
  std::span<const uint32_t> tet_slots;  ///< place of each tet in `blocks`: block times 16 plus
                                        ///< lane, each used once (num_tets x 1)
  std::span<const TetBlock> blocks;     ///< rest data of the tets (num_blocks x 1)

  // Of a tet: Dm^-1 [1/m], rest volume [m^3], Lame parameters [Pa].
  Mat3 DmInv(size_t tet) const {
    const auto& m = BlockOf(tet).dm_inv;
    const size_t i = LaneOf(tet);
    return {{m[0][i], m[1][i], m[2][i]}, {m[3][i], m[4][i], m[5][i]}, {m[6][i], m[7][i], m[8][i]}};
  }
  float Volume(size_t tet) const { return 1.0f / (6.0f * BlockOf(tet).det_dm_inv[LaneOf(tet)]); }
  float Mu(size_t tet) const { return BlockOf(tet).stiffness[LaneOf(tet)] / (2.0f * Volume(tet)); }
  float Lambda(size_t tet) const { return BlockOf(tet).bulk[LaneOf(tet)] / Volume(tet); }

  // A tet's block, and its place in each of the block's rows, below 16.
  const TetBlock& BlockOf(size_t tet) const { return blocks[tet_slots[tet] / kBlockTets]; }
  size_t LaneOf(size_t tet) const { return tet_slots[tet] % kBlockTets; }
};

}  // namespace plush
