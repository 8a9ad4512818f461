// SPDX-License-Identifier: MIT
// SunkPoints::FindOnRidges: the triangles of a tet that ridges of a mesh press on.
// Source: sunk_points.h.
#include "base/float4.h"
#include "base/vector_math.h"
#include "collision/surface_records.h"
#include "contact/lowest_vertex.h"
#include "contact/near_mesh.h"
#include "contact/ridge.h"
#include "contact/sunk_points.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

Vec3 MeanOf(const Vec3 (&nodes)[4], const Vec4& w) {
  return nodes[0] * w.x + nodes[1] * w.y + nodes[2] * w.z + nodes[3] * w.w;
}

// Positions of a tet's vertices. The first ones are placed once: triangles share them.
class PlacedVertices {
 public:
  PlacedVertices(const Vec3 (&nodes)[4], std::span<const Vec4> vertices) : vertices_(vertices) {
    for (int k = 0; k < 4; ++k) nodes_[k] = Float4{nodes[k].x, nodes[k].y, nodes[k].z, 0.0f};
  }

  void PlaceFirst() {
    const size_t count = std::min(vertices_.size(), std::size(placed_));
    for (; num_placed_ < count; ++num_placed_) placed_[num_placed_] = Place(num_placed_);
  }
  Vec3 operator[](size_t v) const {
    const Float4 at = v < num_placed_ ? placed_[v] : Place(v);
    return {at[0], at[1], at[2]};
  }

 private:
  Float4 Place(size_t v) const {
    const Vec4& w = vertices_[v];
    return nodes_[0] * Broadcast(w.x) + nodes_[1] * Broadcast(w.y) + nodes_[2] * Broadcast(w.z) +
           nodes_[3] * Broadcast(w.w);
  }

  std::span<const Vec4> vertices_;
  Float4 nodes_[4];
  Float4 placed_[128];
  size_t num_placed_ = 0;
};

}  // namespace

void SunkPoints::FindOnRidges(const ContactProblem& problem, const LocalCollider& collider,
                              uint32_t t, float depth, IsKnown is_known, const void* user) {
  // A ridge that starts deeper behind a triangle is behind another part of the surface.
  constexpr float kDeepest = 0.2f;  // [reach]
  if (collider.mesh.source->has_two_sides()) return;
  const CollisionView& collision = *problem.surface.collision;
  const CdgTet& tet = collision.tets[t];
  const TetNumbers movable = MovableOf(problem.surface, tet);
  if (std::ranges::count(movable, 0.0f) == 4) return;
  const float deepest_start = kDeepest * problem.reach;
  Vec3 from[4], to[4];
  for (int k = 0; k < 4; ++k) {
    from[k] = collider.start.ToLocal(problem.x[tet.nodes[k]]);
    to[k] = collider.end.ToLocal(ends_[tet.nodes[k]]);
  }
  const NearMesh::Box box = BoxAround(tet, from, to, deepest_start);
  // A ridge is no farther behind a triangle than it may start, and the triangle has come since.
  float farthest2 = 0.0f;
  for (int k = 0; k < 4; ++k) {
    const Vec3 way = to[k] - from[k];
    farthest2 = std::max(farthest2, Dot(way, way));
  }
  const float reach = deepest_start + std::sqrt(farthest2);
  const Vec3 margin = {reach, reach, reach};
  uint32_t first = 0;
  const std::span<const Vec4> vertices = VerticesOf(collision, t, &first);
  SunkPoint deepest = {0, t, 0, collider.slot, -depth};
  Vec4 weights;
  PlacedVertices placed(to, vertices);
  const auto look_at = [&](const Ridge& ridge, const NearMesh::Box& near_ridge,
                           const auto& triangle, uint32_t i) {
    uint32_t corners[3];
    SweptTriangle swept;
    Vec3(&starts)[3] = swept.from;
    Vec3(&ends)[3] = swept.to;
    for (int k = 0; k < 3; ++k) {
      const uint32_t v = corners[k] = VertexOf(triangle, k) - first;
      if (v >= vertices.size()) return;  // of another tet: a wrong file
      ends[k] = placed[v];
    }
    const NearMesh::Box around = {LowerOf(ends[0], LowerOf(ends[1], ends[2])),
                                  UpperOf(ends[0], UpperOf(ends[1], ends[2]))};
    if (!around.Overlaps(near_ridge)) return;
    const RidgePoints points(ridge, ends, -depth);
    for (uint32_t p = 0; p < points.count; ++p) {
      const RidgePoint& at = points.at[p];
      Vec4 of_corners[3];
      for (int k = 0; k < 3; ++k) {
        of_corners[k] = vertices[corners[k]];
        starts[k] = MeanOf(from, of_corners[k]);
      }
      const Vec3 start = PointOf(starts, {at.u, at.v, 0.0f});
      const float start_gap = Dot(at.normal, start) - at.offset;
      const auto mean = [&](float Vec4::*w) {
        return of_corners[0].*w * (1.0f - at.u - at.v) + of_corners[1].*w * at.u +
               of_corners[2].*w * at.v;
      };
      const Vec4 of_point = {mean(&Vec4::x), mean(&Vec4::y), mean(&Vec4::z), mean(&Vec4::w)};
      const auto pinned = [&](const Vec3(&nodes)[4]) {
        return PinnedDepth(movable.data(), &of_point.x, problem.most_pinned,
                           [&](int k) { return Dot(at.normal, nodes[k]) - at.offset; });
      };
      SunkPoint point = {problem.surface.num_points() + TouchingSurface::kPointsPerTriangle * i,
                         t,
                         0,
                         collider.slot,
                         at.gap + pinned(to) + AllowedDepth(start_gap + pinned(from), problem.slop),
                         at.u,
                         at.v,
                         ridge.face};
      if (start_gap < -deepest_start || !(point.gap < deepest.gap) ||
          MeanOf(movable.data(), of_point) < kLeastMovable || is_known(user, point) ||
          HasEasierFace(ridge, {swept,
                                {at.normal, at.offset},
                                start,
                                PointOf(ends, {at.u, at.v, 0.0f}),
                                problem.flush})) {
        continue;
      }
      deepest = point;
      weights = of_point;
    }
  };
  const auto look_around = [&](const Ridge& ridge) {
    if (!MayMeetBox(ridge, box)) return;
    placed.PlaceFirst();
    const NearMesh::Box near_ridge = {LowerOf(ridge.ends[0], ridge.ends[1]) - margin,
                                      UpperOf(ridge.ends[0], ridge.ends[1]) + margin};
    WithTriangles(collision, [&](const auto& triangles) {
      ForTrianglesOf(collision, t,
                     [&](uint32_t, uint32_t i) { look_at(ridge, near_ridge, triangles[i], i); });
    });
  };
  if (mesh_.is_allocated() && mesh_.has_all_ridges()) {
    mesh_.ForRidges(look_around);
  } else {
    ForRidgesIn(box, collider.mesh, [&](const Ridge& ridge) {
      look_around(ridge);
      return true;
    });
  }
  if (!(deepest.gap < -depth)) return;
  const float shares[4] = {weights.x, weights.y, weights.z, weights.w};
  deepest.node = tet.nodes[std::ranges::max_element(shares) - shares];
  Add(deepest);
}

}  // namespace plush
