// SPDX-License-Identifier: MIT
// How nodes that touch something answer impulses on each other, through the splitting step's
// constant matrix: S_ij = (A^-1)_ij, the same for the three axes.
#pragma once

#include "plush/allocator.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "solver/panel_solve.h"
#include "solver/system_matrix.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// A factor, and the matrix it belongs to.
struct FactoredSystem {
  SystemView system;
  PanelFactor factor;
  std::span<float> workspace;  ///< of solves (PanelWorkspaceSize x 1)
  uint64_t id = 0;             ///< identifies the factor among those of its matrix; never 0
};

/// Most nodes of a body that can touch something at once: all of a small body.
constexpr uint32_t MostTouchingNodes(uint32_t num_nodes) {
  const uint32_t most = 192 + num_nodes / 16;
  return num_nodes < most ? num_nodes : most;
}

/// The block of A^-1 between some nodes, each in a slot. Kept between solves: a new node costs a
/// third of a solve with A. A pair's value comes from the column of the later node, so its rounding
/// depends on the order.
struct NodeCouplings {
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  uint64_t factor_id = 0;        ///< of the factor it belongs to, or 0
  uint32_t num_slots = 0;        ///< at most `node_of_slot.size()`
  uint32_t stride = 0;           ///< of rows
  Array<float> values;           ///< symmetric [1/kg] (capacity x stride)
  Array<uint32_t> slot_of_node;  ///< or kNoSlot (num_nodes x 1)
  Array<uint32_t> node_of_slot;  ///< (capacity x 1)
  // Scratch memory.
  Array<uint8_t> used;     ///< whether the current solve needs the slot (capacity x 1)
  Array<NodeVec> columns;  ///< of A^-1 (num_nodes + 1 x 1)

  /// Allocates everything. Returns false if the allocator fails.
  bool Allocate(const Allocator& allocator, uint32_t num_nodes);

  /// Forgets all nodes.
  void Forget();

  /// Gives a node without a slot the next one, without values. There must be a free one.
  void AddSlot(uint32_t node);

  const float* Row(uint32_t slot) const { return &values[size_t{stride} * slot]; }
  float* Row(uint32_t slot) { return &values[size_t{stride} * slot]; }

  /// Makes slots for `nodes`: ascending, may repeat, and at most as many different ones as there
  /// are slots. Forgets other nodes if they are many. Does not allocate.
  void Find(const FactoredSystem& system, std::span<const uint32_t> nodes);

 private:
  void KeepUsed();
  void SolveNew(const FactoredSystem& system, uint32_t first);
};

}  // namespace plush
