// SPDX-License-Identifier: MIT
// Checks the collision surface (tree, links, patches, triangles, vertices), so that queries can
// follow its indices unchecked. plush/format/cdg_records.h describes the records.
#include "plush/format/cdg_records.h"

#include "asset/asset_checks.h"
#include "asset/check_sink.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

bool IsInterval(float low, float high) { return low >= 0.0f && low <= high && high <= 1.0f; }

void CheckTets(const AssetLayout& layout, CheckSink* sink) {
  const char* section = "collision.tets";
  const std::span<const CdgTet> tets = layout.collision.tets;
  const size_t num_nodes = layout.simulation.nodes.size();
  for (size_t i = 0; i < tets.size() && !sink->stopped(); ++i) {
    const CdgTet& t = tets[i];
    const auto& n = t.nodes;
    if (n[3] >= num_nodes || t.tet >= layout.simulation.tets.size()) {
      sink->Fail(CheckKind::kIndex, section, "an index is not below its count", i);
    } else if (!(n[0] < n[1] && n[1] < n[2] && n[2] < n[3])) {
      sink->Fail(CheckKind::kOrder, section, "the nodes do not ascend", i);
    } else if (!IsInterval(t.low.x, t.high.x) || !IsInterval(t.low.y, t.high.y) ||
               !IsInterval(t.low.z, t.high.z) || !IsInterval(t.low.w, t.high.w)) {
      sink->Fail(CheckKind::kRange, section, "the bounds are no intervals in [0, 1]", i);
    } else if (i == 0 ? t.first_patch != 0 : t.first_patch <= tets[i - 1].first_patch) {
      sink->Fail(CheckKind::kOrder, section, "the first patches do not ascend from 0", i);
    } else if (t.first_patch >= layout.collision.patches.size()) {
      sink->Fail(CheckKind::kIndex, section, "the first patch is not below its count", i);
    }
  }
}

// Walks the tree once: every leaf must be reached, and no path may be longer than a query's stack.
// A query may visit either child first, so depth matters, not the number of waiting nodes.
void CheckTree(const CollisionView& collision, CheckSink* sink) {
  const char* section = "collision.tree";
  struct SubTree {
    uint32_t leaves;
    uint32_t depth;
  };
  SubTree waiting[kMaxTreeDepth];
  uint32_t num_waiting = 0;
  waiting[num_waiting++] = {static_cast<uint32_t>(collision.tets.size()), 1};
  for (size_t i = 0; i < collision.tree.size(); ++i) {
    const auto [leaves, depth] = waiting[--num_waiting];
    const uint32_t left = collision.tree[i];
    if (leaves == 1 ? left != 0 : left == 0 || left >= leaves) {
      sink->Fail(CheckKind::kOrder, section, "the left child does not leave a leaf for each side",
                 i);
      return;
    }
    if (leaves == 1) continue;
    if (depth == kMaxTreeDepth) {
      sink->Fail(CheckKind::kRange, section, "the tree is deeper than 64", i);
      return;
    }
    waiting[num_waiting++] = {leaves - left, depth + 1};
    waiting[num_waiting++] = {left, depth + 1};
  }
}

void CheckPatchNumbers(const CdgPatch& p, size_t index, CheckSink* sink) {
  const float numbers[] = {p.centroid.x,    p.centroid.y,    p.centroid.z,    p.area,
                           p.vector_area.x, p.vector_area.y, p.vector_area.z, p.thickness};
  for (const float number : numbers) {
    if (std::abs(number) <= kMaxQuantity) continue;
    sink->FailNumber(number, "collision.patches", index);
    return;
  }
  if (p.thickness < 0.0f) {
    sink->Fail(CheckKind::kRange, "collision.patches", "the thickness is below 0", index);
  }
}

void CheckPatches(const CollisionView& collision, CheckSink* sink) {
  const char* section = "collision.patches";
  const std::span<const CdgPatch> patches = collision.patches;
  size_t tet = 0;
  for (size_t i = 0; i < patches.size() && !sink->stopped(); ++i) {
    const CdgPatch& p = patches[i];
    while (tet + 1 < collision.tets.size() && collision.tets[tet + 1].first_patch <= i) ++tet;
    const CdgPatch before = i == 0 ? CdgPatch{} : patches[i - 1];
    const bool ascends = i == 0 ? p.first_triangle == 0 && p.first_vertex == 0 && p.first_link == 0
                                : p.first_triangle > before.first_triangle &&
                                      p.first_vertex > before.first_vertex &&
                                      p.first_link >= before.first_link;
    if (p.tet != tet) {
      sink->Fail(CheckKind::kOrder, section, "the tet is not the one whose run it lies in", i);
    } else if (!ascends) {
      sink->Fail(CheckKind::kOrder, section, "the runs do not ascend from 0", i);
    } else if (p.first_triangle >= collision.num_triangles() ||
               p.first_vertex >= collision.vertices.size() ||
               p.first_link > collision.links.size()) {
      sink->Fail(CheckKind::kIndex, section, "a run does not lie inside its section", i);
    } else {
      CheckPatchNumbers(p, i, sink);
    }
  }
}

// Number of words checked together: those of two triangles, a whole number of vectors.
constexpr size_t kWords = 12;

