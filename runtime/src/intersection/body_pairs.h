// SPDX-License-Identifier: MIT
// Triangles of two deformed bodies that intersect.
//
// Patches have vertices of their own. At a border of two patches those have the same positions, to
// the bit (collision/vertex_positions.h), so the signs agree; and neighbours tell which edges are
// one. No map of a body's vertices is needed.
#pragma once

#include "collision/candidate_pairs.h"
#include "intersection/placed_patches.h"
#include "intersection/triangle_pairs.h"

#include <cstdint>
#include <span>

namespace plush {

/// Pairs that FindBodyPairs tested and found.
struct BodyPairCount {
  uint32_t candidates = 0;
  uint32_t pairs = 0;     ///< written
  bool complete = false;  ///< false: `pairs` was too small, the search stopped
};

/// Writes all pairs of a triangle of `moved` and one of `fixed` that intersect, in the coordinates
/// of `moved`. `placed`: memory for patches of both, or none; then only trees are searched, which
/// gives the same pairs in another order. Both may be the same body. It then meets a copy of
/// itself that is moved symbolically, as ties are, so neighbouring triangles intersect, too. Each
/// pair in which the body overlaps itself is found in both orders. Does not allocate.
BodyPairCount FindBodyPairs(const PlacedBody& moved, const PlacedBody& fixed,
                            std::span<PlacedPatches> placed, std::span<TrianglePair> pairs);

}  // namespace plush
