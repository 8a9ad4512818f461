// SPDX-License-Identifier: MIT
// Tests boxes of all tets, then of the triangles of placed patches, as many at once as vectors have
// lanes; what is left as ray_query.h does. A hit is mostly near: short parts of the ray, which meet
// few boxes, come first.
#include "intersection/placed_rays.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// Rounding of a place on the ray in steps of epsilon times the coordinates in play: a corner's
// place across the ray errs by less than 48 (ray_query.cpp), the placed vertices by 4, the ray
// by 2.
constexpr float kRounding = 64.0f * std::numeric_limits<float>::epsilon();

// The ray in the common coordinates, without its end.
BoxRay PlaceRay(const PlacedSurface& surface, const LocalRay& ray) {
  const float offset[3] = {surface.offset.x, surface.offset.y, surface.offset.z};
  BoxRay placed = {};
  float reach = surface.body.state.reach + SumNorm(surface.offset);
  for (int k = 0; k < 3; ++k) {
    placed.origin[k] = ToFloat(ray.origin[k] + double(offset[k]));
    reach += std::fabs(placed.origin[k]);
    // A direction that is almost parallel to a slab is turned, by less than the margin.
    const double d = ray.direction[k];
    placed.inverse[k] = ToFloat(1.0 / (std::fabs(d) < 1.0e-12 ? std::copysign(1.0e-12, d) : d));
  }
  placed.margin = kRounding * reach;
  return placed;
}

// FindOnRay for a single box.
bool MayMeet(const BoxRay& ray, const LaneBox& box) {
  float from = -ray.slack, to = ray.end + ray.slack;
  for (int k = 0; k < 3; ++k) {
    const float a = (box.low[k] - (ray.origin[k] + ray.margin)) * ray.inverse[k];
    const float b = (box.high[k] - (ray.origin[k] - ray.margin)) * ray.inverse[k];
    from = std::max(from, std::min(a, b));
    to = std::min(to, std::max(a, b));
  }
  return from <= to + ray.slack;
}

}  // namespace

bool CastRay(const PlacedSurface& surface, const LocalRay& ray, SurfaceHit* out_hit) {
  constexpr double kFirst = 1.0 / 16.0, kLonger = 4.0;  // [radii], factor
  const CollisionBody& body = surface.body;
  const CollisionView& view = body.surface;
  PlacedPatches* const placed = surface.placed;
  if (placed == nullptr || !body.state.bounded || !placed->Holds(view)) {
    return Raycast(body, ray, out_hit);
  }
  const RayShear shear = MakeRayShear(ray, double(body.state.reach));
  BoxRay box_ray = PlaceRay(surface, ray);
  const float margin = box_ray.margin;
  SurfaceHit nearest;
  double end = 0.0;
  const auto test = [&](uint32_t tet, uint32_t patch, std::span<const uint32_t> near) {
    const TetLanes nodes = LanesOf(NodesOf(view.tets[tet], body.x));
    for (const uint32_t i : near) {
      const std::array<Float4, 3> corners = WithTriangles(view, [&](const auto& triangles) {
        return CornersOf(nodes, view.vertices, triangles[i]);
      });
      TriangleHit hit;
      if (!MeetTriangle(shear, corners.data(), &hit) || !(hit.t >= 0.0 && hit.t <= end)) continue;
      end = KeepNearest(&nearest, {i, patch, tet, hit.t, {hit.part[0], hit.part[1], hit.part[2]}});
    }
  };
  const PlacedPatches::Tets tets = placed->PlaceTets(body, surface.offset);
  for (double part = kFirst * double(body.state.radius);; part *= kLonger) {
    end = std::min(part, ray.max_t);
    const bool is_last = !(end < ray.max_t);
    const auto set_end = [&] {
      box_ray.end = ToFloat(end);
      box_ray.slack = kRounding * box_ray.end + std::numeric_limits<float>::min();
      box_ray.margin = margin + box_ray.slack;
    };
    set_end();
    uint32_t* const list = placed->tets.data();
    const uint32_t count = FindOnRay(box_ray, tets.boxes, tets.chunks, 0, tets.count, list);
    for (uint32_t k = 0; k < count; ++k) {
      for (uint32_t patch = view.tets[list[k]].first_patch; patch < PatchesEnd(view, list[k]);
           ++patch) {
        const LaneBox bounds = placed->Place(body, surface.offset, list[k], patch);
        if (!MayMeet(box_ray, bounds)) continue;
        uint32_t* const near = placed->picked.data();
        const uint32_t num_near = placed->OnRay(box_ray, patch, view.patches[patch].first_triangle,
                                                TrianglesEnd(view, patch), near);
        if (num_near == 0) continue;
        test(list[k], patch, {near, num_near});
        set_end();
      }
    }
    if (nearest.triangle != kNoTriangle) break;
    if (is_last) return false;
  }
  *out_hit = nearest;
  return true;
}

}  // namespace plush
