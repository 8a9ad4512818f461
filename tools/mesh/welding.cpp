// SPDX-License-Identifier: MIT
#include "mesh/welding.h"

#include <algorithm>

namespace plush::tools {
namespace {

// A position and whose it is; ordered by position, then vertex.
struct Corner {
  Vec3d position;
  uint32_t vertex = 0;
};

bool operator<(const Corner& a, const Corner& b) {
  if (a.position.x != b.position.x) return a.position.x < b.position.x;
  if (a.position.y != b.position.y) return a.position.y < b.position.y;
  if (a.position.z != b.position.z) return a.position.z < b.position.z;
  return a.vertex < b.vertex;
}

}  // namespace

Welding WeldByPosition(const SurfaceMesh& mesh) {
  const auto num_vertices = static_cast<uint32_t>(mesh.positions.size());
  std::vector<Corner> corners(num_vertices);
  for (uint32_t v = 0; v < num_vertices; ++v) corners[v] = {mesh.positions[v], v};
  std::sort(corners.begin(), corners.end());

  // The first vertex at each position speaks for it; points are then numbered in vertex order.
  std::vector<uint32_t> first_vertex(num_vertices);
  for (uint32_t i = 0; i < num_vertices; ++i) {
    const bool same = i > 0 && corners[i].position == corners[i - 1].position;
    first_vertex[corners[i].vertex] =
        same ? first_vertex[corners[i - 1].vertex] : corners[i].vertex;
  }
  Welding welding;
  welding.point_of_vertex.resize(num_vertices);
  for (uint32_t v = 0; v < num_vertices; ++v) {
    welding.point_of_vertex[v] =
        first_vertex[v] == v ? welding.num_points++ : welding.point_of_vertex[first_vertex[v]];
  }
  return welding;
}

}  // namespace plush::tools
