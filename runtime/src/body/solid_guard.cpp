// SPDX-License-Identifier: MIT
// Source: solid_guard.h.
#include "body/solid_guard.h"

#include "base/vector_math.h"
#include "body/body.h"
#include "contact/passing_triangles.h"
#include "solver/volume_sweep.h"

#include <algorithm>
#include <cstdint>

namespace plush {
namespace {

struct Range {
  Vec3 low, high;

  void Add(const Vec3& x) {
    low = LowerOf(low, x);
    high = UpperOf(high, x);
  }
  bool Contains(const Vec3& x) const {
    return x.x >= low.x && x.x <= high.x && x.y >= low.y && x.y <= high.y && x.z >= low.z &&
           x.z <= high.z;
  }
};

// Calls visit(tet) for the tets that pass a place in the solid. The solid is at its pose at the end
// of the substep.
template <class Visit>
void ForPassingTets(const Body& body, const LocalCollider& solid, NodeVectors from,
                    const Visit& visit) {
  const NodeVectors to = body.y.span().first(body.x.size());
  Range range = {from[0], from[0]};
  for (size_t i = 0; i < from.size(); ++i) {
    range.Add(from[i]);
    range.Add(to[i]);
  }
  const SolidCore core(solid.shape);
  for (uint32_t p = 0; p < core.count; ++p) {
    const Vec3 place = solid.end.rotation * core.points[p] + solid.end.position;
    if (!range.Contains(place)) continue;
    for (uint32_t t = 0; t < body.surface.tets.size(); ++t) {
      if (PassesPlace(body.surface, t, from, to, place)) visit(t);
    }
  }
}

bool IsSolid(const LocalCollider& collider) { return collider.is_solid && !collider.is_mesh(); }

}  // namespace

bool PassesSolids(const Body& body) {
  bool passes = false;
  for (const LocalCollider& collider : body.NearColliders()) {
    if (!IsSolid(collider)) continue;
    ForPassingTets(body, collider, body.x.span(), [&](uint32_t) { passes = true; });
  }
  return passes;
}

// The nodes of a tet that would pass a solid stay where they are relative to it, and so do those of
// tets that this would make flat. If all nodes did, nothing would pass.
void StayOutsideSolids(Body* body) {
  constexpr int kRounds = 64;
  const std::span<NodeVec> carried = body->rhs.span().first(body->x.size());
  for (int round = 0; round < kRounds; ++round) {
    bool any = false;
    for (const LocalCollider& solid : body->NearColliders()) {
      if (!IsSolid(solid)) continue;
      for (size_t i = 0; i < carried.size(); ++i) {
        carried[i] = solid.end.rotation * solid.start.ToLocal(body->x[i]) + solid.end.position;
      }
      bool passes = false;
      ForPassingTets(*body, solid, carried, [&](uint32_t t) {
        for (const uint32_t node : body->surface.tets[t].nodes) {
          if (body->IsPinned(node) || IsZero(body->y[node] - carried[node])) continue;
          body->y[node] = Vec3(carried[node]);
          passes = true;
        }
      });
      for (int k = 0; k < kRounds && passes; ++k) {
        if (!HoldFlatTets(body->elements, carried, 1.0f, body->y.span())) break;
      }
      any = any || passes;
    }
    if (!any) return;
  }
}

}  // namespace plush
