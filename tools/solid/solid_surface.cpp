// SPDX-License-Identifier: MIT
// Makes the solid of a triangle soup: welds it, makes neighbours agree, turns pieces outwards.
// Orientation spreads across edges of two triangles; winding numbers find the cavities.
#include "solid/solid_surface.h"

#include "mesh/topology.h"
#include "mesh/welding.h"
#include "solid/inside.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

using Triangles = std::vector<std::array<uint32_t, 3>>;

// The other triangle at an edge that exactly two triangles share.
struct Neighbour {
  uint32_t triangle = 0;
  bool agrees = false;  // the input triangles pass the edge in opposite directions
};

// The neighbours of one triangle, in order of the edges.
struct Neighbourhood {
  std::array<Neighbour, 3> neighbours;
  uint8_t count = 0;
};

std::vector<Neighbourhood> FindNeighbours(uint32_t num_points, const Triangles& triangles) {
  std::vector<Neighbourhood> out(triangles.size());
  const SurfaceTopology topology = BuildTopology(triangles, num_points);
  for (const SurfaceEdge& edge : topology.edges) {
    const auto uses = topology.UsesOf(edge);
    if (uses.size() != 2) continue;
    const bool agrees = uses[0].forward != uses[1].forward;
    Neighbourhood& a = out[uses[0].triangle];
    Neighbourhood& b = out[uses[1].triangle];
    a.neighbours[a.count++] = {uses[1].triangle, agrees};
    b.neighbours[b.count++] = {uses[0].triangle, agrees};
  }
  return out;
}

// A flat sheet has no inside: its volume is rounding error, below this share of area^(3/2).
constexpr double kFlatVolume = 1e-9;

// Triangles of a piece that are sampled to decide whether it lies inside other pieces.
constexpr size_t kSamplesPerPiece = 5;

// The welded surface without triangles of zero area.
SolidSurface WeldedSolid(const SurfaceMesh& mesh) {
  WeldedSurface welded = MakeWeldedSurface(mesh);
  welded.triangles.resize(welded.num_with_area);
  welded.source_triangle.resize(welded.num_with_area);
  return {std::move(welded.points), std::move(welded.triangles), std::move(welded.source_triangle),
          std::move(welded.point_of_vertex), false};
}

void Turn(const std::vector<uint32_t>& piece, SolidSurface* solid) {
  for (const uint32_t t : piece) std::swap(solid->triangles[t][1], solid->triangles[t][2]);
}

// Whether the piece encloses a negative volume, measured about the piece's centre (which matters
// only if the piece is open).
bool FacesInwards(const SolidSurface& solid, const std::vector<uint32_t>& piece) {
  double area = 0.0;
  Vec3d centre;
  for (const uint32_t t : piece) {
    const auto [a, b, c] = solid.CornersOf(t);
    const double weight = 0.5 * Length(Cross(b - a, c - a));
    centre += (a + b + c) * (weight / 3.0);
    area += weight;
  }
  centre = centre / area;
  double volume = 0.0;
  for (const uint32_t t : piece) {
    const auto [a, b, c] = solid.CornersOf(t);
    volume += SixVolume(centre, a, b, c) / 6.0;
  }
  return volume < -kFlatVolume * area * std::sqrt(area);
}

// Whether more than half of the piece's samples lie inside the rest of the surface: their winding
// number without the piece is above 1/2.
bool LiesInsideOthers(const SolidSurface& solid, const InsideTest& everything,
                      const std::vector<uint32_t>& piece) {
  const size_t samples = std::min(kSamplesPerPiece, piece.size());
  size_t inside = 0;
  for (size_t i = 0; i < samples; ++i) {
    const auto [a, b, c] = solid.CornersOf(piece[i * piece.size() / samples]);
    const Vec3d point = (a + b + c) / 3.0;
    double others = everything.WindingNumber(point);
    for (const uint32_t t : piece) {
      const auto [ta, tb, tc] = solid.CornersOf(t);
      others -= WindingOfTriangle(point, ta, tb, tc);
    }
    inside += others > 0.5 ? 1 : 0;
  }
  return 2 * inside > samples;
}

