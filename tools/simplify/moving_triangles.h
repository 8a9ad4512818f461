// SPDX-License-Identifier: MIT
// Finds the triangles near a box while triangles move and vanish.
#pragma once

#include "base/vec3.h"
#include "mesh/box3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// A balanced tree of boxes. Triangles keep their places in it: the farther they move, the slower
/// searches get.
class MovingTriangles {
 public:
  /// O(n log n).
  MovingTriangles(std::span<const Vec3d> points,
                  std::span<const std::array<uint32_t, 3>> triangles);

  /// Changes the box of a triangle; an empty box takes it out. O(log n).
  void Set(uint32_t triangle, const Box3& box);

  /// Calls visit(triangle) for each triangle whose closed box overlaps `box`, until it returns
  /// true. Returns whether it did.
  template <class Visit>
  bool AnyOverlap(const Box3& box, const Visit& visit) const {
    return AnyOverlap(box, visit, 1);
  }

 private:
  template <class Visit>
  bool AnyOverlap(const Box3& box, const Visit& visit, size_t node) const {
    if (!boxes_[node].Overlaps(box)) return false;
    if (node >= num_leaves_) return visit(triangle_of_leaf_[node - num_leaves_]);
    return AnyOverlap(box, visit, 2 * node) || AnyOverlap(box, visit, 2 * node + 1);
  }

  size_t num_leaves_ = 1;  // a power of two
  std::vector<uint32_t> triangle_of_leaf_;
  std::vector<uint32_t> leaf_of_triangle_;
  std::vector<Box3> boxes_;  // the children of node n are 2 n and 2 n + 1; leaves come last
};

}  // namespace plush::tools
