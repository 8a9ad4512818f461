// SPDX-License-Identifier: MIT
// Walks the two kinds of trees, nearer sub-trees first; skips what cannot beat the best result.
#pragma once

#include "plush/format/cdg_records.h"

#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace plush {

/// The bound of a sub-tree that holds nothing.
inline constexpr float kNothingThere = std::numeric_limits<float>::infinity();

/// Visits tets of the tree over the tets [Civ 5.4.4], nearer ones first. bound(node) is a lower
/// bound of what the sub-tree can give, or kNothingThere; sub-trees with more than limit() are left
/// out; visit(tet) may lower the limit. Does not allocate.
template <class Bound, class Limit, class Visit>
void WalkTetTree(std::span<const uint32_t> tree, Bound bound, Limit limit, Visit visit) {
  struct Waiting {
    uint32_t node;
    uint32_t first_leaf;
    float bound;
  };
  Waiting waiting[kMaxTreeDepth];
  uint32_t num_waiting = 0;
  Waiting now = {0, 0, bound(0)};
  for (;;) {
    if (now.bound <= limit()) {
      const uint32_t left = tree[now.node];
      if (left != 0) {
        Waiting near = {now.node + 1, now.first_leaf, bound(now.node + 1)};
        Waiting far = {now.node + 2 * left, now.first_leaf + left, bound(now.node + 2 * left)};
        if (far.bound < near.bound) std::swap(near, far);
        if (far.bound <= limit()) waiting[num_waiting++] = far;
        now = near;
        continue;
      }
      visit(now.first_leaf);
    }
    if (num_waiting == 0) return;
    now = waiting[--num_waiting];
  }
}

/// The same for the tree of a patch over triangles [begin, end) [Civ 5.4.3], whose nodes are
/// triangles: bound(i) is that of the sub-tree whose root is triangle i, visit(i) looks at triangle
/// i alone. Sub-trees of up to `at_once` >= 1 triangles are visited whole. Precondition: begin <
/// end.
template <class Bound, class Limit, class Visit>
void WalkPatchTree(uint32_t begin, uint32_t end, uint32_t at_once, Bound bound, Limit limit,
                   Visit visit) {
  struct Waiting {
    uint32_t begin;
    uint32_t end;
    float bound;
  };
  Waiting waiting[40];  // ranges halve: no path is longer than 33
  uint32_t num_waiting = 0;
  Waiting now = {begin, end, bound(begin)};
  for (;;) {
    if (now.bound <= limit()) {
      if (now.end - now.begin > at_once) {
        visit(now.begin);
        const uint32_t middle = PatchTreeMiddle(now.begin, now.end);
        Waiting near = {now.begin + 1, middle, bound(now.begin + 1)};
        Waiting far = {middle, now.end, middle < now.end ? bound(middle) : kNothingThere};
        if (far.bound < near.bound) std::swap(near, far);
        if (far.bound <= limit()) waiting[num_waiting++] = far;
        now = near;
        continue;
      }
      for (uint32_t i = now.begin; i < now.end; ++i) visit(i);
    }
    if (num_waiting == 0) return;
    now = waiting[--num_waiting];
  }
}

}  // namespace plush
