// SPDX-License-Identifier: MIT
// The collision surface: what a query may follow without looking again.
#include "asset/asset_checks.h"
#include "asset/asset_limits.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Elements that are looked at together before the first wrong one is searched for.
constexpr size_t kBlock = 1024;

// Reports every element i below `size` for which is_bad(i), a test without branches: a block
// without one costs a single branch.
template <class IsBad>
void ReportWhere(size_t size, CheckSink* sink, CheckKind kind, const char* section,
                 const char* reason, IsBad is_bad) {
  for (size_t begin = 0; begin < size && !sink->stopped(); begin += kBlock) {
    const size_t end = std::min(size, begin + kBlock);
    uint32_t bad = 0;
    for (size_t i = begin; i < end; ++i) bad |= is_bad(i);
    if (bad == 0) continue;
    for (size_t i = begin; i < end && !sink->stopped(); ++i) {
      if (is_bad(i) != 0) sink->Fail(kind, section, reason, i);
    }
  }
}

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

// Walks the tree once: every leaf is there, and no path is longer than a query's stack. A query may
// go to either child first, so it is the depth that counts, not how many nodes wait at a time.
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
  const float numbers[] = {p.centroid.x,    p.centroid.y,    p.centroid.z,   p.area,
                           p.vector_area.x, p.vector_area.y, p.vector_area.z};
  for (const float number : numbers) {
    if (std::abs(number) <= kMaxQuantity) continue;
    sink->Fail(CheckKind::kNonFinite, "collision.patches", "a number is not finite", index);
    return;
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

void CheckTriangles(const CollisionView& collision, CheckSink* sink) {
  const auto num_vertices = static_cast<uint32_t>(collision.vertices.size());
  const uint32_t num_triangles = collision.num_triangles();
  const char* reason = "an index is not below its count";
  const auto packed = collision.triangles;
  ReportWhere(packed.size(), sink, CheckKind::kIndex, "collision.triangles", reason, [&](size_t i) {
    const uint32_t* w = packed[i].words;
    uint32_t bad = 0;
    for (int k = 0; k < 3; ++k) {
      const auto vertex = static_cast<int32_t>(w[k] & kCdgIndexMask);
      const auto neighbour = static_cast<int32_t>(w[3 + k] & kCdgIndexMask);
      bad |= vertex >= static_cast<int32_t>(num_vertices) ? 1u : 0u;
      bad |= neighbour >= static_cast<int32_t>(num_triangles) &&
                     neighbour != static_cast<int32_t>(kCdgIndexMask)
                 ? 1u
                 : 0u;
    }
    return bad;
  });
  const auto wide = collision.wide_triangles;
  ReportWhere(wide.size(), sink, CheckKind::kIndex, "collision.wide_triangles", reason,
              [&](size_t i) {
                uint32_t bad = 0;
                for (int k = 0; k < 3; ++k) {
                  const uint32_t neighbour = wide[i].neighbours[k];
                  bad |= wide[i].vertices[k] >= num_vertices ? 1u : 0u;
                  bad |= neighbour >= num_triangles && neighbour != kNoTriangle ? 1u : 0u;
                }
                return bad;
              });
}

}  // namespace

void CheckCollision(const AssetLayout& layout, CheckSink* sink) {
  const CollisionView& collision = layout.collision;
  if (collision.tets.empty() || sink->stopped()) return;
  const uint64_t before = sink->num_failures();
  CheckTets(layout, sink);
  if (!sink->stopped()) CheckTree(collision, sink);
  // The runs of patches are looked up through the tets'.
  if (sink->num_failures() == before) CheckPatches(collision, sink);
  if (sink->stopped()) return;
  const auto links = collision.links;
  ReportWhere(
      links.size(), sink, CheckKind::kIndex, "collision.links", "a patch is not below its count",
      [&](size_t i) { return (links[i] & ~kSeamLink) >= collision.patches.size() ? 1u : 0u; });
  CheckTriangles(collision, sink);
  const auto vertices = collision.vertices;
  ReportWhere(vertices.size(), sink, CheckKind::kRange, "collision.vertices",
              "a weight is not in [0, 1]", [&](size_t i) {
                const Vec4& w = vertices[i];
                const bool good = w.x >= 0.0f && w.x <= 1.0f && w.y >= 0.0f && w.y <= 1.0f &&
                                  w.z >= 0.0f && w.z <= 1.0f && w.w >= 0.0f && w.w <= 1.0f;
                return good ? 0u : 1u;
              });
  const auto sources = collision.source_triangles;
  ReportWhere(sources.size(), sink, CheckKind::kIndex, "collision.source_triangles",
              "a triangle is not below its count",
              [&](size_t i) { return sources[i] >= layout.visual.indices.size() / 3 ? 1u : 0u; });
}

}  // namespace plush
