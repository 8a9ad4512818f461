// SPDX-License-Identifier: MIT
#include "contact/point_masses.h"

namespace plush {
namespace {

// Of a point, in the world's units [1/kg].
float InverseMass(const BodyContact::Side& side) {
  if (side.of->is_static) return 0.0f;
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) {
    const float share = side.point.Free(k);
    sum += share * share * side.of->x[side.point.nodes[k]].w;
  }
  const float s = side.of->scale;
  return sum / (s * s * s);
}

}  // namespace

void AddImpulse(const Vec3& impulse, std::span<NodeVec> MovedNodes::*nodes, BodyContact* contact) {
  for (uint32_t i = 0; i < 2; ++i) {
    const BodyContact::Side& side = contact->sides[i];
    if (side.of->is_static) continue;
    const Vec3 own = contact->Own(i, impulse);
    for (int k = 0; k < 4; ++k) {
      const uint32_t node = side.point.nodes[k];
      (side.of->moved_nodes.*nodes)[node] += own * (side.point.Free(k) * side.of->x[node].w);
    }
  }
}

Vec3 MoveApart(const Vec3& way, std::span<NodeVec> MovedNodes::*nodes, BodyContact* contact) {
  const float inverse_mass = InverseMass(contact->sides[0]) + InverseMass(contact->sides[1]);
  if (!(inverse_mass > 0.0f)) return {};
  const Vec3 impulse = way * (1.0f / inverse_mass);
  AddImpulse(impulse, nodes, contact);
  return impulse;
}

}  // namespace plush
