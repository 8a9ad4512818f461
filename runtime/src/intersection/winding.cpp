// SPDX-License-Identifier: MIT
#include "intersection/winding.h"

#include "base/vector_math.h"
#include "collision/tree_walks.h"

#include <cmath>
#include <limits>

namespace plush {
namespace {

// More than the rounding of a surface's vertices in the common coordinates [m].
float MarginOf(const PlacedSurface& surface) {
  const float reach = surface.body.state.reach + SumNorm(surface.offset);
  return 16.0f * std::numeric_limits<float>::epsilon() * reach + 1.0e-37f;
}

// A point outside the box, on the shortest way along an axis.
Vec3 OutsideOf(const SurfaceBox& box, const Vec3& p) {
  const float at[3] = {p.x, p.y, p.z};
  int axis = 0;
  bool up = true;
  float shortest = std::numeric_limits<float>::infinity();
  for (int i = 0; i < 3; ++i) {
    if (box.high[i] - at[i] < shortest) shortest = box.high[i] - at[i], axis = i, up = true;
    if (at[i] - box.low[i] < shortest) shortest = at[i] - box.low[i], axis = i, up = false;
  }
  const float step = 0.125f * (box.high[axis] - box.low[axis]);
  float end[3] = {at[0], at[1], at[2]};
  end[axis] = up ? box.high[axis] + step : box.low[axis] - step;
  return {end[0], end[1], end[2]};
}

bool Overlap(const Vec3& low, const Vec3& high, const Vec3& p, const Vec3& q) {
  return std::min(p.x, q.x) <= high.x && low.x <= std::max(p.x, q.x) &&
         std::min(p.y, q.y) <= high.y && low.y <= std::max(p.y, q.y) &&
         std::min(p.z, q.z) <= high.z && low.z <= std::max(p.z, q.z);
}

}  // namespace

SurfaceBox::SurfaceBox(const PlacedSurface& surface) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const float offset[3] = {surface.offset.x, surface.offset.y, surface.offset.z};
  const float margin = MarginOf(surface);
  for (int i = 0; i < 3; ++i) {
    low[i] = -kMost, high[i] = kMost;
    if (!surface.body.state.bounded) continue;
    const Dop14& root = surface.body.state.volumes[0];
    low[i] = root.low[i] + offset[i] - margin;
    high[i] = root.high[i] + offset[i] + margin;
  }
}

int WindingAbout(const PlacedSurface& surface, const Vec3& vertex) {
  const CollisionView& view = surface.body.surface;
  // Bodies whose coordinates have no products in float are nowhere inside each other.
  if (view.tets.empty() || !surface.body.state.bounded) return 0;
  const SurfaceBox box(surface);
  if (!box.Holds(vertex)) return 0;
  const Vec3 outside = OutsideOf(box, vertex);
  const Surface of_vertex = surface.role == Surface::kFixed ? Surface::kMoved : Surface::kFixed;
  int winding = 0;
  const auto cross = [&](const Corners& c) {
    winding -= CrossingOf(of_vertex, vertex, outside, c);
  };
  if (surface.placed != nullptr && surface.placed->Holds(view)) {
    PlacedPatches& placed = *surface.placed;
    const LaneBox way = {Min(ToLanes(vertex), ToLanes(outside)),
                         Max(ToLanes(vertex), ToLanes(outside))};
    const PlacedPatches::Tets all = placed.PlaceTets(surface.body, surface.offset);
    uint32_t *const tets = placed.tets.data(), *const near = placed.picked.data();
    const uint32_t num_tets = FindMeeting(way, all.boxes, all.chunks, 0, all.count, tets);
    for (const uint32_t tet : std::span(tets, num_tets)) {
      for (uint32_t patch = view.tets[tet].first_patch; patch < PatchesEnd(view, tet); ++patch) {
        placed.Place(surface.body, surface.offset, tet, patch);
        const uint32_t count = placed.Meeting(way, patch, view.patches[patch].first_triangle,
                                              TrianglesEnd(view, patch), near);
        const PatchCorners corners(surface, patch);
        for (uint32_t i = 0; i < count; ++i) cross(corners.At(near[i]));
      }
    }
    return winding;
  }
  const float margin = MarginOf(surface);
  const auto bound = [&](uint32_t node) {
    const Dop14& volume = surface.body.state.volumes[node];
    const Vec3 room = {margin, margin, margin};
    const Vec3 low = Vec3{volume.low[0], volume.low[1], volume.low[2]} + surface.offset - room;
    const Vec3 high = Vec3{volume.high[0], volume.high[1], volume.high[2]} + surface.offset + room;
    return Overlap(low, high, vertex, outside) ? 0.0f : kNothingThere;
  };
  WalkTetTree(
      view.tree, bound, [] { return 0.0f; },
      [&](uint32_t tet) {
        const std::array<Vec3, 4> nodes = surface.NodesOfTet(tet);
        ForTrianglesOf(view, tet, [&](uint32_t, uint32_t i) {
          const Corners c = surface.CornersAt(nodes, i);
          const Vec3 low = {std::min({c[0].x, c[1].x, c[2].x}), std::min({c[0].y, c[1].y, c[2].y}),
                            std::min({c[0].z, c[1].z, c[2].z})};
          const Vec3 high = {std::max({c[0].x, c[1].x, c[2].x}), std::max({c[0].y, c[1].y, c[2].y}),
                             std::max({c[0].z, c[1].z, c[2].z})};
          if (Overlap(low, high, vertex, outside)) cross(c);
        });
      });
  return winding;
}

}  // namespace plush
