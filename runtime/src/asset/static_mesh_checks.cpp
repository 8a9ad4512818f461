// SPDX-License-Identifier: MIT
// Checks a static mesh, so that contact and queries can follow its indices unchecked.
// plush/format/static_mesh.h describes the records.
#include "plush/format/static_mesh.h"

#include "asset/asset_checks.h"
#include "asset/check_sink.h"
#include "plush_generated.h"

#include <algorithm>
#include <cstring>

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

// CheckNumbers is compiled for size; this is the one check of so many numbers of a static mesh.
void CheckPositions(std::span<const Vec3> positions, CheckSink* sink) {
  const auto* numbers = reinterpret_cast<const float*>(positions.data());
  const auto is_bad = [&](size_t i) {
    return IsOutside(numbers[i], -kMaxCoordinate, kMaxCoordinate);
  };
  ForEachBad(3 * positions.size(), *sink, is_bad,
             [&](size_t i) { sink->FailNumber(numbers[i], "static_mesh.positions", i / 3); });
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

// Words checked together: those of two triangles, a whole number of vectors.
constexpr size_t kWords = 12;

// Whether any vertex or neighbour of a run of triangles is wrong. A word w is below `limit` if
// w - limit is negative and w is not, as signed numbers: counts are below 2^31. Neighbours are
// raised by 1, so that none is 0.
bool HasWrongIndex(const StaticMeshView& mesh, size_t first, size_t count) {
  uint32_t limits[kWords], raise[kWords], bad[kWords] = {};
  for (size_t i = 0; i < kWords; ++i) {
    const bool is_vertex = i % 6 < 3;
    raise[i] = is_vertex ? 0 : 1;
    limits[i] =
        static_cast<uint32_t>(is_vertex ? mesh.positions.size() : mesh.triangles.size() + 1);
  }
  const auto* words = reinterpret_cast<const uint32_t*>(&mesh.triangles[first]);
  const size_t num_words = 6 * count;
  size_t begin = 0;
  for (; begin + kWords <= num_words; begin += kWords) {
    for (size_t i = 0; i < kWords; ++i) {
      const uint32_t word = words[begin + i] + raise[i];
      bad[i] |= ~(word - limits[i]) | word;
    }
  }
  for (size_t i = 0; begin + i < num_words; ++i) {
    const uint32_t word = words[begin + i] + raise[i];
    bad[i] |= ~(word - limits[i]) | word;
  }
  return std::any_of(bad, bad + kWords, [](uint32_t b) { return b >> 31 != 0; });
}

// Counts by lanes how often a triangle names another across an edge.
#if defined(__GNUC__) && !defined(PLUSH_SCALAR_LANES)
using NameCounts = uint32_t __attribute__((vector_size(16)));
#else
struct NameCounts {
  uint32_t lanes[4];
  uint32_t operator[](int i) const { return lanes[i]; }
};
#endif

// Adds how often the neighbour of triangle `t` across edge `k` names it across the same edge,
// passed the other way. Without a branch.
void CountNames(const StaticTriangle* triangles, uint32_t t, uint32_t k, NameCounts* counts) {
  const StaticTriangle& here = triangles[t];
  const StaticTriangle& there = triangles[here.neighbours[k]];
  const uint32_t from = here.vertices[k], to = here.vertices[k == 2 ? 0 : k + 1];
#if defined(__GNUC__) && !defined(PLUSH_SCALAR_LANES)
  NameCounts low, high;  // vertices and the first neighbour; the last vertex and neighbours
  std::memcpy(&low, &there, sizeof low);
  std::memcpy(&high, &there.vertices[2], sizeof high);
  const NameCounts next = __builtin_shufflevector(low, low, 1, 2, 0, 3);
  const NameCounts names = __builtin_shufflevector(high, high, 1, 2, 3, 0);
  // The last lane holds a neighbour in `low` and `next`, so it cannot equal two vertices.
  *counts -= NameCounts((low == to) & (next == from) & (names == t));
#else
  for (int j = 0; j < 3; ++j) {
    counts->lanes[j] += static_cast<uint32_t>(there.neighbours[j] == t) &
                        static_cast<uint32_t>(there.vertices[j] == to) &
                        static_cast<uint32_t>(there.vertices[(j + 1) % 3] == from);
  }
#endif
}

uint32_t Sum(const NameCounts& counts) { return counts[0] + counts[1] + counts[2]; }

uint32_t HasEqualVertices(const StaticTriangle& triangle) {
  const auto& [a, b, c] = triangle.vertices;
  return static_cast<uint32_t>(a == b) | static_cast<uint32_t>(b == c) |
         static_cast<uint32_t>(c == a);
}

// Whether indices are below their counts and all neighbours name each other. Different vertices
// have an edge only once in a triangle. So each link to a later triangle that is named back has its
// own link to an earlier one: if there are as many of both, all are named back. Links to later
// triangles are collected without a branch, which no processor could predict.
bool AreTrianglesSound(const StaticMeshView& mesh) {
  constexpr size_t kBlock = 256;
  const std::span<const StaticTriangle> triangles = mesh.triangles;
  uint32_t bad = 0;
  size_t num_later = 0, num_earlier = 0;
  NameCounts named_back = {};
  uint32_t edges[3 * kBlock];  // 4 t + k, relative to the block
  for (size_t begin = 0; begin < triangles.size(); begin += kBlock) {
    const size_t size = std::min(kBlock, triangles.size() - begin);
    if (HasWrongIndex(mesh, begin, size)) return false;
    const auto first = static_cast<uint32_t>(begin);
    uint32_t num_edges = 0;
    for (uint32_t i = 0; i < size; ++i) {
      const StaticTriangle& triangle = triangles[begin + i];
      const uint32_t t = first + i;
      bad |= HasEqualVertices(triangle);
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t other = triangle.neighbours[k];
        bad |= static_cast<uint32_t>(other == t);
        num_earlier += static_cast<size_t>(other < t);
        edges[num_edges] = 4 * i + k;
        // No neighbour is -1: not later than anything.
        num_edges += static_cast<uint32_t>(static_cast<int32_t>(other) > static_cast<int32_t>(t));
      }
    }
    for (uint32_t i = 0; i < num_edges; ++i) {
      CountNames(triangles.data(), first + edges[i] / 4, edges[i] % 4, &named_back);
    }
    num_later += num_edges;
  }
  return bad == 0 && Sum(named_back) == num_later && num_later == num_earlier;
}

