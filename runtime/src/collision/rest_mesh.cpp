// SPDX-License-Identifier: MIT
// Welds the patches of a collision surface and finds neighbours by sorting edges.
#include "collision/rest_mesh.h"

#include "base/vector_math.h"
#include "collision/surface_records.h"
#include "collision/vertex_positions.h"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <tuple>
#include <utility>

namespace plush {
namespace {

constexpr uint32_t kUnused = UINT32_MAX;

// An edge of a triangle. Those of the same two vertices follow each other if sorted.
struct Edge {
  uint32_t low = 0, high = 0;  // vertices
  uint32_t triangle = 0;
  uint32_t corner = 0;      // the edge starts there
  bool is_forward = false;  // from low to high

  auto operator<=>(const Edge&) const = default;
  bool SameVertices(const Edge& other) const { return low == other.low && high == other.high; }
};

// Positions of all vertices at rest [m].
void PlaceVertices(const Asset& asset, std::span<Vec3> positions) {
  const CollisionView& surface = asset.collision();
  const std::span<const Vec3> rest = asset.cage().nodes;
  for (uint32_t t = 0; t < surface.tets.size(); ++t) {
    const uint32_t(&n)[4] = surface.tets[t].nodes;
    uint32_t vertex = 0;
    for (const Vec4& weights : VerticesOf(surface, t, &vertex)) {
      positions[vertex++] =
          VertexPosition({rest[n[0]], rest[n[1]], rest[n[2]], rest[n[3]]}, weights);
    }
  }
}

// Writes for each vertex the first one at its position. `order` is room for as many.
void Weld(std::span<const Vec3> positions, std::span<uint32_t> order, std::span<uint32_t> first) {
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](uint32_t i) {
    return std::make_tuple(positions[i].x, positions[i].y, positions[i].z, i);
  };
  std::ranges::sort(order, {}, key);
  for (size_t i = 0; i < order.size(); ++i) {
    const Vec3 &here = positions[order[i]], &before = positions[order[i == 0 ? 0 : i - 1]];
    const bool is_same = i > 0 && here.x == before.x && here.y == before.y && here.z == before.z;
    first[order[i]] = is_same ? first[order[i - 1]] : order[i];
  }
}

bool HasArea(const Vec3& a, const Vec3& b, const Vec3& c) {
  const double u[3] = {double(b.x) - a.x, double(b.y) - a.y, double(b.z) - a.z};
  const double v[3] = {double(c.x) - a.x, double(c.y) - a.y, double(c.z) - a.z};
  return u[1] * v[2] != u[2] * v[1] || u[2] * v[0] != u[0] * v[2] || u[0] * v[1] != u[1] * v[0];
}

// Writes the triangles with area, by numbers of the surface's vertices, and their materials.
// Returns how many there are. Adds the edges of all triangles to `edges`.
uint32_t ListTriangles(const Asset& asset, std::span<const Vec3> positions,
                       std::span<const uint32_t> first, RestMesh* mesh, std::span<Edge> edges,
                       uint32_t* num_edges) {
  const CollisionView& surface = asset.collision();
  const std::span<const uint16_t> of_tets = asset.cage().tet_materials;
  uint32_t count = 0;
  const auto add = [&](uint32_t tet, const auto& record) {
    const uint32_t v[3] = {first[VertexOf(record, 0)], first[VertexOf(record, 1)],
                           first[VertexOf(record, 2)]};
    if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) return;
    const bool has_area = HasArea(positions[v[0]], positions[v[1]], positions[v[2]]);
    for (uint32_t k = 0; k < 3; ++k) {
      const uint32_t from = v[k], to = v[(k + 1) % 3];
      edges[(*num_edges)++] = {std::min(from, to), std::max(from, to), has_area ? count : kUnused,
                               k, from < to};
    }
    if (!has_area) return;
    mesh->triangles[count] = {{v[0], v[1], v[2]}};
    mesh->materials[count++] = of_tets[surface.tets[tet].tet];
  };
  WithTriangles(surface, [&](const auto& records) {
    for (uint32_t tet = 0; tet < surface.tets.size(); ++tet) {
      ForTrianglesOf(surface, tet, [&](uint32_t, uint32_t i) { add(tet, records[i]); });
    }
  });
  return count;
}

