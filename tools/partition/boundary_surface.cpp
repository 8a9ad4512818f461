// SPDX-License-Identifier: MIT
#include "partition/boundary_surface.h"

#include "lattice/cage_boundary.h"
#include "mesh/half_edges.h"
#include "mesh/tet_faces.h"

#include <algorithm>

namespace plush::tools {
namespace {

// The point at a node of the cage.
Carrier AtNode(uint32_t node) {
  Carrier carrier;
  carrier.nodes[0] = node;
  carrier.weights[0] = 1.0;
  carrier.count = 1;
  return carrier;
}

// Faces of one tet, outwards, in ascending order of their sorted nodes.
void CollectFaces(const TetMesh& mesh, CutSurface* surface) {
  const TetFaces faces = BuildTetFaces(mesh.tets);
  for (uint32_t face = 0; face < faces.num_faces(); ++face) {
    if (faces.TetsAt(face).size() != 1) continue;
    const uint32_t tet = faces.TetsAt(face)[0];
    const auto& of_tet = faces.of_tet[tet];
    const auto corner = std::find(of_tet.begin(), of_tet.end(), face) - of_tet.begin();
    surface->triangles.push_back(FaceOf(mesh.tets[tet], static_cast<size_t>(corner)));
    surface->tets.push_back(tet);
    surface->sources.push_back(static_cast<uint32_t>(surface->sources.size()));
  }
}

}  // namespace

CutSurface CutBoundary(const TetMesh& mesh) {
  CutSurface surface;
  CollectFaces(mesh, &surface);
  surface.points = mesh.nodes;
  surface.carriers.reserve(mesh.nodes.size());
  for (uint32_t node = 0; node < mesh.nodes.size(); ++node) {
    surface.carriers.push_back(AtNode(node));
  }
  surface.opposite = PairHalfEdges(surface.points, surface.triangles);
  return surface;
}

}  // namespace plush::tools
