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

/// The triangular faces of a tet mesh, each once, in ascending order of their sorted corners.
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

/// The boundary of a tet mesh: the faces with exactly one tet, counter-clockwise seen from outside,
/// as one part without names. Vertices are the nodes of these faces in ascending order, with
/// area-weighted normals. O(t log t).
SurfaceMesh BoundarySurface(const TetMesh& mesh);

}  // namespace plush::tools
