// SPDX-License-Identifier: MIT
// A bounding volume hierarchy over triangles for box queries.
//
// The order in which trees over triangles keep them.
#pragma once

#include "base/vec3.h"
#include "mesh/box3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Numbers of the centres in an order that can be halved: the first half of it, rounded down, lies
/// before the second along the longest axis of the box of both, and so do the halves of either,
/// down to runs of at most four, which ascend. Centres count in single precision. O(n log n).
std::vector<uint32_t> OrderByHalves(std::span<const Vec3d> centres);

/// Implicit median-split tree of triangle boxes. Immutable and thread-safe once built.
class TriangleBvh {
 public:
  /// Builds in O(n log n). Indices must be in range and points finite.
  TriangleBvh(std::span<const Vec3d> points, std::span<const std::array<uint32_t, 3>> triangles);
  /// The same in O(n), with the triangles in an order that can be halved (OrderByHalves).
  TriangleBvh(std::span<const Vec3d> points, std::span<const std::array<uint32_t, 3>> triangles,
              std::span<const uint32_t> order);

  /// Box of triangle `t`.
  const Box3& box(uint32_t t) const { return boxes_[t]; }

  /// Sets *triangles to all triangles whose closed boxes overlap `box`, in ascending order, leaving
  /// out those below `first`.
  void FindOverlaps(const Box3& box, uint32_t first, std::vector<uint32_t>* triangles) const;

  /// A box in single precision, rounded outwards: half the memory to walk through.
  struct FloatBox {
    std::array<float, 3> low = {};
    std::array<float, 3> high = {};

    Box3 ToBox() const {
      Box3 box;
      box.low = {static_cast<double>(low[0]), static_cast<double>(low[1]),
                 static_cast<double>(low[2])};
      box.high = {static_cast<double>(high[0]), static_cast<double>(high[1]),
                  static_cast<double>(high[2])};
      return box;
    }
    /// Whether the closed boxes share a point.
    bool Overlaps(const FloatBox& other) const {
      return low[0] <= other.high[0] && other.low[0] <= high[0] && low[1] <= other.high[1] &&
             other.low[1] <= high[1] && low[2] <= other.high[2] && other.low[2] <= high[2];
    }
  };
  static FloatBox RoundOutwards(const Box3& box);

  /// Box of all triangles.
  FloatBox bounds() const { return nodes_.empty() ? FloatBox{} : nodes_[0].box; }

  /// Whether `is_hit` is true for a triangle whose box, as all boxes around it in the tree, passes
  /// `may_hit`. They take (const FloatBox&) and (uint32_t triangle). Stops at the first one.
  template <class MayHit, class IsHit>
  bool AnyOf(const MayHit& may_hit, const IsHit& is_hit) const;

 private:
  // Nodes in depth-first order: an inner node's first child follows it, `second_child` is the
  // other.
  struct Node {
    FloatBox box;
    uint32_t max_triangle = 0;  // largest index below
    uint32_t second_child = 0;  // 0 for a leaf
    uint32_t begin = 0;         // leaf: range of order_
    uint32_t end = 0;
  };

  Box3 Build(uint32_t begin, uint32_t end);

  std::vector<Box3> boxes_;      // (num_triangles x 1)
  std::vector<uint32_t> order_;  // triangles, leaf by leaf
  std::vector<Node> nodes_;
  std::vector<FloatBox> leaf_boxes_;  // in the order of order_

  // A median split halves every time: 2^32 triangles are 32 levels of at most one waiting node
  // each.
  static constexpr size_t kStackSize = 64;
};

template <class MayHit, class IsHit>
bool TriangleBvh::AnyOf(const MayHit& may_hit, const IsHit& is_hit) const {
  if (nodes_.empty()) return false;
  std::array<uint32_t, kStackSize> stack;
  size_t depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const uint32_t id = stack[--depth];
    const Node& node = nodes_[id];
    if (!may_hit(node.box)) continue;
    if (node.second_child != 0) {
      stack[depth++] = node.second_child;
      stack[depth++] = id + 1;
      continue;
    }
    for (uint32_t i = node.begin; i < node.end; ++i) {
      if (may_hit(leaf_boxes_[i]) && is_hit(order_[i])) return true;
    }
  }
  return false;
}

}  // namespace plush::tools
