// SPDX-License-Identifier: MIT
// The cage before fitting: one copy of a lattice tet for each piece of the solid in it. Follows
// [Civ, Sec. 5.3.1, step 3], with virtual nodes after: Neil Molino, Zhaosheng Bao, Ron Fedkiw. A
// Virtual Node Algorithm for Changing Mesh Topology During Simulation. 2004
#pragma once

#include "base/result.h"
#include "lattice/lattice.h"
#include "lattice/lattice_contacts.h"
#include "lattice/tet_pieces.h"
#include "mesh/tet_mesh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace plush::tools {

/// Copies of lattice tets, connected wherever the solid continues from one to the next.
struct SplitCage {
  TetMesh mesh;                        ///< nodes representable in single precision
  std::vector<Vec3d> rest_nodes;       ///< positions of the nodes in the lattice [m]
  std::vector<uint32_t> lattice_tet;   ///< of each tet (num_tets x 1)
  std::vector<uint32_t> lattice_node;  ///< of each node (num_nodes x 1)
  std::vector<uint32_t> node_ids;      ///< number of each node before any tet was peeled
  /// Surface triangles that each tet owns, those of its pieces, ascending (num_tets x 1).
  std::vector<std::vector<uint32_t>> triangles;
  uint32_t num_split_tets = 0;   ///< tets beyond the first copy of a lattice tet
  uint32_t num_split_nodes = 0;  ///< nodes beyond the first copy of a lattice node
  uint32_t num_filled = 0;       ///< empty tets that keep the boundary a manifold
  uint32_t num_pinched = 0;      ///< edges and nodes at which the boundary is not a manifold
  uint32_t num_shared = 0;       ///< tets that still hold several separate pieces

  /// Corners of a tet as it was in the lattice [m].
  std::array<Vec3d, 4> LatticeCorners(size_t tet) const {
    const auto& [a, b, c, d] = mesh.tets[tet];
    return {rest_nodes[a], rest_nodes[b], rest_nodes[c], rest_nodes[d]};
  }
  /// The tets that are copies of each lattice tet, ascending. O(t log t).
  std::map<uint32_t, std::vector<uint32_t>> CopiesByLatticeTet() const;
};

/// Splits a lattice into copies of its tets:
/// - Keeps every tet that the surface touches or comes near (`contacts`), and every tet inside.
/// - Makes one copy of a tet for each piece of the solid in it (PieceFinder).
/// - Joins copies of neighbouring tets if a piece touches the face between them. At a lattice node,
///   copies that are joined across faces share one node, all others have different nodes. So no
///   material is cut, and parts that the solid does not connect move independently.
/// - Merges copies that end up with the same four nodes; num_shared counts those that hold surface
///   of several pieces.
/// - Repairs pinched edges and nodes of the boundary with empty tets, or joins copies
///   (copy_joining.h).
/// `clearance` [m]; `join_parts`: see PieceFinder. Time and memory grow with the tets of the cage,
/// not with those of the lattice. Errors: kLimit, CAGE_TOO_FINE (more than kMostCageTets).
Result<SplitCage> SplitLattice(const Lattice& lattice, const SolidSurface& surface,
                               const SurfaceLinks& links, const InsideTest& inside,
                               const LatticeContacts& contacts, double clearance, bool join_parts);

}  // namespace plush::tools
