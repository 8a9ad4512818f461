// SPDX-License-Identifier: MIT
// Static meshes as the file stores them: triangles with their neighbours, and the tree over them.
//
// The tree has no indices: its shape follows from the number of triangles. A leaf holds four
// triangles that follow each other, a node has four children that follow each other. Levels go from
// the root down; node i of a level has children 4 i to 4 i + 3 in the next one. Those of the last
// level are leaves. Bounds are whole numbers of cells of a grid over the mesh's box.
#pragma once

#include "plush/asset.h"
#include "plush/types.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// A triangle of a static mesh.
struct StaticTriangle {
  uint32_t vertices[3] = {};  ///< different; counter-clockwise seen from the front
  uint32_t neighbours[3] = {kNoTriangle, kNoTriangle,
                            kNoTriangle};  ///< across the edge from vertex
                                           ///< k to k + 1, which they pass
                                           ///< from k + 1 to k; each names
                                           ///< this one across that edge
};

inline constexpr uint32_t kStaticLeafTriangles = 4;  ///< of a leaf; the last leaf may have fewer
inline constexpr uint32_t kStaticChildren = 4;       ///< of a node

/// Bounds of a node's children [cells] (3 x 4). Child c holds only points whose StaticGrid cells
/// lie from low[axis][c] to 65535 - flipped_high[axis][c]. If there is no child c, all are 65535,
/// and it overlaps nothing. One kind of comparison serves both ends.
struct StaticNode {
  uint16_t low[3][4] = {};
  uint16_t flipped_high[3][4] = {};
};

/// Largest cell of a StaticGrid.
inline constexpr uint16_t kLastStaticCell = 65534;

/// The grid of a tree's bounds. Cells grow with coordinates, whatever the rounding: each step of
/// CellOf is monotone. So if two intervals overlap, the cells of their ends do, too.
struct StaticGrid {
  Vec3 low;                        ///< box of the mesh [m]
  Vec3 high;                       ///< [m], >= low
  double cells_per_metre[3] = {};  ///< 0 along an axis without extent

  /// The grid over a box. Precondition: finite, low <= high.
  static constexpr StaticGrid Over(const Vec3& low, const Vec3& high) {
    const auto scale = [](float a, float b) {
      return b > a ? kLastStaticCell / (double(b) - double(a)) : 0.0;
    };
    return {low, high, {scale(low.x, high.x), scale(low.y, high.y), scale(low.z, high.z)}};
  }

  /// Cell of coordinate `x` [m] on an axis; points off the box have the nearest one.
  static constexpr uint16_t CellOf(double x, double low, double cells_per_metre) {
    const double cell = (x - low) * cells_per_metre;
    if (!(cell > 0.0)) return 0;
    return cell < kLastStaticCell ? static_cast<uint16_t>(cell) : kLastStaticCell;
  }

  /// Cells of the box from `least` to `greatest`, in the form of a child's bounds.
  constexpr StaticNode NodeOf(const Vec3& least, const Vec3& greatest, uint32_t child = 0,
                              StaticNode node = {}) const {
    const double from[3] = {least.x, least.y, least.z};
    const double to[3] = {greatest.x, greatest.y, greatest.z};
    const double start[3] = {low.x, low.y, low.z};
    for (int axis = 0; axis < 3; ++axis) {
      node.low[axis][child] = CellOf(from[axis], start[axis], cells_per_metre[axis]);
      node.flipped_high[axis][child] =
          static_cast<uint16_t>(UINT16_MAX - CellOf(to[axis], start[axis], cells_per_metre[axis]));
    }
    return node;
  }
};

/// Most levels of a tree: enough for 2^32 triangles.
inline constexpr uint32_t kMaxStaticLevels = 15;

/// Where the levels of a tree begin.
struct StaticLevels {
  uint32_t count = 0;                         ///< 0 without triangles
  uint32_t begin[kMaxStaticLevels + 1] = {};  ///< first node of each level, and the end of the last
  uint32_t num_leaves = 0;

  constexpr uint32_t num_nodes() const { return begin[count]; }

  static constexpr StaticLevels For(size_t num_triangles) {
    StaticLevels levels;
    levels.num_leaves =
        static_cast<uint32_t>((num_triangles + kStaticLeafTriangles - 1) / kStaticLeafTriangles);
    uint32_t sizes[kMaxStaticLevels] = {};  // from the last level up
    for (uint32_t n = levels.num_leaves; n > 1 || (n == 1 && levels.count == 0);) {
      n = (n + kStaticChildren - 1) / kStaticChildren;
      sizes[levels.count++] = n;
    }
    for (uint32_t i = 0; i < levels.count; ++i) {
      levels.begin[i + 1] = levels.begin[i] + sizes[levels.count - 1 - i];
    }
    return levels;
  }
};

/// A box around triangles.
struct StaticBox {
  Vec3 low, high;  ///< [m]

  void Add(const StaticBox& other);
};

/// Writes the nodes (num_nodes() of the triangles' StaticLevels x 1) over triangles with these
/// boxes, in the order of the leaves. Overwrites the boxes. O(n); does not allocate.
void FillStaticTree(const StaticGrid& grid, std::span<StaticBox> boxes,
                    std::span<StaticNode> nodes);

/// A static mesh. Everything is empty if the file holds a soft body.
struct StaticMeshView {
  std::span<const Vec3> positions;            ///< [m] (num_vertices x 1), no two the same
  std::span<const StaticTriangle> triangles;  ///< in the order of the tree's leaves
                                              ///< (num_triangles x 1)
  std::span<const uint16_t> materials;        ///< index for Asset::material (num_triangles x 1)
  std::span<const StaticNode> tree;           ///< from the root down (levels.num_nodes() x 1)
  StaticLevels levels;
  StaticGrid grid;  ///< and the mesh's box
  MeshSides sides = MeshSides::kFront;
};

// The layout, at compile time.
static_assert(sizeof(StaticTriangle) == 24 && sizeof(StaticNode) == 48);
static_assert(StaticLevels::For(0).count == 0 && StaticLevels::For(1).count == 1);
static_assert(StaticLevels::For(16).num_nodes() == 1 && StaticLevels::For(17).num_nodes() == 3);
static_assert(StaticLevels::For(UINT32_MAX).count <= kMaxStaticLevels);

}  // namespace plush
