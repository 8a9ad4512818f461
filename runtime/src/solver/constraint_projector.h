// SPDX-License-Identifier: MIT
// The projector S on displacements of nodes that obey linear constraints C u = 0.
// Based on:
// Oscar Civit-Flores. Interactive simulation of detailed deformable solids with the corotational
//   finite element method. Thesis. (3.4.2.1: Eq. 3.42 to 3.45)
//
// The thesis projects on one constraint after the other with I - H^T H. That is a projector only if
// no node is in two constraints, and only for rows of length 1. Here, Gram-Schmidt turns all rows
// into orthonormal ones, Q = T C, and S = I - Q^T Q: S^2 = S = S^T for any set of rows.
#pragma once

#include "plush/allocator.h"
#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// A row of C: sum_k weights[k] direction . u[nodes[k]], of nodes that may be equal.
struct ConstraintRow {
  uint32_t nodes[4] = {};
  float weights[4] = {};
  Vec3 direction;  ///< unit
};

/// Rows, made orthonormal in the order in which they are added. Double precision.
class ConstraintProjector {
 public:
  /// A row whose part outside the span of earlier rows is a smaller share of its length depends on
  /// them, and is dropped: float positions are too coarse to hold it too.
  static constexpr double kLeastShare = 1.0e-2;

  /// Makes room for `num_rows` rows, which have up to `most_nodes` of `num_nodes` nodes, and has no
  /// rows. Returns false, with nothing changed, if the allocator fails.
  bool Reserve(const Allocator& allocator, size_t num_rows, size_t most_nodes, size_t num_nodes);

  void Clear() { num_rows_ = 0; }

  /// Adds a row, unless it depends on earlier ones. Returns whether it did. Does not allocate.
  bool Add(const ConstraintRow& row);

  size_t num_rows() const { return num_rows_; }

  /// v := S v. `lengths` := Q v of before (num_rows x 1).
  void Project(std::span<NodeVec> v, std::span<double> lengths) const;

  /// Adds the shortest u for which C u = `lengths` (num_rows x 1): add(node, displacement).
  template <class Add>
  void Move(std::span<const double> lengths, const Add& add) const {
    for (size_t i = 0; i < num_rows_; ++i) {
      double along = 0.0;
      for (size_t j = 0; j <= i; ++j) along += mix_[capacity_ * i + j] * lengths[j];
      for (const Entry& entry : Row(i)) {
        add(entry.node,
            Vec3{static_cast<float>(entry.at[0] * along), static_cast<float>(entry.at[1] * along),
                 static_cast<float>(entry.at[2] * along)});
      }
    }
  }

  /// The multipliers p of the rows for which C^T p = Q^T `lengths` (num_rows x 1, in place).
  void FindMultipliers(std::span<double> lengths) const;

  /// What row `i` of Q has at a node.
  struct Entry {
    double at[3];
    uint32_t node;
  };
  std::span<const Entry> Row(size_t i) const {
    return entries_.span().subspan(first_[i], first_[i + 1] - first_[i]);
  }

 private:
  size_t capacity_ = 0;
  size_t num_rows_ = 0;
  Array<Entry> entries_;
  Array<size_t> first_;  // of each row in `entries_`, and the end (capacity + 1 x 1)
  Array<double> mix_;    // T, lower triangular (capacity x capacity)
  // Scratch memory.
  Array<double> row_;      // zeros between calls (3 num_nodes x 1)
  Array<uint8_t> is_in_;   // zeros between calls (num_nodes x 1)
  Array<uint32_t> nodes_;  // (num_nodes x 1)
};

}  // namespace plush
