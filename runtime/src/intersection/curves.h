// SPDX-License-Identifier: MIT
// Curves in which two surfaces intersect [Civ 5.5.1].
//
// Deviation: the segments of triangle pairs are joined by equal keys of their ends, which a hash
// table finds, and not by distances. Two triangles share an edge; so on closed surfaces each key is
// the end of one segment and the start of the next, and every curve closes.
#pragma once

#include "intersection/triangle_pairs.h"

#include <bit>
#include <cstddef>
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

inline constexpr uint32_t kNoPair = ~0u;

/// A place where segments end and start.
struct Joint {
  Piercing key;
  uint32_t end = kNoPair;    ///< the last pair that ends here
  uint32_t start = kNoPair;  ///< the first pair that starts here
};

/// How many joints FindCurves needs for n pairs.
constexpr size_t MostJoints(size_t n) { return std::bit_ceil(2 * n + 1); }

/// Memory of FindCurves for n pairs. The caller owns it and may reuse it.
struct CurveScratch {
  std::span<Joint> joints;          ///< MostJoints(n) x 1
  std::span<uint32_t> next;         ///< n x 1, the pair that follows, kNoPair at an open border
  std::span<uint32_t> order;        ///< n x 1, out: the pairs, curve by curve along each curve
  std::span<uint8_t> has_previous;  ///< n x 1
};

/// Joins `pairs` and writes the curves to `curves`: arcs, then loops, each by its first pair.
/// Returns their number, or kNoPair if `curves` or the scratch is too small. Allocates nothing.
uint32_t FindCurves(std::span<const TrianglePair> pairs, const CurveScratch& scratch,
                    std::span<Curve> curves);

}  // namespace plush
