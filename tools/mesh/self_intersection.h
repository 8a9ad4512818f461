// SPDX-License-Identifier: MIT
// Which triangles of one surface pass through each other.
#pragma once

#include "base/vec3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Two triangles with a point in common that is not just a shared corner or edge.
struct TrianglePair {
  uint32_t first = 0;   ///< the lower index
  uint32_t second = 0;  ///< the higher one
  Vec3d near;           ///< middle of the boxes' overlap: near the intersection [m]

  bool operator==(const TrianglePair& other) const {
    return first == other.first && second == other.second;
  }
};

/// What was found.
struct SelfIntersections {
  std::vector<TrianglePair> pairs;  ///< ascending by (first, second)
  bool complete = true;             ///< false where the work ran into its bound: there may be more
};

/// Whether two triangles of one surface, with three different corners each, share a point beyond
/// the corners and edges that they share by index; never true for two with the same three corners.
/// Exact.
bool MeetBeyondShared(std::span<const Vec3d> points, const std::array<uint32_t, 3>& a,
                      const std::array<uint32_t, 3>& b);

/// Finds the pairs, exactly: triangles count as closed sets; two that share a point or an edge by
/// index count where they meet beyond it (coplanar overlap included); two with the same three
/// corners do not count. Preconditions: indices in range, finite points that are pairwise different
/// (welded), triangles of positive area. Stops at 100 000 pairs or 64 n + 5 000 000 box overlaps,
/// so that hostile soups end. Same result on every machine.
SelfIntersections FindSelfIntersections(std::span<const Vec3d> points,
                                        std::span<const std::array<uint32_t, 3>> triangles);

}  // namespace plush::tools
