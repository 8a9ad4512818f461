// SPDX-License-Identifier: MIT
// Joins render vertices at equal positions by sorting, and classifies the triangles between them.
// Flat triangles are recognised exactly (mesh/exact_predicates.h).
#include "mesh/welding.h"

#include "mesh/exact_predicates.h"

#include <algorithm>

namespace plush::tools {
namespace {

// A vertex and its position; ordered by position, then vertex.
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

  // The first vertex at each position represents it; then points are numbered in vertex order.
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

namespace {

using Triangle = std::array<uint32_t, 3>;

// A triangle's corners in ascending order.
struct FaceKey {
  Triangle corners;
  uint32_t face = 0;

  bool operator<(const FaceKey& other) const {
    return corners != other.corners ? corners < other.corners : face < other.face;
  }
};

bool HasEqualCorners(const Triangle& t) { return t[0] == t[1] || t[1] == t[2] || t[2] == t[0]; }

std::vector<Triangle> WeldedTriangles(const SurfaceMesh& mesh, const Welding& welding) {
  std::vector<Triangle> triangles(mesh.triangles.size());
  for (size_t i = 0; i < triangles.size(); ++i) {
    for (size_t k = 0; k < 3; ++k) {
      triangles[i][k] = welding.point_of_vertex[mesh.triangles[i][k]];
    }
  }
  return triangles;
}

// Marks triangles that have the same corners as an earlier one.
std::vector<bool> MarkRepeated(const std::vector<Triangle>& triangles) {
  std::vector<FaceKey> keys(triangles.size());
  for (uint32_t i = 0; i < keys.size(); ++i) {
    keys[i] = {triangles[i], i};
    std::sort(keys[i].corners.begin(), keys[i].corners.end());
  }
  std::sort(keys.begin(), keys.end());
  std::vector<bool> repeated(triangles.size());
  for (size_t i = 1; i < keys.size(); ++i) {
    repeated[keys[i].face] = keys[i].corners == keys[i - 1].corners;
  }
  return repeated;
}

}  // namespace

WeldedSurface MakeWeldedSurface(const SurfaceMesh& mesh) {
  WeldedSurface surface;
  const Welding welding = WeldByPosition(mesh);
  surface.points.resize(welding.num_points);
  for (size_t v = 0; v < mesh.positions.size(); ++v) {
    surface.points[welding.point_of_vertex[v]] = mesh.positions[v];
  }
  const std::vector<Triangle> triangles = WeldedTriangles(mesh, welding);
  const std::vector<bool> repeated = MarkRepeated(triangles);
  std::vector<uint32_t> flat;
  for (uint32_t i = 0; i < triangles.size(); ++i) {
    const Triangle& t = triangles[i];
    const bool equal_corners = HasEqualCorners(t);
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
