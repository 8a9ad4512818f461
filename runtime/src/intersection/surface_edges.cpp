// SPDX-License-Identifier: MIT
#include "intersection/surface_edges.h"

#include "collision/surface_records.h"

#include <algorithm>

namespace plush {
namespace {

const CdgTet& TetOf(const CollisionView& surface, uint32_t triangle) {
  return surface.tets[surface.patches[PatchOf(surface, triangle)].tet];
}

// Whether two vertices are one point of the cage: the same weights for the same nodes.
bool SamePoint(const CdgTet& tet_a, const Vec4& a, const CdgTet& tet_b, const Vec4& b) {
  const auto weight = [](const CdgTet& tet, const Vec4& w, uint32_t node) {
    const float weights[4] = {w.x, w.y, w.z, w.w};
    for (int i = 0; i < 4; ++i)
      if (tet.nodes[i] == node) return weights[i];
    return 0.0f;
  };
  for (int i = 0; i < 4; ++i) {
    const uint32_t of_a = tet_a.nodes[i], of_b = tet_b.nodes[i];
    if (weight(tet_a, a, of_a) != weight(tet_b, b, of_a)) return false;
    if (weight(tet_a, a, of_b) != weight(tet_b, b, of_b)) return false;
  }
  return true;
}

}  // namespace

uint32_t PatchOf(const CollisionView& surface, uint32_t triangle) {
  // No processor can predict these branches, so there are none.
  size_t patch = 0;
  for (size_t left = surface.patches.size(); left > 1;) {
    const size_t half = left / 2;
    patch += surface.patches[patch + half].first_triangle <= triangle ? half : 0;
    left -= half;
  }
  return static_cast<uint32_t>(patch);
}

uint32_t EdgeOf(const CollisionView& surface, uint32_t triangle, int corner) {
  return WithTriangles(surface, [&](const auto& triangles) {
    const uint32_t own = 3 * triangle + static_cast<uint32_t>(corner);
    const uint32_t other = NeighbourOf(triangles[triangle], corner);
    // The lower name counts. kNoTriangle is greater than any. No branches, as in NamesBack.
    const bool is_own = triangle < other;
    const auto& record = triangles[std::min(triangle, other)];
    int shared = 0, edge = 0;
    for (int k = 0; k < 3; ++k) {
      const bool is_shared = NeighbourOf(record, k) == triangle;
      shared += is_shared ? 1 : 0;
      edge = is_shared ? k : edge;
    }
    // If two triangles share several edges, the ends say which one this is.
    const auto same = [&](int k, int l) {
      return SamePoint(TetOf(surface, triangle),
                       surface.vertices[VertexOf(triangles[triangle], k % 3)],
                       TetOf(surface, other), surface.vertices[VertexOf(record, l % 3)]);
    };
    for (int k = 0; shared > 1 && !is_own && k < 3; ++k) {
      if (NeighbourOf(record, k) == triangle && same(corner, k + 1) && same(corner + 1, k)) {
        edge = k;
      }
    }
    const uint32_t named = 3 * other + static_cast<uint32_t>(edge);
    return is_own || shared == 0 || own < named ? own : named;
  });
}

}  // namespace plush