// Whether any word holds a wrong index. With an odd number of triangles, the last one is checked
// alone.
bool HasWrongIndex(std::span<const CdgTriangle> triangles, uint32_t num_vertices) {
  // An index must be below the limit, or the one value that means an open border.
  int32_t limits[kWords];
  int32_t borders[kWords];
  for (size_t i = 0; i < kWords; ++i) {
    const bool is_vertex = i % 6 < 3;
    limits[i] =
        static_cast<int32_t>(is_vertex ? num_vertices : static_cast<uint32_t>(triangles.size()));
    borders[i] = is_vertex ? -1 : static_cast<int32_t>(kCdgIndexMask);
  }
  const auto* words = reinterpret_cast<const uint32_t*>(triangles.data());
  const size_t num_words = 6 * triangles.size();
  const auto is_bad = [&](uint32_t word, size_t i) {
    const auto index = static_cast<int32_t>(word & kCdgIndexMask);
    return static_cast<int32_t>(index >= limits[i]) & static_cast<int32_t>(index != borders[i]);
  };
  int32_t bad[kWords] = {};
  size_t begin = 0;
  for (; begin + kWords <= num_words; begin += kWords) {
    for (size_t i = 0; i < kWords; ++i) bad[i] |= is_bad(words[begin + i], i);
  }
  for (size_t i = 0; begin + i < num_words; ++i) bad[i] |= is_bad(words[begin + i], i);
  return std::any_of(bad, bad + kWords, [](int32_t b) { return b != 0; });
}

template <class Record>
void ReportTriangles(std::span<const Record> triangles, uint32_t num_vertices, const char* section,
                     CheckSink* sink) {
  for (size_t t = 0; t < triangles.size() && !sink->stopped(); ++t) {
    bool good = true;
    for (int k = 0; k < 3; ++k) {
      const uint32_t neighbour = NeighbourOf(triangles[t], k);
      good = good && VertexOf(triangles[t], k) < num_vertices &&
             (neighbour < triangles.size() || neighbour == kNoTriangle);
    }
    if (!good) sink->Fail(CheckKind::kIndex, section, "an index is not below its count", t);
  }
}

void CheckTriangles(const CollisionView& collision, CheckSink* sink) {
  const auto num_vertices = static_cast<uint32_t>(collision.vertices.size());
  // Packed indices cannot reach elements beyond 2^21, but are not wrong for that.
  if (HasWrongIndex(collision.triangles, num_vertices)) {
    ReportTriangles(collision.triangles, num_vertices, "collision.triangles", sink);
  }
  ReportTriangles(collision.wide_triangles, num_vertices, "collision.wide_triangles", sink);
}

// Checks that triangles name vertices of their own patch: floods place one patch at a time. The
// patches' runs and the triangles' indices are sound.
template <class Record>
void CheckVertexRuns(const CollisionView& collision, std::span<const Record> triangles,
                     const char* section, CheckSink* sink) {
  const std::span<const CdgPatch> patches = collision.patches;
  for (size_t p = 0; p < patches.size() && !triangles.empty() && !sink->stopped(); ++p) {
    const bool is_last = p + 1 == patches.size();
    const size_t vertices_end = is_last ? collision.vertices.size() : patches[p + 1].first_vertex;
    const size_t triangles_end = is_last ? triangles.size() : patches[p + 1].first_triangle;
    const uint32_t first = patches[p].first_vertex;
    const uint32_t count = static_cast<uint32_t>(vertices_end) - first;
    const auto is_foreign = [&](size_t t) {
      uint32_t foreign = 0;  // without branches: files are large
      for (int k = 0; k < 3; ++k) foreign |= VertexOf(triangles[t], k) - first >= count ? 1u : 0u;
      return foreign;
    };
    uint32_t any = 0;
    for (size_t t = patches[p].first_triangle; t < triangles_end; ++t) any |= is_foreign(t);
    for (size_t t = patches[p].first_triangle; t < triangles_end && any != 0; ++t) {
      if (is_foreign(t) == 0) continue;
      sink->Fail(CheckKind::kIndex, section, "a vertex is not of the triangle's patch", t);
    }
  }
}

}  // namespace

void CheckCollision(const AssetLayout& layout, CheckSink* sink) {
  const CollisionView& collision = layout.collision;
  if (collision.tets.empty() || sink->stopped()) return;
  if (!(collision.thickness >= 0.0f && collision.thickness <= kMaxQuantity)) {
    sink->FailNumber(collision.thickness, "collision.thickness", 0);
  }
  const uint64_t before = sink->num_failures();
  CheckTets(layout, sink);
  if (!sink->stopped()) CheckTree(collision, sink);
  // Patches can only be checked against tets whose runs are sound.
  if (sink->num_failures() == before) CheckPatches(collision, sink);
  const bool has_runs = sink->num_failures() == before;
  if (sink->stopped()) return;
  const auto links = collision.links;
  ReportWhere(
      links.size(), CheckKind::kIndex, "collision.links", "a patch is not below its count", sink,
      [&](size_t i) { return (links[i] & ~kSeamLink) >= collision.patches.size() ? 1u : 0u; });
  const uint64_t before_triangles = sink->num_failures();
  CheckTriangles(collision, sink);
  if (has_runs && sink->num_failures() == before_triangles) {
    CheckVertexRuns(collision, collision.triangles, "collision.triangles", sink);
    CheckVertexRuns(collision, collision.wide_triangles, "collision.wide_triangles", sink);
  }
  CheckNumbers(
      {reinterpret_cast<const float*>(collision.vertices.data()), 4 * collision.vertices.size()}, 4,
      0.0f, 1.0f, "collision.vertices", sink);
  const auto sources = collision.source_triangles;
  ReportWhere(sources.size(), CheckKind::kIndex, "collision.source_triangles",
              "a triangle is not below its count", sink,
              [&](size_t i) { return sources[i] >= layout.visual.indices.size() / 3 ? 1u : 0u; });
}

}  // namespace plush
