// SPDX-License-Identifier: MIT
// The tree over the triangles of a patch, which is nothing but their order [Civ 5.4.3].
#pragma once

#include "plush/format/cdg_records.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Bounds of a triangle whose corners have these weights.
BarycentricBox BoxOfTriangle(const std::array<Vec4, 3>& weights);

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
