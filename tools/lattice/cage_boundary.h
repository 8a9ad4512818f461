// SPDX-License-Identifier: MIT
// Faces of a cage whose tets may overlap in space.
//
// Where the boundary of a cage is no manifold.
#pragma once

#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// A face of a tet, outwards.
struct CageFace {
  std::array<uint32_t, 3> nodes = {};
  uint32_t tet = 0;
};

/// No neighbour: the face is part of the boundary.
inline constexpr uint32_t kBoundaryFace = UINT32_MAX;

/// How the tets of a cage hang together. Two tets are neighbours where they have a face's three
/// nodes in common and lie on opposite sides of it; tets on one side of it overlap in space (copies
/// of one lattice tet) and are not. A face with several tets on one side and one on the other is a
/// branch: several strands of a limb begin there.
struct CageFaces {
  std::vector<std::array<uint32_t, 4>> neighbours;  ///< across the face opposite each corner; the
                                                    ///< first of several
  std::vector<CageFace> boundary;                   ///< in order of tet and corner
  std::vector<std::array<uint32_t, 3>> branches;    ///< sorted nodes of faces with several tets on
                                                    ///< a side and some on the other, ascending

  std::vector<std::array<std::vector<uint32_t>, 2>> branch_tets;  ///< parallel to branches: tets on
                                                                  ///< either side, ascending

  /// Tets across face `corner` of tet `t` of the mesh: none, one or several.
  std::vector<uint32_t> Across(const TetMesh& mesh, uint32_t t, size_t corner) const;
};

/// O(t log t). Sides are told by the positions of the nodes; every tet is positively oriented.
CageFaces FindCageFaces(const TetMesh& mesh);

/// Edges and nodes at which the boundary is pinched. Those of branch faces do not count: there the
/// boundary consists of the skins of several strands by construction.
struct BoundaryDefects {
  std::vector<std::array<uint32_t, 2>> edges;  ///< with other than two boundary faces, ascending
  std::vector<uint32_t> nodes;  ///< whose boundary faces do not form one closed fan, ascending;
                                ///< without the nodes of such edges
};

/// O(f log f).
BoundaryDefects FindBoundaryDefects(const CageFaces& faces);

}  // namespace plush::tools
