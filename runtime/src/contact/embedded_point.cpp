// SPDX-License-Identifier: MIT
// Points of a body's surface. Source: contact_problem.h.
#include "contact/contact_problem.h"

#include <algorithm>

namespace plush {

bool EmbeddedPoint::IsAt(const EmbeddedPoint& other) const {
  return std::ranges::equal(nodes, other.nodes) && std::ranges::equal(weights, other.weights);
}

EmbeddedPoint TouchingSurface::Node(uint32_t id) const {
  const float free = pinned[id] != 0 ? 0.0f : 1.0f;
  return {id, {id, id, id, id}, {1.0f, 0.0f, 0.0f, 0.0f}, {free, 0.0f, 0.0f, 0.0f}};
}

// The nodes stay in ascending order, those without weight move to the end and become the first one:
// a vertex on a face gets the same nodes from both tets.
EmbeddedPoint TouchingSurface::Vertex(uint32_t tet, uint32_t id) const {
  const uint32_t* nodes = collision->tets[tet].nodes;
  const Vec4& w = collision->vertices[id];
  const float weights[4] = {w.x, w.y, w.z, w.w};
  EmbeddedPoint point;
  point.id = id;
  int count = 0;
  for (int k = 0; k < 4; ++k) {
    if (weights[k] == 0.0f) continue;
    point.nodes[count] = nodes[k];
    point.weights[count] = weights[k];
    point.free[count++] = pinned[nodes[k]] != 0 ? 0.0f : weights[k];
  }
  for (int k = count; k < 4; ++k) point.nodes[k] = point.nodes[0];
  return point;
}

EmbeddedPoint TouchingSurface::Point(uint32_t id) const {
  if (!has_vertices()) return Node(id);
  const auto after = std::ranges::upper_bound(collision->patches, id, {}, &CdgPatch::first_vertex);
  return Vertex((after - 1)->tet, id);
}

}  // namespace plush
