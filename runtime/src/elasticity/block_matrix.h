// SPDX-License-Identifier: MIT
// A symmetric matrix with a 3x3 block for each pair of nodes that share a tet [Rio].
//
// Rows have all of their blocks: products then write each node once, and take four blocks of a row
// at a time. With the blocks above the diagonal alone they would move half of the memory, but add
// to nodes all over the array.
//
// A group is four blocks of a row: column 0 of all four, then 1, then 2, 12 NodeVecs with w = 0.
// The first block of a row is its diagonal one. Places without a block are zero, of the spare node.
#pragma once

#include "plush/allocator.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "elasticity/elements.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Blocks of a group.
inline constexpr size_t kGroupBlocks = 4;
/// NodeVecs of a group.
inline constexpr size_t kGroupVectors = 3 * kGroupBlocks;
/// Ordered pairs of a tet's nodes.
inline constexpr size_t kTetPairs = 12;

/// Number of the pair of nodes `row` and `column` of a tet, 0 to 3 each and different.
constexpr size_t PairOf(size_t row, size_t column) {
  return 3 * row + (column < row ? column : column - 1);
}

struct BlockMatrix {
  Array<uint32_t> groups;   ///< the first one of each row, and the end (num_nodes + 1 x 1)
  Array<uint32_t> columns;  ///< nodes of the groups' blocks (4 num_groups x 1)
  /// The first vectors, in `values`, of the blocks of tets' pairs, by block of tets, pair and lane:
  /// the others are kGroupBlocks and 2 kGroupBlocks behind it. Places without a tet have the spare
  /// group (12 x 16 num_blocks).
  Array<uint32_t> places;
  Array<NodeVec> values;  ///< (12 num_groups + 12 x 1); the last group is a spare one

  bool any() const { return groups.size() > 0; }
  size_t num_rows() const { return groups.size() - 1; }

  /// Finds the pattern for a mesh of `num_nodes` nodes. Returns false, with nothing changed, if the
  /// allocator fails.
  bool Reserve(const Allocator& allocator, const ElementView& elements, size_t num_nodes);

  /// Makes all blocks zero. Does not allocate.
  void Clear();

  /// Adds a block, by columns, that is not on the diagonal.
  void Add(uint32_t place, const Mat3& block) {
    values[place] += block.c0;
    values[place + kGroupBlocks] += block.c1;
    values[place + 2 * kGroupBlocks] += block.c2;
  }

  /// Sets the diagonal blocks so that each row's blocks sum to zero: tets resist no translation.
  /// Does not allocate.
  void CloseRows();

  /// Adds a multiple of the identity to a diagonal block.
  void AddToDiagonal(size_t row, float value) {
    NodeVec* const block = &values[kGroupVectors * groups[row]];
    block[0].x += value;
    block[kGroupBlocks].y += value;
    block[2 * kGroupBlocks].z += value;
  }

  /// out = matrix times x (num_nodes + 1 x 1 each), zero in the spare element. Does not allocate.
  void Multiply(std::span<const NodeVec> x, std::span<NodeVec> out) const;
};

}  // namespace plush
