// SPDX-License-Identifier: MIT
// Union-find.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace plush::tools {

/// Disjoint sets of the numbers 0 .. n-1. The lowest number names a set, so the order of joining
/// does not matter.
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
