// SPDX-License-Identifier: MIT
#include "enclosure/cage_proof.h"

#include "enclosure/enclosure.h"
#include "enclosure/surface_location.h"
#include "enclosure/surface_walk.h"
#include "lattice/tet_neighbourhood.h"
#include "mesh/topology.h"

#include <algorithm>
#include <span>

namespace plush::tools {
namespace {

// The tets of triangles that are torn, or leave the cage when they are followed across faces.
std::vector<uint32_t> TornTets(const SolidSurface& surface, const TetMesh& mesh,
                               const CageFaces& faces, std::span<const uint32_t> tet_of_point) {
  if (faces.branches.empty()) return {};
  const SurfaceWalk walk =
      WalkSurface(mesh, faces, surface.points, surface.triangles,
                  PairHalfEdges(surface.points, surface.triangles), tet_of_point);
  std::vector<uint32_t> tets;
  for (const SplitTriangle& split : walk.split) {
    const uint32_t t = split.triangle;
    if (!std::binary_search(walk.torn.begin(), walk.torn.end(), t) &&
        !std::binary_search(walk.outside.begin(), walk.outside.end(), t)) {
      continue;
    }
    for (const uint32_t point : surface.triangles[t]) tets.push_back(tet_of_point[point]);
    for (const TrianglePiece& piece : split.pieces) tets.push_back(piece.tet);
  }
  return tets;
}

}  // namespace

CageProof ProveCage(const SolidSurface& surface, const SplitCage& cage, double cell) {
  CageProof proof;
  proof.faces = FindCageFaces(cage.mesh);
  proof.tet_of_point = LocateSurface(surface, cage, proof.faces);
  const auto escapes =
      FindEscapes(cage.mesh, proof.faces, surface.points, surface.triangles, proof.tet_of_point);
  for (const uint32_t t : escapes) {
    for (const uint32_t point : surface.triangles[t]) {
      const uint32_t tet = proof.tet_of_point[point];
      if (tet != kNoTet) proof.suspects.push_back(tet);
    }
  }
  if (!escapes.empty()) {
    // A point may lie in no tet: suspect also the tets that owned the triangle before the fit.
    for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
      const auto& owned = cage.triangles[t];
      const bool involved = std::any_of(escapes.begin(), escapes.end(), [&](uint32_t triangle) {
        return std::binary_search(owned.begin(), owned.end(), triangle);
      });
      if (involved) proof.suspects.push_back(t);
    }
  }
  const auto crossings = FindCageCrossings(cage, proof.faces, cell);
  proof.num_failures = escapes.size() + crossings.size();
  for (const auto& [f, g] : crossings) {
    proof.suspects.push_back(proof.faces.boundary[f].tet);
    proof.suspects.push_back(proof.faces.boundary[g].tet);
  }
  if (proof.holds()) {
    proof.torn = TornTets(surface, cage.mesh, proof.faces, proof.tet_of_point);
  }
  return proof;
}

}  // namespace plush::tools
