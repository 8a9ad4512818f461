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

/// A vertex's gap [m] from those of its tet's nodes (4 x 1).
inline float MeanGap(const float* gaps, const Vec4& weights) {
  return weights.x * gaps[0] + weights.y * gaps[1] + weights.z * gaps[2] + weights.w * gaps[3];
}

/// The vertex with the least MeanGap; of equal ones the first. Ignores NaN. The gap is infinite if
/// there is none.
LowVertex LowestVertex(std::span<const Vec4> weights, const float* gaps);

}  // namespace plush
