// SPDX-License-Identifier: MIT
// The cage before fitting: lattice tets in as many copies as they hold pieces of the solid.
// Follows [Civ 5.3.1] step 3, with virtual nodes after:
// Neil Molino, Zhaosheng Bao, Ron Fedkiw. A Virtual Node Algorithm for Changing Mesh Topology
//   During Simulation. 2004
#pragma once

#include "lattice/lattice.h"
#include "lattice/lattice_contacts.h"
#include "lattice/tet_pieces.h"
#include "mesh/tet_mesh.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Copies of lattice tets, joined where the solid passes.
struct SplitCage {
  TetMesh mesh;                        ///< nodes representable in single precision
  std::vector<Vec3d> rest_nodes;       ///< places of the nodes in the lattice [m]
  std::vector<uint32_t> lattice_tet;   ///< of each tet (num_tets x 1)
  std::vector<uint32_t> lattice_node;  ///< of each node (num_nodes x 1)
  std::vector<uint32_t> node_ids;      ///< numbers of the nodes before any tet was peeled off
  std::vector<uint32_t> starts;        ///< into triangles (num_tets + 1 x 1)
  std::vector<uint32_t> triangles;     ///< surface triangles that a tet owns, ascending in a tet
  uint32_t num_split_tets = 0;         ///< tets beyond the first copy of a lattice tet
  uint32_t num_split_nodes = 0;        ///< nodes beyond the first copy of a lattice node
  uint32_t num_filled = 0;             ///< tets without content that keep the boundary a manifold
  uint32_t num_pinched = 0;            ///< edges and nodes at which the boundary is no manifold
  uint32_t num_shared = 0;             ///< tets that hold several separate pieces all the same

  /// Corners of a tet's place in the lattice [m].
  std::array<Vec3d, 4> LatticeCorners(size_t tet) const {
    const auto& [a, b, c, d] = mesh.tets[tet];
    return {rest_nodes[a], rest_nodes[b], rest_nodes[c], rest_nodes[d]};
  }
  /// Surface triangles that come near the solid in `tet`.
  std::span<const uint32_t> TrianglesOf(size_t tet) const {
    return {triangles.data() + starts[tet], starts[tet + 1] - starts[tet]};
  }
};

/// Keeps every tet that the surface touches or comes near, and those inside; one copy for each
/// piece of the solid (PieceFinder). Two copies are joined across a face that their piece touches.
/// At a lattice node, copies joined across faces form classes: each is a node of its own, so that
/// what the solid does not connect moves independently, and no material is cut. Copies that end up
/// with the same four nodes are one again (num_shared counts them). Where an edge or node of the
/// boundary would be pinched, empty tets fill the smallest gap around it, or copies become one.
SplitCage SplitLattice(const Lattice& lattice, const SolidSurface& surface,
                       const SurfaceLinks& links, const InsideTest& inside,
                       const LatticeContacts& contacts, double clearance, bool join_parts);

}  // namespace plush::tools
