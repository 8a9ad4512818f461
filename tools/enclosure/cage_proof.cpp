// SPDX-License-Identifier: MIT
#include "enclosure/cage_proof.h"

#include "enclosure/enclosure.h"
#include "enclosure/surface_location.h"
#include "enclosure/surface_walk.h"
#include "lattice/tet_neighbourhood.h"
#include "mesh/topology.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

// The tets in which triangles lie, as far as they were followed.
std::vector<uint32_t> TetsAt(const SolidSurface& surface, const SurfaceWalk& walk,
                             const std::vector<uint32_t>& triangles) {
  std::vector<uint32_t> tets;
  for (const SplitTriangle& split : walk.split) {
    if (!std::binary_search(triangles.begin(), triangles.end(), split.triangle)) continue;
    for (const uint32_t point : surface.triangles[split.triangle]) {
      tets.push_back(walk.tets[point]);
    }
    for (const TrianglePiece& piece : split.pieces) tets.push_back(piece.tet);
  }
  std::erase(tets, kNotHeld);
  return tets;
}

}  // namespace

CageProof ProveCage(const SolidSurface& surface, const SplitCage& cage, double cell) {
  CageProof proof;
  proof.faces = FindCageFaces(cage.mesh);
  proof.tet_of_point = LocateSurface(surface, cage, proof.faces);
  proof.escapes =
      FindEscapes(cage.mesh, proof.faces, surface.points, surface.triangles, proof.tet_of_point);
  // Without branches there is nothing to choose, and nothing is torn.
  if (proof.escapes.empty() && !proof.faces.branches.empty()) {
    SurfaceWalk walk =
        WalkSurface(cage.mesh, proof.faces, surface.points, surface.triangles,
                    PairHalfEdges(surface.points, surface.triangles), proof.tet_of_point);
    proof.suspects = TetsAt(surface, walk, walk.outside);
    proof.torn = TetsAt(surface, walk, walk.torn);
    proof.escapes = std::move(walk.outside);
  }
  const std::vector<uint32_t>& escapes = proof.escapes;
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
  proof.num_crossings = crossings.size();
  for (const auto& [f, g] : crossings) {
    proof.suspects.push_back(proof.faces.boundary[f].tet);
    proof.suspects.push_back(proof.faces.boundary[g].tet);
  }
  return proof;
}

Result<Done> RefuseEscapes(const SolidSurface& surface, const CageProof& proof,
                           FindingList* findings) {
  if (proof.escapes.empty()) return Done{};
  const std::string message = std::to_string(proof.escapes.size()) + " of " +
                              std::to_string(surface.triangles.size()) +
                              " triangles are not strictly inside the cage";
  std::vector<Place> places;
  for (const uint32_t t : proof.escapes) {
    if (places.size() == kMaxPlaces) break;
    const auto [a, b, c] = surface.CornersOf(t);
    places.push_back({(a + b + c) / 3.0, surface.source_triangle[t], -1, ""});
  }
  findings->Add("CAGE_NOT_ENCLOSED", proof.escapes.size(), message, places);
  return Error{ExitCode::kInvalidInput, message, "CAGE_NOT_ENCLOSED"};
}

}  // namespace plush::tools
