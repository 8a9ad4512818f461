// SPDX-License-Identifier: MIT
// Extents of a deformed barycentric box along several directions at once.
//
// The least of sum xi_i p_i over a_i <= xi_i <= b_i, sum xi_i = 1 is a linear program. By duality
// it is the greatest over k of
//   p_k + sum_i min(a_i (p_i - p_k), b_i (p_i - p_k)),
// which needs neither branches nor an order of the p_i. [Civ, Eq. 5.1, 5.2] sort the p_i; their
// bound is exact only while the weight left for a middle node stays inside its interval. This one
// is never wider (tests/runtime/collision has both) and as fast: 8.4 ns, against 8.6 ns with a
// sorting network, for four directions in SSE2 lanes (bounds/exact and bounds/civ in tests/bench).
//
// Rounding, with u = 2^-24 and M the largest |x| + |y| + |z| of the four nodes:
// - For the k that attains the maximum, and any within rounding of it, the terms are those of an
//   admissible xi. Differences and products err by 2 u M each. The three additions, whose partial
//   sums are convex combinations of the p_i, err by u M each. In all 7 u M.
// - The projections p_i err by 2 u M, weights stored in float miss the sum 1 by u, and a vertex
//   placed by VertexPosition errs by 4 u M.
// The total is 14 u M. kBoundsWidening is 8 epsilon = 16 u, which leaves room for the rounding of
// adding it.
#pragma once

#include "base/float4.h"

#include <limits>

namespace plush {

/// Share of M by which extents are widened, so that they hold all vertices as placed.
inline constexpr float kBoundsWidening = 8.0f * std::numeric_limits<float>::epsilon();

/// Extents in four directions.
struct LaneBounds {
  Float4 low;
  Float4 high;
};

/// Bounds of sum xi_i p_i for xi_i in [low[i], high[i]], sum xi_i = 1; p[i] holds node i's
/// projections. Not widened. If no such xi exists, the result may not be an interval.
inline LaneBounds BoundBox(const Float4 p[4], const float low[4], const float high[4]) {
  LaneBounds bounds;
  for (int k = 0; k < 4; ++k) {
    Float4 least = p[k], greatest = p[k];
    for (int i = 0; i < 4; ++i) {
      if (i == k) continue;
      const Float4 difference = p[i] - p[k];
      const Float4 at_low = difference * Broadcast(low[i]);
      const Float4 at_high = difference * Broadcast(high[i]);
      least = least + Min(at_low, at_high);
      greatest = greatest + Max(at_low, at_high);
    }
    bounds.low = k == 0 ? least : Max(bounds.low, least);
    bounds.high = k == 0 ? greatest : Min(bounds.high, greatest);
  }
  return bounds;
}

}  // namespace plush
