// SPDX-License-Identifier: MIT
// Which tets meet at a face.
//
// The surface of a tet mesh.
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
  std::vector<uint32_t> tets;                   ///< at each face, ascending: one or two in a sound
                                                ///< mesh, any number in a broken one

  uint32_t num_faces() const { return static_cast<uint32_t>(starts.size() - 1); }
  std::span<const uint32_t> TetsAt(uint32_t face) const {
    return {tets.data() + starts[face], starts[face + 1] - starts[face]};
  }
};

/// Faces of `tets`, whose corners are distinct. O(t log t).
TetFaces BuildTetFaces(std::span<const std::array<uint32_t, 4>> tets);

/// The faces that belong to one tet only, counter-clockwise seen from outside, as one part without
/// names; vertices are the nodes on them in ascending order, with area-weighted normals. A face
/// that more than two tets share counts as inner. O(t log t).
SurfaceMesh BoundarySurface(const TetMesh& mesh);

}  // namespace plush::tools
