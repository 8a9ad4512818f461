// SPDX-License-Identifier: MIT
// The two levels of bounding trees: one over the tets that hold patches [Civ 5.4.4], and one over
// the triangles of each patch, which is only their order [Civ 5.4.3].
#pragma once

#include "plush/format/cdg_records.h"

#include "base/vec3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Extent of a set of points along x, y, z and the four diagonals of a cube: a 14-DOP.
struct Dop14 {
  std::array<double, 7> low;
  std::array<double, 7> high;

  Dop14();  ///< empty: low above high
  void Add(const Vec3d& point);
  void Add(const Dop14& other);
  /// Volume [m^3]: that of the box less the corners that the diagonals cut off, each on its own,
  /// so that it is exact where the cuts do not meet and too small otherwise; never below zero.
  double Volume() const;
};

/// A binary tree over leaves: in preorder the number of leaves under each node's left child, 0 for
/// a leaf; the leaves' numbers in order.
struct CoarseTree {
  std::vector<uint32_t> left_counts;  ///< (2 num_leaves - 1 x 1)
  std::vector<uint32_t> leaves;       ///< (num_leaves x 1)
};

/// Builds the tree bottom-up, always joining the two nodes whose union has the smallest volume;
/// above kMaxExact leaves within groups of neighbours (halved at the median along the longest
/// axis), whose roots are joined the same way. The tree is at most kMaxTreeDepth - 1 deep: where
/// joining would exceed it, it is halved instead. O(n^2) up to kMaxExact, then O(n log n + n
/// kMaxExact).
CoarseTree BuildCoarseTree(std::span<const Dop14> leaves);

/// Leaves that are joined exactly.
inline constexpr size_t kMaxExact = 1000;

/// Bounds of points with these weights (at least one).
BarycentricBox BoxOf(std::span<const Vec4> weights);

/// Smallest box around both.
BarycentricBox Union(const BarycentricBox& a, const BarycentricBox& b);

/// The tree over a patch's triangles.
struct PatchTree {
  std::vector<uint32_t> order;   ///< the patch's triangles (0 .. n - 1) as they are to be stored
  std::vector<uint64_t> bounds;  ///< of the range that starts at each place, quantised
};

/// Orders triangles with these boxes so that every range of the implicit tree (PatchTreeMiddle)
/// starts with the triangle of the largest extent, and the others are parted at the median of their
/// middles along the range's longest interval. O(n log^2 n), deterministic.
PatchTree BuildPatchTree(std::span<const BarycentricBox> boxes);

}  // namespace plush::tools