// Whether triangle `t` and its neighbour across each edge name each other.
bool HasMutualLinks(std::span<const StaticTriangle> triangles, uint32_t t) {
  for (uint32_t k = 0; k < 3; ++k) {
    const uint32_t other = triangles[t].neighbours[k];
    if (other == kNoTriangle) continue;
    NameCounts counts = {};
    CountNames(triangles.data(), t, k, &counts);
    if (other == t || Sum(counts) == 0) return false;
  }
  return true;
}

// Reports wrong indices; if there are none, vertices that are not distinct and links that are not
// mutual.
void CheckTriangles(const StaticMeshView& mesh, CheckSink* sink) {
  if (AreTrianglesSound(mesh)) return;
  const auto count = static_cast<uint32_t>(mesh.triangles.size());
  const uint64_t before = sink->num_failures();
  for (uint32_t t = 0; t < count && !sink->stopped(); ++t) {
    if (HasWrongIndex(mesh, t, 1)) {
      sink->Fail(CheckKind::kIndex, kTriangles, "an index is not below its count", t);
    }
  }
  if (sink->num_failures() != before) return;
  for (uint32_t t = 0; t < count && !sink->stopped(); ++t) {
    if (HasEqualVertices(mesh.triangles[t]) != 0) {
      sink->Fail(CheckKind::kOrder, kTriangles, "the three vertices are not distinct", t);
    } else if (!HasMutualLinks(mesh.triangles, t)) {
      sink->Fail(CheckKind::kOrder, kTriangles, "a neighbour does not name the triangle back", t);
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
  CheckPositions(mesh.positions, sink);
  if (!sink->stopped()) CheckTriangles(mesh, sink);
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
