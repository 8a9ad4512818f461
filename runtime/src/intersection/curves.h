// SPDX-License-Identifier: MIT
// Curves in which two surfaces intersect [Civ 5.5.1].
//
// Deviation: the segments of triangle pairs are joined by sorting their ends' keys and not by
// distances. Two triangles share an edge; so on closed surfaces each key is the end of one segment
// and the start of the next, and every curve closes.
#pragma once

#include "intersection/triangle_pairs.h"

#include <cstdint>
#include <span>

namespace plush {

struct Curve {
  uint32_t first = 0;   ///< first of its pairs in the order of CurveScratch::order
  uint32_t count = 0;   ///< number of its pairs
  bool closed = false;  ///< false: an arc that ends at open borders
  double length = 0.0;  ///< [m]
  double area[3] = {};  ///< 1/2 sum p_i x p_i+1 about its first point [m^2, Civ Eq. 5.4]
};

/// One end of one pair's segment.
struct CurveEnd {
  Piercing key;
  uint32_t pair = 0;
  bool is_start = false;
};

/// Memory of FindCurves for n pairs. The caller owns it and may reuse it.
struct CurveScratch {
  std::span<CurveEnd> ends;         ///< 2n x 1
  std::span<uint32_t> next;         ///< n x 1, the pair that follows, kNoPair at an open border
  std::span<uint32_t> order;        ///< n x 1, out: the pairs, curve by curve along each curve
  std::span<uint8_t> has_previous;  ///< n x 1
};

inline constexpr uint32_t kNoPair = ~0u;

/// Joins `pairs` and writes the curves to `curves`: arcs, then loops, each by its first pair.
/// Returns their number, or kNoPair if `curves` or the scratch is too small. Allocates nothing.
uint32_t FindCurves(std::span<const TrianglePair> pairs, const CurveScratch& scratch,
                    std::span<Curve> curves);

}  // namespace plush
