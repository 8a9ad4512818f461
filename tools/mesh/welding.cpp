// SPDX-License-Identifier: MIT
// Joins vertices at equal positions by sorting, and classifies the triangles between them.
// Recognises flat triangles exactly (mesh/exact_predicates.h).
#include "mesh/welding.h"

#include "mesh/exact_predicates.h"

#include <algorithm>
#include <tuple>

namespace plush::tools {
namespace {

struct Corner {
  Vec3d position;
  uint32_t vertex = 0;
};

}  // namespace

Welding WeldByPosition(const SurfaceMesh& mesh) {
  const auto num_vertices = static_cast<uint32_t>(mesh.positions.size());
  std::vector<Corner> corners(num_vertices);
  for (uint32_t v = 0; v < num_vertices; ++v) corners[v] = {mesh.positions[v], v};
  std::sort(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) {
    const Vec3d& p = a.position;
    const Vec3d& q = b.position;
    return std::tie(p.x, p.y, p.z, a.vertex) < std::tie(q.x, q.y, q.z, b.vertex);
  });

  // Points are numbered in the order of their first vertices.
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

WeldedSurface MakeWeldedSurface(const SurfaceMesh& mesh) {
  WeldedSurface surface;
  const Welding welding = WeldByPosition(mesh);
  surface.points.resize(welding.num_points);
  for (size_t v = 0; v < mesh.positions.size(); ++v) {
    surface.points[welding.point_of_vertex[v]] = mesh.positions[v];
  }
  std::vector<std::array<uint32_t, 3>> triangles = mesh.triangles;
  for (auto& triangle : triangles) {
    for (uint32_t& corner : triangle) corner = welding.point_of_vertex[corner];
  }
  const std::vector<bool> repeated = MarkRepeated(triangles);
  std::vector<uint32_t> flat;
  for (uint32_t i = 0; i < triangles.size(); ++i) {
    const auto& t = triangles[i];
    const bool equal_corners = t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
    const bool has_area =
        !equal_corners &&
        !AreCollinear(surface.points[t[0]], surface.points[t[1]], surface.points[t[2]]);
    if (!has_area) surface.degenerate.push_back(i);
    if (equal_corners) continue;
    if (repeated[i]) {
      if (has_area) surface.duplicates.push_back(i);
    } else if (has_area) {
      surface.triangles.push_back(t);
      surface.source_triangle.push_back(i);
    } else {
      flat.push_back(i);
    }
  }
  surface.num_with_area = surface.triangles.size();
  for (const uint32_t i : flat) {
    surface.triangles.push_back(triangles[i]);
    surface.source_triangle.push_back(i);
  }
  surface.point_of_vertex = welding.point_of_vertex;
  return surface;
}

}  // namespace plush::tools
