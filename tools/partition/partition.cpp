// SPDX-License-Identifier: MIT
// Cuts a surface by the tets of a cage into the collision surface of the file [Civ 5.4].
#include "partition/partition.h"

#include "mesh/surface_distance.h"
#include "mesh/tet_faces.h"
#include "mesh/tet_mesh.h"
#include "mesh/topology.h"
#include "partition/collision_layout.h"
#include "partition/patches.h"
#include "partition/short_edges.h"
#include "partition/surface_clipping.h"

#include <algorithm>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

// The boundary of `mesh`. A face's source is its own number.
CutSurface CutBoundary(const TetMesh& mesh) {
  CutSurface surface;
  for (const BoundaryFace& face : FindBoundaryFaces(mesh)) {
    surface.triangles.push_back(face.nodes);
    surface.tets.push_back(face.tet);
    surface.sources.push_back(static_cast<uint32_t>(surface.sources.size()));
  }
  surface.points = mesh.nodes;
  surface.carriers.reserve(mesh.nodes.size());
  for (uint32_t node = 0; node < mesh.nodes.size(); ++node) {
    surface.carriers.push_back({{node, 0, 0, 0}, {1.0, 0.0, 0.0, 0.0}, 1});
  }
  surface.opposite = PairHalfEdges(surface.points, surface.triangles);
  return surface;
}

// `what` completes "N of M triangles ...".
void ReportTriangles(const char* code, const SolidSurface& surface,
                     const std::vector<uint32_t>& triangles, const std::string& what,
                     FindingList* findings) {
  if (triangles.empty()) return;
  std::vector<Place> places;
  for (const uint32_t t : triangles) {
    if (places.size() == kMaxPlaces) break;
    const auto& [a, b, c] = surface.triangles[t];
    places.push_back({(surface.points[a] + surface.points[b] + surface.points[c]) / 3.0,
                      static_cast<int64_t>(surface.source_triangle[t]), -1, ""});
  }
  findings->Add(code, triangles.size(),
                std::to_string(triangles.size()) + " of " +
                    std::to_string(surface.triangles.size()) + " triangles " + what,
                places);
}

// Makes the triangles of a cut surface their own sources, and returns the triangles of `render`
// nearest to their middles.
std::vector<uint32_t> TakeNearestSources(const SurfaceMesh& render, CutSurface* cut) {
  const SurfaceDistance distance(render.positions, render.triangles);
  std::vector<uint32_t> nearest;
  nearest.reserve(cut->triangles.size());
  uint32_t hint = 0;
  for (uint32_t t = 0; t < cut->triangles.size(); ++t) {
    const auto& [a, b, c] = cut->triangles[t];
    hint = distance.Nearest((cut->points[a] + cut->points[b] + cut->points[c]) / 3.0, hint);
    nearest.push_back(hint);
    cut->sources[t] = t;
  }
  return nearest;
}

// Without `render`, the sources are those of `surface`.
Partition CutAndLayOut(const SolidSurface& surface, const SurfaceMesh* render, const TetMesh& mesh,
                       std::span<const uint32_t> tet_of_point, FindingList* findings) {
  Partition partition;
  ClippedSurface clipped = ClipSurface(surface, mesh, tet_of_point);
  partition.num_crossings = clipped.num_crossings;
  ReportTriangles("CDG_OUTSIDE", surface, clipped.outside,
                  "are not held by the tets: the surface cannot be cut by them", findings);
  if (!clipped.outside.empty()) return partition;
  ReportTriangles("CDG_TORN", surface, clipped.torn,
                  "lie where strands of the cage part: the collision surface is open there",
                  findings);
  partition.num_merged =
      CollapseShortEdges(mesh, kShortestCutEdge * Length(BoxOf(surface).Extent()),
                         static_cast<uint32_t>(surface.points.size()), &clipped.surface);
  const SurfacePatches patches = FindPatches(clipped.surface);
  partition.num_seams = patches.num_cut;
  const std::vector<uint32_t> sources =
      render != nullptr ? TakeNearestSources(*render, &clipped.surface) : surface.source_triangle;
  partition.data = LayOutCollision(clipped.surface, patches, mesh, sources);
  return partition;
}

}  // namespace

Partition PartitionSurface(const SolidSurface& surface, const TetMesh& mesh,
                           std::span<const uint32_t> tet_of_point, FindingList* findings) {
  return CutAndLayOut(surface, nullptr, mesh, tet_of_point, findings);
}

Partition PartitionSimplified(const SolidSurface& surface, const SurfaceMesh& render,
                              const TetMesh& mesh, std::span<const uint32_t> tet_of_point,
                              FindingList* findings) {
  return CutAndLayOut(surface, &render, mesh, tet_of_point, findings);
}

Partition PartitionBoundary(const SurfaceMesh& surface, const TetMesh& mesh) {
  CutSurface cut = CutBoundary(mesh);
  const std::vector<uint32_t> sources = TakeNearestSources(surface, &cut);
  const SurfacePatches patches = FindPatches(cut);
  Partition partition;
  partition.num_seams = patches.num_cut;
  partition.data = LayOutCollision(cut, patches, mesh, sources);
  return partition;
}

}  // namespace plush::tools
