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

/// A factor: structure and values.
struct PanelFactor {
  std::span<const Supernode> supernodes;
  std::span<const uint32_t> rows;
  std::span<const float> values;
  uint32_t num_nodes = 0;
  uint32_t num_active = 0;  ///< columns from here on belong to pinned nodes and are left out:
                            ///< num_nodes, or FactorView::num_free
  const PinSchur* pins = nullptr;  ///< more pinned nodes, or none
};

/// Size of a solve's workspace [floats]: three for each row of the longest pattern, then, for
/// factors with pins, four for each node and the spare one.
size_t PanelWorkspaceSize(std::span<const Supernode> supernodes, uint32_t num_nodes);

/// x := A^-1 x, for the three axes of `x` (num_nodes + 1 x 1), whose spare element must be zero and
/// stays so; entries from num_active on and all w become zero. `workspace`:
/// PanelWorkspaceSize numbers at an address aligned to 16 bytes. One pass over the values down, one
/// up, and with pins as many again; does not allocate.
void SolvePanels(const PanelFactor& factor, std::span<float> workspace, std::span<NodeVec> x);

/// x := A^-1 x for all bodies and axes of `x` (num_nodes x 3 x 16); entries from num_active on
/// become zero. Reads each value of the factor once on the way down and once on the way up. Does
/// not allocate.
void SolveCrowd(const PanelFactor& factor, float* x);

}  // namespace plush
