// SPDX-License-Identifier: MIT
// A bounding-box tree over the tets of a mesh: which one contains a point, which one is nearest.
#pragma once

#include "embed/tet_geometry.h"
#include "mesh/tet_mesh.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace plush::tools {

/// Answers queries against a TetMesh, which must outlive it and stay unchanged. Thread-safe.
class TetTree {
 public:
  /// O(t log t). The mesh has at least one tet.
  explicit TetTree(const TetMesh& mesh);

  /// The lowest id of the tets in which every weight of `point` is at least `-tolerance`.
  std::optional<uint32_t> FindContaining(const Vec3d& point, double tolerance) const;

  /// The nearest tet, the lowest id of equally near ones.
  uint32_t FindNearest(const Vec3d& point) const;

  /// Corners of tet `id` [m].
  TetCorners Corners(uint32_t id) const;

 private:
  struct Node {
    Vec3d lower;  // box [m]
    Vec3d upper;
    uint32_t first = 0;     // leaf: into tets_; inner: the second child (the first one follows)
    uint32_t num_tets = 0;  // 0 for an inner node
  };

  void Build(uint32_t first, uint32_t last, const std::vector<Vec3d>& centres);
  Node MakeBox(uint32_t first, uint32_t last) const;

  const TetMesh& mesh_;
  std::vector<Node> nodes_;     // depth first
  std::vector<uint32_t> tets_;  // tet ids in leaf order
};

}  // namespace plush::tools
