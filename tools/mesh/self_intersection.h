// SPDX-License-Identifier: MIT
// Finds triangles of a surface that pass through each other.
#pragma once

#include "base/vec3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Two triangles that share more than a corner or an edge.
struct TrianglePair {
  uint32_t first = 0;   ///< the lower index
  uint32_t second = 0;  ///< the higher one
  Vec3d near;           ///< centre of the overlap of their boxes, near the intersection [m]

  bool operator==(const TrianglePair& other) const {
    return first == other.first && second == other.second;
  }
};

struct SelfIntersections {
  std::vector<TrianglePair> pairs;  ///< ascending by (first, second)
  bool complete = true;             ///< false if the search reached its limit: there may be more
};

/// Whether two triangles, each with three different corners, share a point beyond the corners and
/// edges that they share by index. Exact. False for triangles with the same three corners.
bool MeetBeyondShared(std::span<const Vec3d> points, const std::array<uint32_t, 3>& a,
                      const std::array<uint32_t, 3>& b);

/// Finds all pairs for which MeetBeyondShared is true. Touching and coplanar overlap count.
/// Preconditions: indices in range; finite, pairwise different (welded) points; triangles of
/// positive area. Stops at 100,000 pairs or after 64 n + 5,000,000 box overlaps, so that hostile
/// input ends too. Same result on every machine.
SelfIntersections FindSelfIntersections(std::span<const Vec3d> points,
                                        std::span<const std::array<uint32_t, 3>> triangles);

}  // namespace plush::tools
