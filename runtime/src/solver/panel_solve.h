// SPDX-License-Identifier: MIT
// Solves with the factor of the splitting step's matrix, for three right-hand sides at once.
#pragma once

#include "plush/format/factor_panels.h"

#include "base/node_vec.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

struct PinSchur;

/// Structure and values of a factor.
struct PanelFactor {
  std::span<const Supernode> supernodes;
  std::span<const uint32_t> supernode_of;  ///< of each column (num_nodes x 1)
  std::span<const uint32_t> rows;
  std::span<const float> values;
  uint32_t num_nodes = 0;
  uint32_t num_active = 0;  ///< num_nodes or FactorView::num_free; later columns belong to pinned
                            ///< nodes and are left out
  const PinSchur* pins = nullptr;  ///< more pinned nodes, or null
  std::span<const float> roots;    ///< see FactoriseSystem (num_supernodes x 1), or empty
};

/// Size of a solve's workspace [floats]: three per row of the longest pattern; for pins, four per
/// node and the spare one.
size_t PanelWorkspaceSize(std::span<const Supernode> supernodes, uint32_t num_nodes);

/// x := A^-1 x, for the three axes of `x` (num_nodes + 1 x 1). The spare element must be zero and
/// stays zero. Entries from num_active on, and all w, become zero. `workspace` has
/// PanelWorkspaceSize numbers, aligned to 16 bytes. Reads the values twice, with pins four times.
/// Does not allocate.
void SolvePanels(const PanelFactor& factor, std::span<float> workspace, std::span<NodeVec> x);

/// Marks the supernodes that x depends on at a node below num_active: its own and those on the
/// way to the root. `marks`: of supernodes (supernodes x 1).
void MarkPath(const PanelFactor& factor, uint32_t node, std::span<uint8_t> marks);

/// SolvePanels where all nodes that matter are on marked paths: those where the right-hand side is
/// not zero, and those where x is read. Other entries become any numbers. Reads the marked
/// supernodes' values twice. factor.pins must be null.
void SolveMarked(const PanelFactor& factor, std::span<const uint8_t> marks,
                 std::span<float> workspace, std::span<NodeVec> x);

/// Right-hand sides of SolvePoints.
inline constexpr size_t kPointLanes = 16;

/// SolveMarked for as many right-hand sides of single numbers (num_nodes x kPointLanes).
void SolvePoints(const PanelFactor& factor, std::span<const uint8_t> marks, float* x);

/// x := A^-1 x for all bodies and axes of `x` (num_nodes x 3 x 16). Entries from num_active on
/// become zero. Ignores factor.pins. Reads the values twice. Does not allocate.
void SolveCrowd(const PanelFactor& factor, float* x);

}  // namespace plush
