// SPDX-License-Identifier: MIT
// Cuts a surface by the tets of a cage into the collision surface of the file [Civ 5.4].
#include "partition/partition.h"

#include "mesh/tet_faces.h"
#include "mesh/tet_mesh.h"
#include "mesh/topology.h"
#include "mesh/triangle_bvh.h"
#include "partition/collision_layout.h"
#include "partition/patches.h"
#include "partition/short_edges.h"
#include "partition/surface_clipping.h"

#include <algorithm>
#include <limits>
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

double SquaredDistanceToBox(const Vec3d& p, const auto& box) {
  double sum = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    const auto i = static_cast<size_t>(axis);
    const double outside =
        std::max({double{box.low[i]} - p[axis], p[axis] - double{box.high[i]}, 0.0});
    sum += outside * outside;
  }
  return sum;
}

// The triangle of `surface` nearest to each point; the lowest of equally near ones.
std::vector<uint32_t> NearestTriangles(const SurfaceMesh& surface,
                                       const std::vector<Vec3d>& points) {
  const TriangleBvh bvh(surface.positions, surface.triangles);
  std::vector<uint32_t> nearest;
  nearest.reserve(points.size());
  for (const Vec3d& p : points) {
    double best = std::numeric_limits<double>::infinity();
    uint32_t triangle = 0;
    bvh.AnyOf([&](const auto& box) { return SquaredDistanceToBox(p, box) <= best; },
              [&](uint32_t t) {
                const auto& [a, b, c] = surface.triangles[t];
                const double distance = LengthSquared(
                    p - ClosestPointOnTriangle(p, surface.positions[a], surface.positions[b],
                                               surface.positions[c]));
                if (distance < best || (distance == best && t < triangle)) {
                  best = distance;
                  triangle = t;
                }
                return false;
              });
    nearest.push_back(triangle);
  }
  return nearest;
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

}  // namespace

Partition PartitionSurface(const SolidSurface& surface, const TetMesh& mesh,
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
  partition.data = LayOutCollision(clipped.surface, patches, mesh, surface.source_triangle);
  return partition;
}

Partition PartitionBoundary(const SurfaceMesh& surface, const TetMesh& mesh) {
  const CutSurface cut = CutBoundary(mesh);
  std::vector<Vec3d> middles;
  middles.reserve(cut.triangles.size());
  for (const auto& [a, b, c] : cut.triangles) {
    middles.push_back((cut.points[a] + cut.points[b] + cut.points[c]) / 3.0);
  }
  const SurfacePatches patches = FindPatches(cut);
  Partition partition;
  partition.num_seams = patches.num_cut;
  partition.data = LayOutCollision(cut, patches, mesh, NearestTriangles(surface, middles));
  return partition;
}

}  // namespace plush::tools
