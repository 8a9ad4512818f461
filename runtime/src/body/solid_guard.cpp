// SPDX-License-Identifier: MIT
// Source: solid_guard.h.
#include "body/solid_guard.h"

#include "base/vector_math.h"
#include "body/body.h"
#include "solver/volume_sweep.h"
#include "touching/passing_triangles.h"

#include <algorithm>
#include <cmath>
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

// Calls visit(place) for the places of a solid's core in a range of the body's coordinates: those
// at its corners, and those along its sides, `spacing` apart or less, unless that is 0.
template <class Visit>
void ForPlaces(const LocalCollider& solid, const Range& range, float spacing, const Visit& visit) {
  constexpr float kMostPlaces = 1000.0f;  // of a side; only bodies that are torn meet more
  const SolidCore core(solid.shape);
  const auto place_of = [&](const Vec3& p) { return solid.end.rotation * p + solid.end.position; };
  const auto see = [&](const Vec3& place) {
    if (range.Contains(place)) visit(place);
  };
  for (uint32_t p = 0; p < core.count; ++p) see(place_of(core.points[p]));
  for (uint32_t s = 0; s < core.num_sides && spacing > 0.0f; ++s) {
    const Vec3 from = place_of(core.sides[s][0]), way = place_of(core.sides[s][1]) - from;
    const float parts = std::ceil(Length(way) / spacing);
    float first = 0.0f, last = 1.0f;  // share of the way in the range
    const auto clip = [&](float at, float along, float low, float high) {
      if (along == 0.0f) {
        if (at < low || at > high) last = -1.0f;
        return;
      }
      const float a = (low - at) / along, b = (high - at) / along;
      first = std::fmax(first, std::fmin(a, b));
      last = std::fmin(last, std::fmax(a, b));
    };
    clip(from.x, way.x, range.low.x, range.high.x);
    clip(from.y, way.y, range.low.y, range.high.y);
    clip(from.z, way.z, range.low.z, range.high.z);
    const float begin = std::fmax(std::floor(first * parts), 1.0f);
    const float count = std::fmin(std::ceil(last * parts), parts - 1.0f) - begin + 1.0f;
    if (!(count > 0.0f)) continue;
    const auto num_places = static_cast<uint32_t>(std::fmin(count, kMostPlaces));
    for (uint32_t k = 0; k < num_places; ++k) {
      see(from + way * ((begin + static_cast<float>(k)) / parts));
    }
  }
}

// Calls visit(tet) for the tets that pass a place in the solid. The solid is at its pose at the end
// of the substep. A body may come across a side of the core only if a node moves farther than the
// solid is thin: else the planes hold it.
template <class Visit>
void ForPassingTets(const Body& body, const LocalCollider& solid, NodeVectors from,
                    const Visit& visit) {
  constexpr float kSpacing = 0.25f;  // [median edges]
  const NodeVectors to = body.y.span().first(body.x.size());
  Range range = {from[0], from[0]};
  float farthest2 = 0.0f;
  for (size_t i = 0; i < from.size(); ++i) {
    range.Add(from[i]);
    range.Add(to[i]);
    const Vec3 way = to[i] - from[i];
    farthest2 = std::fmax(farthest2, Dot(way, way));
  }
  const float thinness = solid.shape.Thinness();
  const bool is_fast = farthest2 > thinness * thinness;
  const float spacing = is_fast ? kSpacing * body.simulation.median_edge : 0.0f;
  ForPlaces(solid, range, spacing, [&](const Vec3& place) {
    for (uint32_t t = 0; t < body.surface.tets.size(); ++t) {
      if (PassesPlace(body.surface, t, from, to, place)) visit(t);
    }
  });
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
