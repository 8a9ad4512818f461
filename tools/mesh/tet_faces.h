// SPDX-License-Identifier: MIT
// Faces of a tet mesh: which tets meet there, and which form the boundary.
#pragma once

#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// The faces of a tet mesh, each once, in ascending order of their sorted corners.
struct TetFaces {
  std::vector<std::array<uint32_t, 4>> of_tet;  ///< faces of each tet (num_tets x 4)
  std::vector<uint32_t> starts;                 ///< into tets (num_faces + 1 x 1)
  std::vector<uint32_t> tets;  ///< ascending at each face; more than two only if broken

  uint32_t num_faces() const { return static_cast<uint32_t>(starts.size() - 1); }
  std::span<const uint32_t> TetsAt(uint32_t face) const {
    return {tets.data() + starts[face], starts[face + 1] - starts[face]};
  }
};

/// Faces of `tets`, whose corners are distinct. O(t log t).
TetFaces BuildTetFaces(std::span<const std::array<uint32_t, 4>> tets);

/// A face with exactly one tet.
struct BoundaryFace {
  std::array<uint32_t, 3> nodes = {};  ///< counter-clockwise seen from outside
  uint32_t tet = 0;
};

/// All boundary faces, in ascending order of their sorted nodes. O(t log t).
std::vector<BoundaryFace> FindBoundaryFaces(const TetMesh& mesh);

/// The boundary faces as a surface of one nameless part. Vertices are the faces' nodes in ascending
/// order, with area-weighted normals. O(t log t).
SurfaceMesh BoundarySurface(const TetMesh& mesh);

}  // namespace plush::tools
