// SPDX-License-Identifier: MIT
// Welds a surface, finds neighbours, and numbers triangles and vertices along the tree.
#include "static_mesh/static_mesh.h"

#include "base/float_rounding.h"
#include "mesh/topology.h"
#include "mesh/welding.h"
#include "solid/solid_surface.h"
#include "static_mesh/leaf_order.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace plush::tools {
namespace {

using Triangle = std::array<uint32_t, 3>;

constexpr uint32_t kUnused = UINT32_MAX;

// Zeros are positive, so that equal positions have equal bits.
Vec3 Stored(const Vec3d& p) {
  return {static_cast<float>(p.x) + 0.0f, static_cast<float>(p.y) + 0.0f,
          static_cast<float>(p.z) + 0.0f};
}

WeldedSurface WeldRounded(const SurfaceMesh& surface) {
  SurfaceMesh rounded;
  rounded.triangles = surface.triangles;
  rounded.positions.reserve(surface.positions.size());
  for (const Vec3d& p : surface.positions) rounded.positions.push_back(RoundToFloat(p));
  return MakeWeldedSurface(rounded);
}

std::vector<StaticBox> BoxesOf(const WeldedSurface& welded, std::span<const Triangle> triangles) {
  std::vector<StaticBox> boxes;
  boxes.reserve(triangles.size());
  for (const Triangle& triangle : triangles) {
    const Vec3 first = Stored(welded.points[triangle[0]]);
    StaticBox box = {first, first};
    for (const uint32_t corner : {triangle[1], triangle[2]}) {
      const Vec3 point = Stored(welded.points[corner]);
      box.Add({point, point});
    }
    boxes.push_back(box);
  }
  return boxes;
}

// Fills positions, triangles and source_triangles by the order of the leaves.
void Number(const WeldedSurface& welded, std::span<const Triangle> triangles,
            std::span<const uint32_t> order, StaticMeshData* data) {
  const std::vector<uint32_t> opposite = PairHalfEdges(welded.points, triangles);
  std::vector<uint32_t> place(triangles.size());
  for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  std::vector<uint32_t> vertex_of_point(welded.points.size(), kUnused);
  data->triangles.resize(triangles.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    const uint32_t t = order[i];
    StaticTriangle& record = data->triangles[i];
    for (uint32_t k = 0; k < 3; ++k) {
      uint32_t& vertex = vertex_of_point[triangles[t][k]];
      if (vertex == kUnused) {
        vertex = static_cast<uint32_t>(data->positions.size());
        data->positions.push_back(Stored(welded.points[triangles[t][k]]));
      }
      record.vertices[k] = vertex;
      const uint32_t other = opposite[3 * size_t{t} + k];
      if (other == kNoHalfEdge) {
        ++data->open_edges;
      } else {
        record.neighbours[k] = place[other / 3];
      }
    }
    data->source_triangles.push_back(welded.source_triangle[t]);
  }
}

}  // namespace

StaticMeshData MakeStaticMesh(const SurfaceMesh& surface) {
  StaticMeshData data;
  const WeldedSurface welded = WeldRounded(surface);
  const std::span<const Triangle> triangles =
      std::span(welded.triangles).first(welded.num_with_area);
  if (triangles.empty()) return data;
  data.is_closed = IsClosed(static_cast<uint32_t>(welded.points.size()), welded.triangles);
  const std::vector<StaticBox> boxes = BoxesOf(welded, triangles);
  const std::vector<uint32_t> order = LeafOrder(boxes);
  Number(welded, triangles, order, &data);
  std::vector<StaticBox> ordered;
  ordered.reserve(boxes.size());
  for (const uint32_t t : order) ordered.push_back(boxes[t]);
  StaticBox box = ordered[0];
  for (const StaticBox& other : ordered) box.Add(other);
  data.low = box.low;
  data.high = box.high;
  data.tree = StaticTreeOf(ordered, StaticGrid::Over(box.low, box.high));
  return data;
}

}  // namespace plush::tools
