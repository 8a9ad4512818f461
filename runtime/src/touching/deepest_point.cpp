// SPDX-License-Identifier: MIT
// Source: deepest_point.h.
#include "touching/deepest_point.h"

#include "collision/surface_records.h"
#include "touching/lowest_vertex.h"
#include "touching/sunk_points.h"

#include <algorithm>

namespace plush {
namespace {

// The least gap of any vertex in a CdgTet with these gaps of its nodes, `lowest` if none is lower.
float LowestInTet(const TouchingSurface& surface, uint32_t tet, const float (&gaps)[4],
                  float lowest) {
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

// The same for a solid that the tet may reach into.
float LowestInSolid(const LocalCollider& solid, const TouchingSurface& surface, uint32_t tet,
                    NodeVectors x, float lowest) {
  const CollisionView& collision = *surface.collision;
  uint32_t first = 0;
  const size_t count = VerticesOf(collision, tet, &first).size();
  const TetNumbers movable = MovableOf(surface, collision.tets[tet]);
  for (uint32_t v = 0; v < count; ++v) {
    const float gap = solid.TangentFor(surface.Vertex(tet, first + v).Of(x)).gap;
    if (gap < lowest && MeanOf(movable.data(), collision.vertices[first + v]) >= kLeastMovable) {
      lowest = gap;
    }
  }
  return lowest;
}

// Whether no vertex of a tet can be deeper than `lowest`: none is farther from the tet's first node
// than one of the other nodes. A mesh may be out of that node's reach and in a vertex's: `wide`, a
// copy of the solid, looks farther.
bool IsTooFar(const LocalCollider& solid, const CdgTet& tet, NodeVectors x, float lowest,
              LocalCollider* wide) {
  float reach = 0.0f;
  for (int k = 1; k < 4; ++k) {
    reach = std::max(reach, Length(x[tet.nodes[k]] - x[tet.nodes[0]]));
  }
  wide->reach = solid.reach + reach;
  return wide->TangentFor(x[tet.nodes[0]]).gap - reach >= lowest;
}

}  // namespace

float DepthIn(const LocalCollider& collider, const TouchingSurface& surface, NodeVectors x) {
  float lowest = 0.0f;
  if (!surface.has_vertices()) {
    for (size_t i = 0; i < surface.pinned.size(); ++i) {
      if (surface.pinned[i] == 0) lowest = std::min(lowest, collider.TangentFor(x[i]).gap);
    }
    return 0.0f - lowest;
  }
  LocalCollider wide = collider;
  for (uint32_t t = 0; t < surface.collision->tets.size(); ++t) {
    const CdgTet& tet = surface.collision->tets[t];
    if (collider.is_solid) {
      if (!IsTooFar(collider, tet, x, lowest, &wide)) {
        lowest = LowestInSolid(collider, surface, t, x, lowest);
      }
      continue;
    }
    const uint32_t* nodes = tet.nodes;
    const float gaps[4] = {Gap(collider, x[nodes[0]]), Gap(collider, x[nodes[1]]),
                           Gap(collider, x[nodes[2]]), Gap(collider, x[nodes[3]])};
    // Weights are not negative: no vertex is lower than the lowest node.
    if (std::ranges::min(gaps) < lowest) lowest = LowestInTet(surface, t, gaps, lowest);
  }
  return 0.0f - lowest;
}

}  // namespace plush
