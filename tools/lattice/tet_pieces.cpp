// SPDX-License-Identifier: MIT
// Finds the separate pieces of the solid in a tet by joining triangles in disjoint sets.
// The joins, cheapest first: shared points and edges, cuts, tet edges, walks through the material.
#include "lattice/tet_pieces.h"

#include "lattice/material_walk.h"
#include "mesh/box3.h"
#include "mesh/disjoint_sets.h"
#include "mesh/exact_predicates.h"
#include "solid/triangle_tet_overlap.h"

#include <algorithm>

namespace plush::tools {
namespace {

// Points of a patch from which walks probe the material behind it.
constexpr size_t kProbesPerPatch = 24;

// One probe in this many also looks outwards. It hardly ever finds material, but needs an expensive
// winding number if it ends at another part.
constexpr size_t kProbesPerOutside = 8;

constexpr size_t kMaxPieces = 250;

constexpr std::array<std::array<size_t, 2>, 6> kTetEdges = {
    {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};

using Triangle = std::array<Vec3d, 3>;

// Joins patches that cut each other: a sweep along x.
void JoinIntersecting(const std::vector<Triangle>& triangles, DisjointSets* sets) {
  std::vector<Box3> boxes(triangles.size());
  std::vector<uint32_t> order(triangles.size());
  for (uint32_t i = 0; i < triangles.size(); ++i) {
    for (const Vec3d& p : triangles[i]) boxes[i].Add(p);
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return boxes[a].low.x != boxes[b].low.x ? boxes[a].low.x < boxes[b].low.x : a < b;
  });
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t a = order[i];
    for (size_t j = i + 1; j < order.size() && boxes[order[j]].low.x <= boxes[a].high.x; ++j) {
      const uint32_t b = order[j];
      if (!boxes[a].Overlaps(boxes[b]) || sets->Find(a) == sets->Find(b)) continue;
      if (TrianglesIntersect(triangles[a], triangles[b])) sets->Join(a, b);
    }
  }
}

// Joins the triangles and corners that bound the same stretch of material on an edge of the tet.
// The elements of the corners follow those of the triangles.
void JoinAlongEdges(const std::array<Vec3d, 4>& tet, const std::vector<Triangle>& triangles,
                    const std::array<bool, 4>& corner_inside, const InsideTest& inside,
                    const MaterialWalk& walk, DisjointSets* sets) {
  const auto corner = [&](size_t i) { return static_cast<uint32_t>(triangles.size() + i); };
  for (const auto& [a, b] : kTetEdges) {
    const auto crossings = walk.CrossingsOf(tet[a], tet[b]);
    // Stretch i ends at crossing i, or at corner b if it is the last.
    for (size_t i = 0; i <= crossings.size(); ++i) {
      const bool first = i == 0;
      const bool last = i == crossings.size();
      const uint32_t low = first ? corner(a) : crossings[i - 1].triangle;
      const uint32_t high = last ? corner(b) : crossings[i].triangle;
      if (sets->Find(low) == sets->Find(high)) continue;
      if ((first && !corner_inside[a]) || (last && !corner_inside[b])) continue;
      if (!first && !last) {
        const double middle = 0.5 * (crossings[i - 1].at + crossings[i].at);
        if (!inside.IsInside(tet[a] + (tet[b] - tet[a]) * middle)) continue;
      }
      sets->Join(low, high);
    }
  }
}

// Whether all triangles belong to one set.
bool AreJoined(const std::vector<std::vector<uint32_t>>& patches, DisjointSets* sets) {
  const uint32_t first = sets->Find(0);
  return std::all_of(patches.begin(), patches.end(), [&](const auto& patch) {
    return patch.empty() || sets->Find(patch[0]) == first;
  });
}

// Joins each patch with the triangles and corners at which its walks through material end.
// `may_nest`: patches may lie inside another part, so walks outwards may find material too.
void JoinThroughMaterial(const std::vector<Triangle>& triangles, const MaterialWalk& walk,
                         bool may_nest, DisjointSets* sets) {
  const auto num_triangles = static_cast<uint32_t>(triangles.size());
  const auto element = [&](const WalkEnd& end) {
    return end.kind == WalkEnd::Kind::kCorner ? num_triangles + end.index : end.index;
  };
  std::vector<std::vector<uint32_t>> patches(num_triangles);
  for (uint32_t i = 0; i < num_triangles; ++i) patches[sets->Find(i)].push_back(i);
  for (const auto& patch : patches) {
    if (patch.empty()) continue;
    if (AreJoined(patches, sets)) return;
    const size_t probes = std::min(kProbesPerPatch, patch.size());
    for (size_t i = 0; i < probes; ++i) {
      const uint32_t start = patch[i * patch.size() / probes];
      for (const double side : {-1.0, 1.0}) {
        if (side > 0.0 && (!may_nest || i % kProbesPerOutside != 0)) continue;
        const WalkEnd end = walk.From(start, side, [&](const WalkEnd& reached) {
          return sets->Find(element(reached)) != sets->Find(start);
        });
        if (end.kind != WalkEnd::Kind::kLost) sets->Join(start, element(end));
      }
    }
  }
}

void JoinParts(const SurfaceLinks& links, std::span<const uint32_t> triangles, DisjointSets* sets) {
  const uint32_t first_part = links.part_of_triangle[triangles[0]];
  for (uint32_t i = 1; i < triangles.size(); ++i) {
    if (links.part_of_triangle[triangles[i]] != first_part) sets->Join(0, i);
  }
}

TetPieces OnePiece(size_t num_triangles, const std::array<bool, 4>& corner_inside) {
  TetPieces pieces;
  pieces.of_triangle.assign(num_triangles, 0);
  for (size_t i = 0; i < 4; ++i) pieces.of_corner[i] = corner_inside[i] ? 0 : kNoPiece;
  pieces.count = 1;
  return pieces;
}

}  // namespace

