// SPDX-License-Identifier: MIT
#include "partition/partition.h"

#include "embed/tet_geometry.h"
#include "mesh/triangle_bvh.h"
#include "partition/boundary_surface.h"
#include "partition/collision_layout.h"
#include "partition/patches.h"

#include <limits>
#include <vector>

namespace plush::tools {
namespace {

double SquaredDistanceToBox(const Vec3d& p, const Box3& box) {
  const Vec3d outside = Max(Max(box.low - p, p - box.high), Vec3d{});
  return LengthSquared(outside);
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
    bvh.AnyOf([&](const Box3& box) { return SquaredDistanceToBox(p, box) <= best; },
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

}  // namespace

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
