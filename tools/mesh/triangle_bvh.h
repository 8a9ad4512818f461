// SPDX-License-Identifier: MIT
// A bounding volume hierarchy over triangles for box queries, and the order of its leaves.
#pragma once

#include "base/vec3.h"
#include "mesh/box3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Indices of the centres, sorted for a tree of halves. The first half (rounded down) lies before
/// the second along the longest axis of their common box. So does each half of a half, down to runs
/// of at most four, which ascend. Compares in single precision. O(n log n).
std::vector<uint32_t> OrderByHalves(std::span<const Vec3d> centres);

/// Implicit median-split tree of triangle boxes. Immutable and thread-safe once built.
class TriangleBvh {
 public:
  /// Builds in O(n log n). Indices must be in range and points finite.
  TriangleBvh(std::span<const Vec3d> points, std::span<const std::array<uint32_t, 3>> triangles);
  /// The same in O(n), from an order that OrderByHalves made.
  TriangleBvh(std::span<const Vec3d> points, std::span<const std::array<uint32_t, 3>> triangles,
              std::span<const uint32_t> order);

  const Box3& box(uint32_t t) const { return boxes_[t]; }

  /// Sets *triangles to all triangles from number `first` on whose closed boxes overlap `box`,
  /// ascending.
  void FindOverlaps(const Box3& box, uint32_t first, std::vector<uint32_t>* triangles) const;

  /// A box in single precision, rounded outwards: half the memory traffic.
  struct FloatBox {
    std::array<float, 3> low = {};
    std::array<float, 3> high = {};

    Box3 ToBox() const { return {{low[0], low[1], low[2]}, {high[0], high[1], high[2]}}; }
    /// Whether the closed boxes share a point.
    bool Overlaps(const FloatBox& other) const {
      return low[0] <= other.high[0] && other.low[0] <= high[0] && low[1] <= other.high[1] &&
             other.low[1] <= high[1] && low[2] <= other.high[2] && other.low[2] <= high[2];
    }
  };
  static FloatBox RoundOutwards(const Box3& box);

  /// Box of all triangles.
  FloatBox bounds() const { return nodes_.empty() ? FloatBox{} : nodes_[0].box; }

  /// Whether is_hit(uint32_t triangle) is true for any triangle. Skips boxes, of the tree and of
  /// triangles, for which may_hit(const FloatBox&) is false. Stops at the first hit.
  template <class MayHit, class IsHit>
  bool AnyOf(const MayHit& may_hit, const IsHit& is_hit) const;

 private:
  // In depth-first order: the first child of an inner node follows it.
  struct Node {
    FloatBox box;
    uint32_t max_triangle = 0;  // largest triangle index in the subtree
    uint32_t second_child = 0;  // 0 for a leaf
    uint32_t begin = 0;         // leaf: range of order_
    uint32_t end = 0;
  };

  Box3 Build(uint32_t begin, uint32_t end);
  // Skips nodes that `enter` refuses, with their descendants. Calls visit(i) for each place i of
  // order_ in the leaves, until it returns true. Returns whether it did.
  template <class Enter, class Visit>
  bool Walk(const Enter& enter, const Visit& visit) const;

  std::vector<Box3> boxes_;      // (num_triangles x 1)
  std::vector<uint32_t> order_;  // triangles, leaf by leaf
  std::vector<Node> nodes_;
  std::vector<FloatBox> leaf_boxes_;  // in the order of order_
};

template <class Enter, class Visit>
bool TriangleBvh::Walk(const Enter& enter, const Visit& visit) const {
  if (nodes_.empty()) return false;
  // 2^32 triangles give 32 levels, with at most one waiting node each.
  std::array<uint32_t, 64> stack;
  size_t depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const uint32_t id = stack[--depth];
    const Node& node = nodes_[id];
    if (!enter(node)) continue;
    if (node.second_child != 0) {
      stack[depth++] = node.second_child;
      stack[depth++] = id + 1;
      continue;
    }
    for (uint32_t i = node.begin; i < node.end; ++i) {
      if (visit(i)) return true;
    }
  }
  return false;
}

template <class MayHit, class IsHit>
bool TriangleBvh::AnyOf(const MayHit& may_hit, const IsHit& is_hit) const {
  return Walk([&](const Node& node) { return may_hit(node.box); },
              [&](uint32_t i) { return may_hit(leaf_boxes_[i]) && is_hit(order_[i]); });
}

}  // namespace plush::tools
