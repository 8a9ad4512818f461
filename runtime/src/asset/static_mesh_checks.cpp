// SPDX-License-Identifier: MIT
// Checks a static mesh, so that contact and queries can follow its indices unchecked.
// plush/format/static_mesh.h describes the records.
#include "plush/format/static_mesh.h"

#include "asset/asset_checks.h"
#include "asset/check_sink.h"
#include "plush_generated.h"

#include <algorithm>
#include <string_view>

namespace plush {
namespace {

constexpr char kTriangles[] = "static_mesh.triangles";

// Names in a hostile file can share bytes. Refuse materials whose names together are longer than
// the file, so that work with them stays linear in its size.
void CheckSurfaceMaterials(const AssetLayout& layout, CheckSink* sink) {
  const char* section = "static_mesh.materials";
  const auto* materials = layout.root->static_mesh()->materials();
  uint64_t name_bytes = 0;
  for (uint32_t i = 0; i < materials->size() && !sink->stopped(); ++i) {
    const format::SurfaceMaterial* material = materials->Get(i);
    name_bytes += material->name() == nullptr ? 0 : material->name()->size();
    const float friction = material->friction(), restitution = material->restitution();
    if (name_bytes > layout.file_bytes) {
      sink->Fail(CheckKind::kCounts, section, "the names overlap in the file", i);
      return;
    }
    if (IsOutside(friction, -1.0f, kMaxQuantity) != 0) sink->FailNumber(friction, section, i);
    if (IsOutside(restitution, -1.0f, 1.0f) != 0 && !sink->stopped()) {
      sink->FailNumber(restitution, section, i);
    }
  }
}

// The box must be there, finite, and no end below its start.
void CheckBox(const format::StaticMesh& table, const StaticGrid& grid, CheckSink* sink) {
  const char* section = "static_mesh.low";
  if (table.low() == nullptr || table.high() == nullptr) {
    sink->Fail(CheckKind::kStructure, section, "the box is missing");
    return;
  }
  const float low[] = {grid.low.x, grid.low.y, grid.low.z};
  const float high[] = {grid.high.x, grid.high.y, grid.high.z};
  for (int axis = 0; axis < 3 && !sink->stopped(); ++axis) {
    for (const float x : {low[axis], high[axis]}) {
      if (IsOutside(x, -kMaxCoordinate, kMaxCoordinate) != 0 && !sink->stopped()) {
        sink->FailNumber(x, section, 0);
      }
    }
    if (high[axis] < low[axis] && !sink->stopped()) {
      sink->Fail(CheckKind::kOrder, section, "the box ends before it starts");
    }
  }
}

// Returns whether all indices are below their counts.
bool CheckTriangleIndices(const StaticMeshView& mesh, CheckSink* sink) {
  const uint64_t before = sink->num_failures();
  const auto num_vertices = static_cast<uint32_t>(mesh.positions.size());
  const auto num_triangles = static_cast<uint32_t>(mesh.triangles.size());
  ReportWhere(mesh.triangles.size(), CheckKind::kIndex, kTriangles,
              "an index is not below its count", sink, [&](size_t t) {
                const StaticTriangle& record = mesh.triangles[t];
                uint32_t bad = 0;
                for (int k = 0; k < 3; ++k) {
                  bad |= static_cast<uint32_t>(record.vertices[k] >= num_vertices);
                  // No neighbour wraps to 0.
                  bad |= static_cast<uint32_t>(record.neighbours[k] + 1 > num_triangles);
                }
                return bad;
              });
  return sink->num_failures() == before;
}

// Whether the neighbour of triangle `t` across edge `k` names it across the same edge, passed the
// other way.
bool IsNamedBack(std::span<const StaticTriangle> triangles, uint32_t t, int k) {
  const StaticTriangle& here = triangles[t];
  const StaticTriangle& there = triangles[here.neighbours[k]];
  const uint32_t from = here.vertices[k], to = here.vertices[(k + 1) % 3];
  uint32_t found = 0;
  for (int j = 0; j < 3; ++j) {
    found |= static_cast<uint32_t>(there.neighbours[j] == t) &
             static_cast<uint32_t>(there.vertices[j] == to) &
             static_cast<uint32_t>(there.vertices[(j + 1) % 3] == from);
  }
  return found != 0;
}

bool HasDistinctVertices(const StaticTriangle& triangle) {
  const auto& v = triangle.vertices;
  return v[0] != v[1] && v[1] != v[2] && v[2] != v[0];
}

// Different vertices have an edge only once in a triangle. So each link to a later triangle that is
// named back has its own link to an earlier one: if there are as many of both, all are named back.
bool HasSoundLinks(std::span<const StaticTriangle> triangles) {
  uint32_t bad = 0;
  size_t later = 0, earlier = 0;
  for (uint32_t t = 0; t < triangles.size(); ++t) {
    bad |= static_cast<uint32_t>(!HasDistinctVertices(triangles[t]));
    for (int k = 0; k < 3; ++k) {
      const uint32_t other = triangles[t].neighbours[k];
      if (other == kNoTriangle) continue;
      earlier += static_cast<size_t>(other < t);
      bad |= static_cast<uint32_t>(other == t);
      if (other <= t) continue;
      ++later;
      bad |= static_cast<uint32_t>(!IsNamedBack(triangles, t, k));
    }
  }
  return bad == 0 && later == earlier;
}

void CheckLinks(std::span<const StaticTriangle> triangles, CheckSink* sink) {
  if (HasSoundLinks(triangles)) return;
  for (uint32_t t = 0; t < triangles.size() && !sink->stopped(); ++t) {
    if (!HasDistinctVertices(triangles[t])) {
      sink->Fail(CheckKind::kOrder, kTriangles, "the three vertices are not distinct", t);
      continue;
    }
    for (int k = 0; k < 3; ++k) {
      const uint32_t other = triangles[t].neighbours[k];
      if (other == kNoTriangle || (other != t && IsNamedBack(triangles, t, k))) continue;
      sink->Fail(CheckKind::kOrder, kTriangles, "a neighbour does not name the triangle back", t);
      break;
    }
  }
}

// Children that do not exist must overlap nothing: walks do not count leaves.
void CheckTreeEnds(const StaticMeshView& mesh, CheckSink* sink) {
  const StaticLevels& levels = mesh.levels;
  for (uint32_t level = 0; level < levels.count && !sink->stopped(); ++level) {
    const uint32_t last = levels.begin[level + 1] - 1;
    const uint32_t num_children = level + 1 < levels.count
                                      ? levels.begin[level + 2] - levels.begin[level + 1]
                                      : levels.num_leaves;
    const StaticNode& node = mesh.tree[last];
    for (uint32_t child = num_children - kStaticChildren * (last - levels.begin[level]);
         child < kStaticChildren; ++child) {
      bool is_empty = true;
      for (int axis = 0; axis < 3; ++axis) {
        is_empty = is_empty && node.low[axis][child] == UINT16_MAX &&
                   node.flipped_high[axis][child] == UINT16_MAX;
      }
      if (is_empty) continue;
      sink->Fail(CheckKind::kOrder, "static_mesh.tree", "a child that does not exist has bounds",
                 last);
      break;
    }
  }
}

}  // namespace

void CheckStaticMesh(const AssetLayout& layout, CheckSink* sink) {
  const StaticMeshView& mesh = layout.static_mesh;
  CheckNumbers({reinterpret_cast<const float*>(mesh.positions.data()), 3 * mesh.positions.size()},
               3, -kMaxCoordinate, kMaxCoordinate, "static_mesh.positions", sink);
  if (!sink->stopped() && CheckTriangleIndices(mesh, sink)) CheckLinks(mesh.triangles, sink);
  if (sink->stopped()) return;
  const uint32_t num_materials = layout.root->static_mesh()->materials()->size();
  ReportWhere(mesh.materials.size(), CheckKind::kIndex, "static_mesh.triangle_materials",
              "an index is not below its count", sink,
              [&](size_t t) { return mesh.materials[t] < num_materials ? 0u : 1u; });
  if (!sink->stopped()) CheckTreeEnds(mesh, sink);
  if (!sink->stopped()) CheckBox(*layout.root->static_mesh(), mesh.grid, sink);
  if (!sink->stopped() && layout.root->static_mesh()->sides() > format::MeshSides::MAX) {
    sink->Fail(CheckKind::kRange, "static_mesh.sides", "no such sides");
  }
  if (!sink->stopped()) CheckSurfaceMaterials(layout, sink);
}

}  // namespace plush
