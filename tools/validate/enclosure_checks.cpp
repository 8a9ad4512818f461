// SPDX-License-Identifier: MIT
// Proves with exact predicates that the cage of a file encloses its render triangles.
#include "plush/format/tet_block.h"

#include "enclosure/enclosure.h"
#include "lattice/cage_boundary.h"
#include "mesh/exact_predicates.h"
#include "rest/rest_data.h"
#include "validate/rest_checks.h"
#include "validate/surface_checks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

// The cage, or nullopt if a tet is unsound or a vertex names a tet that does not exist.
std::optional<TetMesh> SoundCage(const Asset& asset) {
  const SimulationView& s = asset.simulation();
  const auto is_sound = [&s](const Tet& tet) { return IsSoundTet(s, tet); };
  const auto exists = [&s](uint32_t tet) { return tet < s.tets.size(); };
  if (!std::ranges::all_of(s.tets, is_sound)) return std::nullopt;
  if (!std::ranges::all_of(asset.visual().tet_ids, exists)) return std::nullopt;
  return TetMesh{ToDoubles(s.nodes), NodesOfTets(s.tets)};
}

// The render triangles that have an area.
struct Triangles {
  std::vector<Vec3d> points;  // of the render vertices [m]
  std::vector<std::array<uint32_t, 3>> corners;
  std::vector<uint32_t> ids;
};

std::optional<Triangles> TrianglesWithArea(const VisualView& visual) {
  Triangles triangles;
  triangles.points = ToDoubles(visual.positions);
  for (uint32_t t = 0; 3 * size_t{t} + 2 < visual.indices.size(); ++t) {
    const auto ids = visual.indices.subspan(3 * size_t{t}, 3);
    const std::array<uint32_t, 3> corners = {ids[0], ids[1], ids[2]};
    std::array<Vec3d, 3> x;
    for (size_t k = 0; k < 3; ++k) {
      if (corners[k] >= triangles.points.size()) return std::nullopt;
      x[k] = triangles.points[corners[k]];
      if (!IsFinite(x[k])) return std::nullopt;
    }
    if (AreCollinear(x[0], x[1], x[2])) continue;
    triangles.corners.push_back(corners);
    triangles.ids.push_back(t);
  }
  return triangles;
}

void ReportEscapes(const Triangles& triangles, const std::vector<uint32_t>& escapes,
                   FindingList* findings) {
  if (escapes.empty()) return;
  std::vector<Place> places;
  for (const uint32_t t : escapes) {
    if (places.size() == kMaxPlaces) break;
    const auto& [a, b, c] = triangles.corners[t];
    const Vec3d centre = (triangles.points[a] + triangles.points[b] + triangles.points[c]) / 3.0;
    places.push_back({centre, triangles.ids[t], -1, ""});
  }
  findings->Add("FILE_NOT_ENCLOSED", escapes.size(),
                std::to_string(escapes.size()) + " of " + std::to_string(triangles.ids.size()) +
                    " triangles are not strictly inside the tets that carry them",
                places);
}

// Tets that are flat or inside out, by exact predicates.
std::vector<uint32_t> TurnedTets(const TetMesh& mesh) {
  std::vector<uint32_t> turned;
  for (uint32_t t = 0; t < mesh.tets.size(); ++t) {
    const auto& [a, b, c, d] = mesh.tets[t];
    const auto& x = mesh.nodes;
    if (Orient3dSign(x[a], x[b], x[c], x[d]) <= 0) turned.push_back(t);
  }
  return turned;
}

// Flat or inverted tets leave no triangle that can be proved to be inside.
void ReportTurned(const TetMesh& mesh, const std::vector<uint32_t>& turned, size_t num_triangles,
                  FindingList* findings) {
  std::vector<Place> places;
  for (const uint32_t t : turned) {
    if (places.size() == kMaxPlaces) break;
    places.push_back({mesh.nodes[mesh.tets[t][0]], -1, t, "simulation.tets"});
  }
  findings->Add("FILE_NOT_ENCLOSED", num_triangles,
                "nothing is enclosed by a cage of which " + std::to_string(turned.size()) +
                    " tets are flat or inside out (element: the tet)",
                places);
}

void ReportPinches(const TetMesh& mesh, const CageFaces& faces, FindingList* findings) {
  const BoundaryDefects defects = FindBoundaryDefects(faces);
  const size_t count = defects.edges.size() + defects.nodes.size();
  if (count == 0) return;
  std::vector<uint32_t> nodes;
  for (const auto& edge : defects.edges) nodes.push_back(edge[0]);
  nodes.insert(nodes.end(), defects.nodes.begin(), defects.nodes.end());
  std::vector<Place> places;
  for (const uint32_t node : nodes) {
    if (places.size() == kMaxPlaces) break;
    places.push_back({mesh.nodes[node], -1, node, "simulation.nodes"});
  }
  findings->Add("CAGE_PINCHED", count,
                "the cage's boundary is pinched at " + std::to_string(defects.edges.size()) +
                    " edges and " + std::to_string(defects.nodes.size()) +
                    " nodes (element: the node, the first of an edge)",
                places);
}

}  // namespace

bool HasLatticeCage(const Asset& asset) {
  const auto settings = nlohmann::json::parse(asset.settings(), nullptr, false);
  return settings.is_object() && settings.value("mesher", nlohmann::json()) == "lattice";
}

size_t CheckEnclosure(const Asset& asset, FindingList* findings) {
  const std::optional<TetMesh> mesh = SoundCage(asset);
  const std::optional<Triangles> triangles = TrianglesWithArea(asset.visual());
  if (!mesh || !triangles) return 0;
  const std::vector<uint32_t> turned = TurnedTets(*mesh);
  if (!turned.empty()) {
    ReportTurned(*mesh, turned, triangles->ids.size(), findings);
    return 0;
  }
  const CageFaces faces = FindCageFaces(*mesh);
  const auto escapes =
      FindEscapes(*mesh, faces, triangles->points, triangles->corners, asset.visual().tet_ids);
  ReportEscapes(*triangles, escapes, findings);
  ReportPinches(*mesh, faces, findings);
  return triangles->ids.size() - escapes.size();
}

}  // namespace plush::tools
