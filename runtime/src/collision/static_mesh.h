// SPDX-License-Identifier: MIT
// Finds triangles of a static mesh: those near a box, the first on a line, the one nearest a point.
// All in the coordinates of the mesh.
#pragma once

#include "plush/format/static_mesh.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace plush {

/// Corners of triangle `t` [m].
inline std::array<Vec3, 3> CornersOf(const StaticMeshView& mesh, uint32_t t) {
  const auto& [a, b, c] = mesh.triangles[t].vertices;
  return {mesh.positions[a], mesh.positions[b], mesh.positions[c]};
}

/// What a node's children are compared with. A child overlaps if none of its bounds exceeds its
/// limit: its start that of the box's end, its flipped end that of the box's flipped start.
struct StaticBoxLimits {
  StaticNode limits;

  StaticBoxLimits(const StaticGrid& grid, const Vec3& low, const Vec3& high) {
    // NodeOf has the box's start in low, and its flipped end in flipped_high.
    const StaticNode box = grid.NodeOf(low, high);
    for (int axis = 0; axis < 3; ++axis) {
      for (int child = 0; child < 4; ++child) {
        limits.low[axis][child] = static_cast<uint16_t>(UINT16_MAX - box.flipped_high[axis][0]);
        limits.flipped_high[axis][child] = static_cast<uint16_t>(UINT16_MAX - box.low[axis][0]);
      }
    }
  }
};

/// Bit 16 c is set if child c of `node` overlaps the box.
inline uint64_t OverlappingChildren(const StaticNode& node, const StaticBoxLimits& box) {
  constexpr uint64_t kOnes = 0x0001000100010001u;
#if defined(__GNUC__) && !defined(PLUSH_SCALAR_LANES)
  using Words = uint16_t __attribute__((vector_size(16)));
  Words bounds[3], limits[3];
  std::memcpy(bounds, &node, sizeof bounds);
  std::memcpy(limits, &box.limits, sizeof limits);
  const auto beyond = (bounds[0] > limits[0]) | (bounds[1] > limits[1]) | (bounds[2] > limits[2]);
  uint64_t halves[2];
  std::memcpy(halves, &beyond, sizeof halves);
  return ~(halves[0] | halves[1]) & kOnes;
#else
  uint64_t overlapping = kOnes;
  for (int child = 0; child < 4; ++child) {
    for (int axis = 0; axis < 3; ++axis) {
      if (node.low[axis][child] > box.limits.low[axis][child] ||
          node.flipped_high[axis][child] > box.limits.flipped_high[axis][child]) {
        overlapping &= ~(uint64_t{1} << (16 * child));
      }
    }
  }
  return overlapping;
#endif
}

/// Whether the box of triangle `t` and the box from `low` to `high` have a point in common.
inline bool OverlapsTriangleBox(const StaticMeshView& mesh, uint32_t t, const Vec3& low,
                                const Vec3& high) {
  const auto [a, b, c] = CornersOf(mesh, t);
  // Without branches: which axis separates them cannot be guessed.
  const auto overlaps = [](float x, float y, float z, float from, float to) {
    return static_cast<int>(std::min(x, std::min(y, z)) <= to) &
           static_cast<int>(std::max(x, std::max(y, z)) >= from);
  };
  return (overlaps(a.x, b.x, c.x, low.x, high.x) & overlaps(a.y, b.y, c.y, low.y, high.y) &
          overlaps(a.z, b.z, c.z, low.z, high.z)) != 0;
}

/// Calls visit(t) for each triangle whose box has a point in common with the box from `low` to
/// `high` [m], in ascending order, until it returns false. Touching counts; a box with low > high
/// or NaN meets nothing. O(log triangles) plus the visits; does not allocate.
template <class Visit>
void ForTrianglesInBox(const StaticMeshView& mesh, const Vec3& low, const Vec3& high, Visit visit) {
  const auto meets = [](float first, float last, float from, float to) {
    return first <= to && last >= from && first <= last;
  };
  const StaticGrid& grid = mesh.grid;
  if (mesh.tree.empty() || !meets(low.x, high.x, grid.low.x, grid.high.x) ||
      !meets(low.y, high.y, grid.low.y, grid.high.y) ||
      !meets(low.z, high.z, grid.low.z, grid.high.z)) {
    return;
  }
  const StaticBoxLimits box(grid, low, high);
  struct Waiting {
    uint32_t first;        // index in its level of the node's first child
    uint64_t overlapping;  // as of OverlappingChildren
  };
  Waiting waiting[kMaxStaticLevels];
  uint32_t level = 0;
  waiting[0] = {0, OverlappingChildren(mesh.tree[0], box)};
  const uint32_t last_level = mesh.levels.count - 1;
  const auto num_triangles = static_cast<uint32_t>(mesh.triangles.size());
  for (;;) {
    Waiting& now = waiting[level];
    if (now.overlapping == 0) {
      if (level == 0) return;
      --level;
      continue;
    }
    const uint32_t child =
        now.first + static_cast<uint32_t>(std::countr_zero(now.overlapping)) / 16;
    now.overlapping &= now.overlapping - 1;
    if (level < last_level) {
      const StaticNode& node = mesh.tree[mesh.levels.begin[++level] + child];
      waiting[level] = {kStaticChildren * child, OverlappingChildren(node, box)};
      continue;
    }
    const uint32_t end = std::min(kStaticLeafTriangles * (child + 1), num_triangles);
    for (uint32_t t = kStaticLeafTriangles * child; t < end; ++t) {
      if (OverlapsTriangleBox(mesh, t, low, high) && !visit(t)) return;
    }
  }
}

/// Calls visit(above, index) for nodes of the tree whose boxes meet the box from `low` to `high`
/// [m], from the root down: the node `index` of the level that is `above` levels above the last.
/// Goes on to the children of those for which it returns true.
template <class Visit>
void ForNodesInBox(const StaticMeshView& mesh, const Vec3& low, const Vec3& high,
                   const Visit& visit) {
  if (mesh.tree.empty() || !visit(mesh.levels.count - 1, 0)) return;
  const StaticBoxLimits box(mesh.grid, low, high);
  const auto go_on = [&](const auto& self, uint32_t level, uint32_t index) -> void {
    const StaticNode& node = mesh.tree[mesh.levels.begin[level] + index];
    for (uint64_t left = OverlappingChildren(node, box); left != 0; left &= left - 1) {
      const uint32_t child =
          kStaticChildren * index + static_cast<uint32_t>(std::countr_zero(left)) / 16;
      if (visit(mesh.levels.count - 2 - level, child) && level + 2 < mesh.levels.count) {
        self(self, level + 1, child);
      }
    }
  };
  if (mesh.levels.count > 1) go_on(go_on, 0, 0);
}

}  // namespace plush
