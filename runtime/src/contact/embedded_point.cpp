// SPDX-License-Identifier: MIT
// Points of a body's surface and their coefficients. Source: contact_problem.h.
#include "contact/contact_problem.h"

#include <algorithm>
#include <cmath>

namespace plush {

bool EmbeddedPoint::IsAt(const EmbeddedPoint& other) const {
  return std::ranges::equal(nodes, other.nodes) && std::ranges::equal(weights, other.weights);
}

EmbeddedPoint TouchingSurface::Node(uint32_t id) const {
  const float free = pinned[id] != 0 ? 0.0f : 1.0f;
  const uint16_t material = node_materials.empty() ? uint16_t{0} : node_materials[id];
  return {id, {id, id, id, id}, {1.0f, 0.0f, 0.0f, 0.0f}, {free, 0.0f, 0.0f, 0.0f}, material};
}

// The nodes stay in ascending order, those without weight move to the end and become the first one:
// a vertex on a face gets the same nodes from both tets.
EmbeddedPoint TouchingSurface::Vertex(uint32_t tet, uint32_t id) const {
  const CdgTet& carrier = collision->tets[tet];
  const Vec4& w = collision->vertices[id];
  const float weights[4] = {w.x, w.y, w.z, w.w};
  EmbeddedPoint point;
  point.id = id;
  if (!tet_materials.empty()) point.material = tet_materials[carrier.tet];
  int count = 0;
  for (int k = 0; k < 4; ++k) {
    if (weights[k] == 0.0f) continue;
    point.nodes[count] = carrier.nodes[k];
    point.weights[count] = weights[k];
    point.free[count++] = pinned[carrier.nodes[k]] != 0 ? 0.0f : weights[k];
  }
  for (int k = count; k < 4; ++k) point.nodes[k] = point.nodes[0];
  return point;
}

EmbeddedPoint TouchingSurface::Point(uint32_t id) const {
  if (!has_vertices()) return Node(id);
  const auto after = std::ranges::upper_bound(collision->patches, id, {}, &CdgPatch::first_vertex);
  return Vertex((after - 1)->tet, id);
}

float CoefficientRules::Friction(const EmbeddedPoint& point, const LocalCollider& plane) const {
  const float baked_one = baked.empty() ? -1.0f : baked[point.material].friction;
  const float own = body.friction >= 0.0f ? body.friction : baked_one;
  const float other = plane.coefficients.friction;
  if (mix_friction != nullptr) {
    const float mixed = mix_friction(own, user_data, other, plane.user_data);
    return mixed > 0.0f && std::isfinite(mixed) ? mixed : 0.0f;
  }
  if (own >= 0.0f && other >= 0.0f) return std::sqrt(own) * std::sqrt(other);
  constexpr float kDefault = 0.5f;
  return own >= 0.0f ? own : other >= 0.0f ? other : kDefault;
}

float CoefficientRules::Restitution(const EmbeddedPoint& point, const LocalCollider& plane) const {
  const float baked_one = baked.empty() ? -1.0f : baked[point.material].restitution;
  const float own = body.restitution >= 0.0f ? body.restitution : baked_one;
  const float other = plane.coefficients.restitution;
  const float mixed = mix_restitution != nullptr
                          ? mix_restitution(own, user_data, other, plane.user_data)
                          : std::fmax(own, other);
  return mixed > 0.0f && std::isfinite(mixed) ? std::fmin(mixed, 1.0f) : 0.0f;
}

}  // namespace plush
