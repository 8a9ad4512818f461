// SPDX-License-Identifier: MIT
// The lowest of many vertices, in vectors.
#pragma once

#include "plush/types.h"

#include <cstddef>
#include <cstdint>
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

}  // namespace plush
