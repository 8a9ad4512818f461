// SPDX-License-Identifier: MIT
// Union-find.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace plush::tools {

/// Disjoint sets of the numbers 0 .. n-1. A set is named by its lowest number, so results do not
/// depend on the order of joining.
class DisjointSets {
 public:
  explicit DisjointSets(uint32_t n) : parent_(n) {
    std::iota(parent_.begin(), parent_.end(), uint32_t{0});
  }

  /// Lowest number of x's set. Amortised O(log n).
  uint32_t Find(uint32_t x) {
    while (parent_[x] != x) {
      parent_[x] = parent_[parent_[x]];
      x = parent_[x];
    }
    return x;
  }

  /// Joins the sets of a and b; false if they are already the same set.
  bool Join(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return false;
    parent_[std::max(a, b)] = std::min(a, b);
    return true;
  }

 private:
  std::vector<uint32_t> parent_;
};

}  // namespace plush::tools