Place PlaceOf(const SolidSurface& solid, const std::vector<uint32_t>& piece) {
  const auto [a, b, c] = solid.CornersOf(piece[0]);
  return {(a + b + c) / 3.0, static_cast<int64_t>(solid.source_triangle[piece[0]]), -1, ""};
}

// Turns all inward pieces outwards, then turns back those that prove to be cavities.
void OrientOutwards(const std::vector<std::vector<uint32_t>>& pieces, SolidSurface* solid,
                    FindingList* findings) {
  std::vector<const std::vector<uint32_t>*> inward;
  for (const auto& piece : pieces) {
    if (FacesInwards(*solid, piece)) inward.push_back(&piece);
  }
  if (inward.empty()) return;
  for (const auto* piece : inward) Turn(*piece, solid);
  std::vector<Place> cavities;
  std::vector<Place> flipped;
  const InsideTest everything(pieces.size() > 1 ? *solid : SolidSurface{});
  std::vector<const std::vector<uint32_t>*> hollow;
  for (const auto* piece : inward) {
    const bool is_cavity = pieces.size() > 1 && LiesInsideOthers(*solid, everything, *piece);
    (is_cavity ? cavities : flipped).push_back(PlaceOf(*solid, *piece));
    if (is_cavity) hollow.push_back(piece);
  }
  for (const auto* piece : hollow) Turn(*piece, solid);
  if (!flipped.empty()) {
    findings->Add("CAGE_COMPONENT_FLIPPED", flipped.size(),
                  std::to_string(flipped.size()) + " of " + std::to_string(pieces.size()) +
                      " components face inwards and were turned around",
                  flipped);
  }
  if (!cavities.empty()) {
    findings->Add("CAGE_CAVITY", cavities.size(),
                  std::to_string(cavities.size()) +
                      " components face inwards inside others and were taken as cavities",
                  cavities);
  }
}

}  // namespace

std::vector<std::vector<uint32_t>> OrientPieces(uint32_t num_points, Triangles* triangles) {
  const std::vector<Neighbourhood> around = FindNeighbours(num_points, *triangles);
  std::vector<std::vector<uint32_t>> pieces;
  std::vector<bool> is_found(triangles->size(), false);
  std::vector<uint8_t> turned(triangles->size(), 0);
  for (uint32_t seed = 0; seed < triangles->size(); ++seed) {
    if (is_found[seed]) continue;
    is_found[seed] = true;
    std::vector<uint32_t> piece = {seed};
    size_t num_turned = 0;
    for (size_t next = 0; next < piece.size(); ++next) {
      const uint32_t t = piece[next];
      for (uint8_t i = 0; i < around[t].count; ++i) {
        const auto& [other, agrees] = around[t].neighbours[i];
        if (is_found[other]) continue;
        is_found[other] = true;
        turned[other] = agrees ? turned[t] : 1 - turned[t];
        num_turned += turned[other];
        piece.push_back(other);
      }
    }
    const bool turn_others = 2 * num_turned > piece.size();
    for (const uint32_t t : piece) {
      if ((turned[t] != 0) != turn_others) std::swap((*triangles)[t][1], (*triangles)[t][2]);
    }
    std::sort(piece.begin(), piece.end());
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

bool IsClosed(uint32_t num_points, const Triangles& triangles) {
  const SurfaceTopology topology = BuildTopology(triangles, num_points);
  for (const SurfaceEdge& edge : topology.edges) {
    int balance = 0;
    for (const EdgeUse& use : topology.UsesOf(edge)) balance += use.forward ? 1 : -1;
    if (balance != 0) return false;
  }
  return true;
}

SolidSurface MakeSolidSurface(const SurfaceMesh& mesh, FindingList* findings) {
  SolidSurface solid = WeldedSolid(mesh);
  const auto num_points = static_cast<uint32_t>(solid.points.size());
  OrientOutwards(OrientPieces(num_points, &solid.triangles), &solid, findings);
  solid.closed = IsClosed(num_points, solid.triangles);
  return solid;
}

Box3 BoxOf(const SolidSurface& surface) {
  Box3 box;
  for (const auto& triangle : surface.triangles) {
    for (const uint32_t corner : triangle) box.Add(surface.points[corner]);
  }
  return box;
}

}  // namespace plush::tools
