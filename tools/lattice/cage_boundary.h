// SPDX-License-Identifier: MIT
// Faces of a cage whose tets may overlap in space: neighbours, boundary, branches; and the places
// where the boundary is not a manifold.
#pragma once

#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// A face of a tet; its nodes turn counter-clockwise seen from outside the tet.
struct CageFace {
  std::array<uint32_t, 3> nodes = {};
  uint32_t tet = 0;
};

/// No neighbour: the face is part of the boundary.
inline constexpr uint32_t kBoundaryFace = UINT32_MAX;

/// How the tets of a cage are connected.
/// - Two tets are neighbours if they share the three nodes of a face and lie on opposite sides of
///   it.
/// - Two tets on the same side of a face overlap in space (they are copies of one lattice tet).
///   They are not neighbours across it.
/// - A face with several tets on one side and at least one on the other is a branch: several
///   strands of a limb begin there.
struct CageFaces {
  std::vector<std::array<uint32_t, 4>> neighbours;  ///< tet across the face opposite each corner,
                                                    ///< the first of several, or kBoundaryFace
  std::vector<CageFace> boundary;                   ///< in order of tet and corner
  std::vector<std::array<uint32_t, 3>> branches;    ///< sorted nodes of each branch, ascending

  std::vector<std::array<std::vector<uint32_t>, 2>> branch_tets;  ///< parallel to branches: tets on
                                                                  ///< each side, ascending

  /// Tets across the face opposite corner `corner` of tet `t`: none, one or (at a branch) several.
  std::vector<uint32_t> Across(const TetMesh& mesh, uint32_t t, size_t corner) const;
  /// The nodes of all boundary faces (num_boundary x 3).
  std::vector<std::array<uint32_t, 3>> BoundaryNodes() const;
};

/// Every tet must be positively oriented: the order of its nodes decides on which side of a face it
/// lies. O(t log t).
CageFaces FindCageFaces(const TetMesh& mesh);

/// Edges and nodes at which the boundary is pinched. Edges and nodes of branches do not count:
/// several strands meet there by construction, each with its own boundary.
struct BoundaryDefects {
  std::vector<std::array<uint32_t, 2>> edges;  ///< with fewer or more than two boundary faces
  std::vector<uint32_t> nodes;                 ///< whose boundary faces do not form one closed fan,
                                               ///< except the ends of `edges`; both ascending
};

/// O(f log f).
BoundaryDefects FindBoundaryDefects(const CageFaces& faces);

}  // namespace plush::tools
