// SPDX-License-Identifier: MIT
// Walks the two kinds of trees, nearer sub-trees first. Skips those that cannot beat the best
// result.
#pragma once

#include "plush/format/cdg_records.h"

#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace plush {

/// Bound of a sub-tree that holds nothing.
inline constexpr float kNothingThere = std::numeric_limits<float>::infinity();

/// Sub-trees of at most this many triangles are tested whole by rays and points: bounds would cost
/// more than they save (measured for rays at 1, 2, 3, 5 and 7).
inline constexpr uint32_t kTestedAtOnce = 3;

/// Visits tets of the tree over the tets [Civ 5.4.4], nearer ones first. Does not allocate.
/// - bound(node): a lower bound of any result in the sub-tree, or kNothingThere.
/// - limit(): sub-trees with a larger bound are skipped.
/// - visit(tet): may lower the limit.
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

/// WalkTetTree for a patch's tree over triangles [begin, end), begin < end [Civ 5.4.3]. The tree's
/// nodes are triangles.
/// - bound(i): the bound of the sub-tree whose root is triangle i.
/// - visit(i): tests triangle i alone.
/// - at_once >= 1: sub-trees of up to this many triangles are visited whole.
template <class Bound, class Limit, class Visit>
void WalkPatchTree(uint32_t begin, uint32_t end, uint32_t at_once, Bound bound, Limit limit,
                   Visit visit) {
  struct Waiting {
    uint32_t begin;
    uint32_t end;
    float bound;
  };
  Waiting waiting[40];  // ranges halve, so no path is longer than 33
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
