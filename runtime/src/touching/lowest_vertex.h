// SPDX-License-Identifier: MIT
// The lowest of many vertices, and which tets may have one, in vectors.
#pragma once

#include "plush/format/cdg_records.h"
#include "plush/types.h"

#include "base/float4.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace plush {

/// A vertex and its gap from a plane.
struct LowVertex {
  uint32_t index = 0;
  float gap = 0.0f;  ///< [m]
};

/// A number of a vertex, such as its gap, from those of its tet's nodes (4 x 1).
inline float MeanOf(const float* of_nodes, const Vec4& weights) {
  return weights.x * of_nodes[0] + weights.y * of_nodes[1] + weights.z * of_nodes[2] +
         weights.w * of_nodes[3];
}

/// Of vertices with these weights (count x 1), the one with the least gap, from the gaps of its
/// tet's nodes [m] (4 x 1); of equal ones the first. Ignores NaN. The gap is infinite if there is
/// none.
LowVertex LowestVertex(std::span<const Vec4> weights, const float* gaps);

/// Of sums of four products, as a share of the largest term.
inline constexpr float kRoundingOfSums = 16.0f * std::numeric_limits<float>::epsilon();

/// Lower and upper bounds.
struct Range {
  float low, high;
};

/// Bounds of sum w_i numbers_i for weights in [low, high] (4 x 1) whose sum is 1, rounding
/// included: the dual programs of collision/barycentric_bounds.h, for the four k in the lanes.
inline Range RangeIn(const Float4& numbers, const float* low, const float* high) {
  Float4 lowest = numbers, highest = numbers;
  float sum = 0.0f;
  for (int i = 0; i < 4; ++i) {
    const Float4 difference = Broadcast(numbers[i]) - numbers;
    const Float4 a = difference * Broadcast(low[i]), b = difference * Broadcast(high[i]);
    lowest = lowest + Min(a, b);
    highest = highest + Max(a, b);
    sum += std::fabs(numbers[i]);
  }
  return {GreatestOf(lowest) - kRoundingOfSums * sum, LeastOf(highest) + kRoundingOfSums * sum};
}

/// The lower one of these.
inline float LowestIn(const Float4& numbers, const float* low, const float* high) {
  return RangeIn(numbers, low, high).low;
}

/// CdgTets near a plane, and their vertices' lowest gaps when they were last searched.
struct NearTets {
  static constexpr uint32_t kCount = 16;
  static constexpr float kBeforeSearch = -std::numeric_limits<float>::infinity();

  uint32_t tets[kCount] = {};
  float lowest[kCount] = {};    ///< [m], or kBeforeSearch
  float gaps[4][kCount] = {};   ///< of the nodes then [m]
  float floor = kBeforeSearch;  ///< no vertex is lower while no node falls [m]
};

/// Which of the first `count` of these tets have a node below -`depth`, and may have a vertex
/// there: none has come down by more than a node has. A bit each. Sets `floor` to a bound for the
/// other tets' vertices, but for rounding. `gaps`: of the nodes now [m] (num_nodes x 1).
uint32_t LowTets(uint32_t count, std::span<const CdgTet> tets, const float* gaps, float depth,
                 NearTets* near);

/// Leaves out points on a node that a chosen one has taken. `taken`: its tet's nodes (4 x 1).
/// `nodes`: of the points, in whole vectors of up to 16 (count x 1). `gaps`: becomes infinite for
/// those left out (count x 1). Returns the lowest of the others, of equal ones the first.
LowVertex LowestBeside(const uint32_t* taken, const uint32_t* nodes, size_t count, float* gaps);

}  // namespace plush