// Links triangles across edges that have two, which pass them in opposite directions. Returns
// whether the surface is closed. Sorts the edges.
bool LinkNeighbours(std::span<Edge> edges, std::span<StaticTriangle> triangles) {
  std::ranges::sort(edges);
  bool is_closed = true;
  for (size_t begin = 0, end = 0; begin < edges.size(); begin = end) {
    size_t num_forward = 0;
    for (end = begin; end < edges.size() && edges[end].SameVertices(edges[begin]); ++end) {
      num_forward += edges[end].is_forward ? 1 : 0;
    }
    is_closed = is_closed && 2 * num_forward == end - begin;
    const Edge &one = edges[begin], &other = edges[end - 1];
    if (end - begin != 2 || num_forward != 1 || one.triangle == kUnused ||
        other.triangle == kUnused) {
      continue;
    }
    triangles[one.triangle].neighbours[one.corner] = other.triangle;
    triangles[other.triangle].neighbours[other.corner] = one.triangle;
  }
  return is_closed;
}

// Numbers the vertices by their first use. `numbers` is room for one per vertex of the surface.
// Returns how many there are.
uint32_t NumberVertices(std::span<const Vec3> positions, std::span<uint32_t> numbers,
                        RestMesh* mesh) {
  std::ranges::fill(numbers, kUnused);
  uint32_t count = 0;
  for (StaticTriangle& triangle : mesh->triangles) {
    for (uint32_t& vertex : triangle.vertices) {
      if (numbers[vertex] == kUnused) {
        mesh->positions[count] = positions[vertex];
        numbers[vertex] = count++;
      }
      vertex = numbers[vertex];
    }
  }
  return count;
}

// Shortens an array. Returns false if the allocator fails.
template <class T>
bool Shorten(const Allocator& allocator, size_t size, Array<T>* array) {
  Array<T> shorter;
  if (!shorter.Allocate(allocator, size)) return false;
  std::copy_n(array->begin(), size, shorter.begin());
  *array = std::move(shorter);
  return true;
}

StaticBox BoxOf(const StaticTriangle& triangle, std::span<const Vec3> positions) {
  const Vec3& a = positions[triangle.vertices[0]];
  StaticBox box = {a, a};
  for (const uint32_t vertex : triangle.vertices) box.Add({positions[vertex], positions[vertex]});
  return box;
}

bool MakeTree(const Allocator& allocator, RestMesh* mesh) {
  Array<StaticBox> boxes;
  mesh->view.levels = StaticLevels::For(mesh->triangles.size());
  if (!boxes.Allocate(allocator, mesh->triangles.size()) ||
      !mesh->tree.Allocate(allocator, mesh->view.levels.num_nodes())) {
    return false;
  }
  for (size_t t = 0; t < boxes.size(); ++t) {
    boxes[t] = BoxOf(mesh->triangles[t], mesh->positions.span());
  }
  StaticBox all = boxes[0];
  for (const StaticBox& box : boxes) all.Add(box);
  mesh->view.grid = StaticGrid::Over(all.low, all.high);
  FillStaticTree(mesh->view.grid, boxes.span(), mesh->tree.span());
  return true;
}

}  // namespace

bool MakeRestMesh(const Allocator& allocator, const Asset& asset, RestMesh* mesh) {
  const size_t num_vertices = asset.collision().vertices.size();
  const size_t num_triangles = asset.collision().num_triangles();
  Array<Vec3> positions;
  Array<uint32_t> first, order;
  Array<Edge> edges;
  if (!positions.Allocate(allocator, num_vertices) || !first.Allocate(allocator, num_vertices) ||
      !order.Allocate(allocator, num_vertices) || !edges.Allocate(allocator, 3 * num_triangles) ||
      !mesh->positions.Allocate(allocator, num_vertices) ||
      !mesh->triangles.Allocate(allocator, num_triangles) ||
      !mesh->materials.Allocate(allocator, num_triangles)) {
    return false;
  }
  mesh->asset = &asset;
  PlaceVertices(asset, positions.span());
  Weld(positions.span(), order.span(), first.span());
  uint32_t num_edges = 0;
  const uint32_t count =
      ListTriangles(asset, positions.span(), first.span(), mesh, edges.span(), &num_edges);
  const bool is_closed = LinkNeighbours(edges.span().first(num_edges), mesh->triangles.span());
  if (!Shorten(allocator, count, &mesh->triangles) ||
      !Shorten(allocator, count, &mesh->materials)) {
    return false;
  }
  const uint32_t num_used = NumberVertices(positions.span(), order.span(), mesh);
  if (!Shorten(allocator, num_used, &mesh->positions)) return false;
  if (count > 0 && !MakeTree(allocator, mesh)) return false;
  mesh->view.positions = mesh->positions.span();
  mesh->view.triangles = mesh->triangles.span();
  mesh->view.materials = mesh->materials.span();
  mesh->view.tree = mesh->tree.span();
  mesh->view.sides = is_closed ? MeshSides::kSolid : MeshSides::kFront;
  return true;
}

}  // namespace plush
