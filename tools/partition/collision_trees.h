// SPDX-License-Identifier: MIT
// The two levels of bounding trees: one over the tets that hold patches [Civ 5.4.4], and one over
// the triangles of each patch. The latter is stored as an order of triangles [Civ 5.4.3].
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
  /// Volume [m^3]: the box less each corner that a diagonal cuts off. Exact if the cuts do not
  /// overlap, too small otherwise; never below zero.
  double Volume() const;
};

/// A binary tree over leaves. left_counts is in preorder: the number of leaves under each node's
/// left child, 0 for a leaf.
struct CoarseTree {
  std::vector<uint32_t> left_counts;  ///< (2 num_leaves - 1 x 1)
  std::vector<uint32_t> leaves;       ///< in the order of the tree (num_leaves x 1)
};

/// Builds the tree bottom-up: joins the two nodes whose union has the smallest volume until one is
/// left. Above kMaxExact leaves it joins within groups of neighbours (halved at the median along
/// the longest axis), then the groups' roots. The tree is at most kMaxTreeDepth - 1 deep: if
/// joining exceeds that, all leaves are halved top-down instead. O(n^2) up to kMaxExact, then O(n
/// log n + n kMaxExact).
CoarseTree BuildCoarseTree(std::span<const Dop14> leaves);

/// Largest set that is joined by comparing all pairs.
inline constexpr size_t kMaxExact = 1000;

/// Bounds of points with these weights (at least one).
BarycentricBox BoxOf(std::span<const Vec4> weights);

BarycentricBox Union(const BarycentricBox& a, const BarycentricBox& b);

struct PatchTree {
  std::vector<uint32_t> order;   ///< the patch's triangles (0 .. n - 1) as they are to be stored
  std::vector<uint64_t> bounds;  ///< of the range that starts at each place, quantised
};

/// Orders triangles with these boxes into the implicit tree (PatchTreeMiddle). Every range starts
/// with its triangle of the largest extent; the others are split at the median of their middles
/// along the range's longest interval. O(n log^2 n), deterministic.
PatchTree BuildPatchTree(std::span<const BarycentricBox> boxes);

}  // namespace plush::tools
