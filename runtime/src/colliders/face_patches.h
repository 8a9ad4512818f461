// SPDX-License-Identifier: MIT
// What the triangles of a static mesh's tree nodes have in common.
//
// Of a fine mesh, hundreds of triangles are near one tet of a body. A patch says for 16, 64 or 256
// of them at once which way they face, how high they reach, and whether they have ridges.
#pragma once

#include "plush/allocator.h"
#include "plush/format/static_mesh.h"

#include "base/array.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace plush {

/// The triangles of a node of the tree, in the mesh's coordinates, without its scale.
struct FacePatch {
  Vec3 normal;             ///< unit, or zero: the triangles have no mean normal
  float cosine = -1.0f;    ///< least dot(normal, n) of a triangle's normal n, or less
  Vec3 middle;             ///< of a box around them
  Vec3 half;               ///< the box's extents from there, or more [m]
  float radius = 0.0f;     ///< the length of `half` [m]
  float height = 0.0f;     ///< most dot(normal, x - middle) of their points x, or more [m]
  bool has_ridges = true;  ///< whether one of them may own a ridge (OwnsEdge)
};

/// Patches of the last levels of a tree.
struct FacePatches {
  static constexpr uint32_t kLevels = 3;
  static constexpr uint32_t kTriangles = kStaticLeafTriangles * kStaticChildren;  ///< of a last one
  static constexpr uint32_t kLeast = 384;  ///< meshes with no more triangles need none

  /// Of nodes `above` levels above the last one, in the order of the nodes.
  std::span<const FacePatch> Level(uint32_t above) const {
    return patches.span().subspan(first[above], first[above + 1] - first[above]);
  }
  /// Calls visit(triangle) for the triangles of a last node.
  template <class Visit>
  void ForTriangles(uint32_t node, const Visit& visit) const {
    const auto num_triangles = static_cast<uint32_t>(mesh->triangles.size());
    const uint32_t begin = kTriangles * node;
    for (uint32_t t = begin; t < std::min(begin + kTriangles, num_triangles); ++t) visit(t);
  }
  /// Whether a triangle may own a ridge.
  bool MayHaveRidges(uint32_t triangle) const { return patches[triangle / kTriangles].has_ridges; }

  const StaticMeshView* mesh = nullptr;
  FacePatches* next = nullptr;  ///< of the world
  Array<FacePatch> patches;
  size_t first[kLevels + 1] = {};  ///< of each level
};

/// Makes the patches of a mesh. O(triangles). Returns null if the allocator fails.
FacePatches* MakeFacePatches(const Allocator& allocator, const StaticMeshView& mesh);

}  // namespace plush
