// SPDX-License-Identifier: MIT
// Source: deepest_point.h.
#include "contact/deepest_point.h"

#include "collision/surface_records.h"
#include "contact/lowest_vertex.h"

#include <algorithm>

namespace plush {
namespace {

// The least gap of any vertex in a CdgTet with these gaps of its nodes, `lowest` if none is lower.
float LowestIn(const TouchingSurface& surface, uint32_t tet, const float (&gaps)[4], float lowest) {
  uint32_t first = 0;
  const std::span<const Vec4> vertices = VerticesOf(*surface.collision, tet, &first);
  float movable[4];
  for (int k = 0; k < 4; ++k) {
    movable[k] = surface.pinned[surface.collision->tets[tet].nodes[k]] != 0 ? 0.0f : 1.0f;
  }
  if (std::ranges::count(movable, 1.0f) == 4) {
    return std::min(lowest, LowestVertex(vertices, gaps).gap);
  }
  for (const Vec4& weights : vertices) {
    const float gap = MeanOf(gaps, weights);
    if (gap < lowest && MeanOf(movable, weights) >= kLeastMovable) lowest = gap;
  }
  return lowest;
}

}  // namespace

float DepthBelow(const LocalCollider& plane, const TouchingSurface& surface, NodeVectors x) {
  if (!IsUsed(plane)) return 0.0f;
  float lowest = 0.0f;
  if (!surface.has_vertices()) {
    for (size_t i = 0; i < surface.pinned.size(); ++i) {
      if (surface.pinned[i] == 0) lowest = std::min(lowest, Gap(plane, x[i]));
    }
    return 0.0f - lowest;
  }
  for (uint32_t t = 0; t < surface.collision->tets.size(); ++t) {
    const uint32_t* nodes = surface.collision->tets[t].nodes;
    const float gaps[4] = {Gap(plane, x[nodes[0]]), Gap(plane, x[nodes[1]]),
                           Gap(plane, x[nodes[2]]), Gap(plane, x[nodes[3]])};
    // Weights are not negative: no vertex is lower than the lowest node.
    if (std::ranges::min(gaps) < lowest) lowest = LowestIn(surface, t, gaps, lowest);
  }
  return 0.0f - lowest;
}

}  // namespace plush