SurfaceLinks MakeSurfaceLinks(const SolidSurface& surface) {
  const auto num_points = static_cast<uint32_t>(surface.points.size());
  const SurfaceTopology topology = BuildTopology(surface.triangles, num_points);
  SurfaceLinks links;
  links.edges.resize(surface.triangles.size());
  for (const SurfaceEdge& edge : topology.edges) {
    for (const EdgeUse& use : topology.UsesOf(edge)) {
      const auto& corners = surface.triangles[use.triangle];
      const uint32_t from = use.forward ? edge.a : edge.b;
      const auto at = std::find(corners.begin(), corners.end(), from) - corners.begin();
      links.edges[use.triangle][static_cast<size_t>(at)] = links.num_edges;
    }
    ++links.num_edges;
  }
  links.part_of_triangle = topology.component_of_triangle;
  links.num_parts = topology.num_components;
  return links;
}

PieceFinder::PieceFinder(const SolidSurface& surface, const SurfaceLinks& links,
                         const InsideTest& inside, double clearance, bool join_parts)
    : surface_(surface),
      links_(links),
      inside_(inside),
      clearance_(clearance),
      join_parts_(join_parts),
      edge_seen_(links.num_edges),
      point_seen_(surface.points.size()) {}

TetPieces PieceFinder::Find(const std::array<Vec3d, 4>& tet, std::span<const uint32_t> triangles,
                            const std::array<bool, 4>& corner_inside) {
  const uint32_t number = tet_number_++;
  const auto num_triangles = static_cast<uint32_t>(triangles.size());
  const TetPlanes planes(tet);
  DisjointSets sets(num_triangles + 4);
  uint32_t num_sets = num_triangles;
  const auto join = [&](uint32_t a, uint32_t b) { num_sets -= sets.Join(a, b) ? 1 : 0; };
  for (uint32_t i = 0; i < num_triangles; ++i) {
    const auto& corners = surface_.triangles[triangles[i]];
    std::array<bool, 3> enters = {};
    for (size_t k = 0; k < 3; ++k) {
      Seen& seen = point_seen_[corners[k]];
      const bool is_known = seen.tet == number;
      enters[k] = is_known || planes.Depth(surface_.points[corners[k]]) >= -clearance_;
      if (is_known) join(seen.triangle, i);
      if (enters[k]) seen = {number, i};
    }
    // Edges through the tet with both ends outside. The others have joined their triangles at the
    // end that lies inside.
    for (size_t k = 0; k < 3; ++k) {
      if (enters[k] || enters[(k + 1) % 3]) continue;
      Seen& seen = edge_seen_[links_.edges[triangles[i]][k]];
      if (seen.tet == number && sets.Find(seen.triangle) != sets.Find(i)) {
        const Vec3d& a = surface_.points[corners[k]];
        const Vec3d& b = surface_.points[corners[(k + 1) % 3]];
        if (TriangleMayTouchTet({a, b, b}, tet, clearance_)) join(seen.triangle, i);
      }
      seen = {number, i};
    }
  }
  if (num_sets == 1) return OnePiece(num_triangles, corner_inside);

  if (join_parts_) JoinParts(links_, triangles, &sets);
  std::vector<Triangle> corners;
  for (const uint32_t t : triangles) corners.push_back(surface_.CornersOf(t));
  const MaterialWalk walk(tet, corners, inside_);
  JoinIntersecting(corners, &sets);
  JoinAlongEdges(tet, corners, corner_inside, inside_, walk, &sets);
  JoinThroughMaterial(corners, walk, links_.num_parts > 1 || !surface_.closed, &sets);
  // A corner inside whose set has no triangle occurs only where winding numbers close a hole. It
  // joins the first triangle's piece.
  for (uint32_t i = 0; i < 4; ++i) {
    if (corner_inside[i] && sets.Find(num_triangles + i) >= num_triangles) {
      sets.Join(0, num_triangles + i);
    }
  }
  // Each piece is named by its lowest triangle.
  std::vector<uint32_t> names;
  for (uint32_t i = 0; i < num_triangles; ++i) {
    if (sets.Find(i) == i) names.push_back(i);
  }
  if (names.size() > kMaxPieces) return OnePiece(num_triangles, corner_inside);
  const auto piece_of = [&](uint32_t element) {
    const auto at = std::lower_bound(names.begin(), names.end(), sets.Find(element));
    return static_cast<uint8_t>(at - names.begin());
  };
  TetPieces pieces;
  for (uint32_t i = 0; i < num_triangles; ++i) pieces.of_triangle.push_back(piece_of(i));
  for (uint32_t i = 0; i < 4; ++i) {
    pieces.of_corner[i] = corner_inside[i] ? piece_of(num_triangles + i) : kNoPiece;
  }
  pieces.count = static_cast<uint8_t>(names.size());
  return pieces;
}

}  // namespace plush::tools
