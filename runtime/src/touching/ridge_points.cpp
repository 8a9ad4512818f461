// SPDX-License-Identifier: MIT
// SunkPoints::FindOnRidges: the triangles of a tet that ridges of a mesh press on.
// Source: sunk_points.h.
#include "base/float4.h"
#include "base/vector_math.h"
#include "colliders/ridge.h"
#include "collision/surface_records.h"
#include "touching/lowest_vertex.h"
#include "touching/near_mesh.h"
#include "touching/sunk_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
  Float4 placed_[256];
  size_t num_placed_ = 0;
};

// Boxes that hold the points where ridges can press on a tet's triangles, of several at once: most
// ridges are near few.
class PressedBoxes {
 public:
  PressedBoxes(uint32_t begin, uint32_t end)
      : begin_(begin), end_(end), size_((end - begin) / kMost + 1) {}

  /// `box_of(triangle, &box)` returns false if no ridge can press on it.
  template <class BoxOf>
  void Make(const BoxOf& box_of) {
    around_ = kNone;
    for (uint32_t begin = begin_; begin < end_; begin += size_) {
      MeshBox box = kNone, of_one;
      for (uint32_t i = begin; i < std::min(begin + size_, end_); ++i) {
        if (!box_of(i, &of_one)) continue;
        box = {LowerOf(box.low, of_one.low), UpperOf(box.high, of_one.high)};
      }
      around_ = {LowerOf(around_.low, box.low), UpperOf(around_.high, box.high)};
      Set(count_++, box);
    }
    for (uint32_t k = count_; k % 4 != 0; ++k) Set(k, kNone);
    are_made_ = true;
  }
  bool are_made() const { return are_made_; }
  /// Around all of them; low > high if there are none.
  const MeshBox& around() const { return around_; }

  /// Calls visit(triangle) for triangles whose boxes may overlap another one, ascending, until it
  /// returns false.
  template <class Visit>
  void ForNear(const MeshBox& box, const Visit& visit) const {
    const float low[3] = {box.low.x, box.low.y, box.low.z};
    const float high[3] = {box.high.x, box.high.y, box.high.z};
    for (uint32_t first = 0; first < count_; first += 4) {
      Float4 beyond = Broadcast(-std::numeric_limits<float>::infinity());
      for (int k = 0; k < 3; ++k) {
        beyond = Max(beyond, Load4(&ends_[k][first]) - Broadcast(high[k]));
        beyond = Max(beyond, Broadcast(low[k]) - Load4(&ends_[k + 3][first]));
      }
      if (LeastOf(beyond) > 0.0f) continue;
      for (uint32_t g = first; g < std::min(first + 4, count_); ++g) {
        if (beyond[static_cast<int>(g - first)] > 0.0f) continue;
        const uint32_t begin = begin_ + g * size_;
        for (uint32_t i = begin; i < std::min(begin + size_, end_); ++i) {
          if (!visit(i)) return;
        }
      }
    }
  }

 private:
  static constexpr uint32_t kMost = 256;  // boxes
  static constexpr float kFar = 1.0e30f;
  static constexpr MeshBox kNone = {{kFar, kFar, kFar}, {-kFar, -kFar, -kFar}};

  void Set(uint32_t at, const MeshBox& box) {
    const float ends[6] = {box.low.x, box.low.y, box.low.z, box.high.x, box.high.y, box.high.z};
    for (int k = 0; k < 6; ++k) ends_[k][at] = ends[k];
  }

  uint32_t begin_, end_, size_;
  float ends_[6][kMost];
  uint32_t count_ = 0;
  bool are_made_ = false;
  MeshBox around_;
};

}  // namespace

void SunkPoints::FindOnRidges(const ContactProblem& problem, const LocalCollider& collider,
                              float depth, IsKnown is_known, const void* user, NearMeshTet* near) {
  // A ridge that starts deeper behind a triangle is behind another part of the surface.
  constexpr float kDeepest = 0.2f;  // [reach]
  constexpr float kRoom = 0.1f;     // farther away, ridges may stay unseen for some time [reach]
  if (collider.mesh.source->has_two_sides()) return;
  const uint32_t t = near->tet;
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
  const MeshBox box = BoxAround(tet, from, to, deepest_start);
  // A ridge is no farther behind a triangle than it may start, and the triangle has come since.
  float farthest2 = 0.0f;
  for (int k = 0; k < 4; ++k) {
    const Vec3 way = to[k] - from[k];
    farthest2 = std::max(farthest2, Dot(way, way));
  }
  const float reach = deepest_start + std::sqrt(farthest2);
  const float room = kRoom * problem.reach;
  const MeshBox more = box.Around(room);
  uint32_t first = 0;
  const std::span<const Vec4> vertices = VerticesOf(collision, t, &first);
  if (!IsZero(near->normal)) {
    // Ridges are below the plane above all faces.
    constexpr float kMore = 1.01f;
    float gaps[4];
    for (int k = 0; k < 4; ++k) gaps[k] = Dot(near->normal, to[k]) - near->offset;
    near->of_ridges = LowestVertex(vertices, gaps).gap - kMore * reach;
    if (near->of_ridges > 0.0f) return;
  }
  SunkPoint deepest = {0, t, 0, collider.slot, -depth};
  Vec4 weights;
  PlacedVertices placed(to, vertices), placed_from(from, vertices);
  PressedBoxes pressed(collision.patches[tet.first_patch].first_triangle,
                       TrianglesEnd(collision, PatchesEnd(collision, t) - 1));
  near->of_ridges = room;
  constexpr float kAsDeep = 0.999f;  // nothing less deep is the deepest, whatever the rounding
  constexpr float kSeen = -std::numeric_limits<float>::infinity();
  const auto look_at = [&](const Ridge& ridge, const MeshBox& near_ridge, const auto& triangle,
                           uint32_t i) {
    uint32_t corners[3];
    SweptTriangle swept;
    Vec3(&starts)[3] = swept.from;
    Vec3(&ends)[3] = swept.to;
    for (int k = 0; k < 3; ++k) {
      const uint32_t v = corners[k] = VertexOf(triangle, k) - first;
      if (v >= vertices.size()) return;  // of another tet: a wrong file
      ends[k] = placed[v];
    }
    const MeshBox around = {LowerOf(ends[0], LowerOf(ends[1], ends[2])),
                            UpperOf(ends[0], UpperOf(ends[1], ends[2]))};
    if (!around.Overlaps(near_ridge)) return;
    const RidgePoints points(ridge, ends, std::min(kAsDeep * deepest.gap, -depth));
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
                         at.gap + pinned(to) + AllowedDepth(start_gap + pinned(from), problem.rise),
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
  const auto box_of = [](const Vec3(&ends)[2]) {
    return MeshBox{LowerOf(ends[0], ends[1]), UpperOf(ends[0], ends[1])};
  };
  WithTriangles(collision, [&](const auto& triangles) {
    // What presses on a triangle is right behind its end, no farther than it may start there and
    // than the triangle has come.
    const auto box_of_pressed = [&](uint32_t i, MeshBox* pressing) {
      constexpr float kRounding = 1.0e-2f;  // of how deep it may start
      Vec3 starts[3], ends[3];
      for (int k = 0; k < 3; ++k) {
        const uint32_t v = VertexOf(triangles[i], k) - first;
        if (v >= vertices.size()) return false;
        starts[k] = placed_from[v];
        ends[k] = placed[v];
      }
      const Vec3 outwards = Cross(ends[1] - ends[0], ends[2] - ends[0]);
      const float area = Length(outwards);
      if (!(area > 0.0f)) return false;
      const Vec3 inwards = outwards * (-1.0f / area);
      float come = Dot(inwards, starts[0] - ends[0]);
      for (int k = 1; k < 3; ++k) come = std::max(come, Dot(inwards, starts[k] - ends[k]));
      const float farthest = deepest_start * (1.0f + kRounding) + come;
      if (farthest < 0.0f) return false;
      *pressing = {LowerOf(ends[0], LowerOf(ends[1], ends[2])),
                   UpperOf(ends[0], UpperOf(ends[1], ends[2]))};
      const Vec3 way = inwards * farthest;
      *pressing = {LowerOf(pressing->low, pressing->low + way),
                   UpperOf(pressing->high, pressing->high + way)};
      *pressing = pressing->Around(kRounding * deepest_start);
      return true;
    };
    const auto make_boxes = [&] {
      if (pressed.are_made()) return;
      placed.PlaceFirst();
      placed_from.PlaceFirst();
      pressed.Make(box_of_pressed);
    };
    const auto look_around = [&](const Ridge& ridge) {
      make_boxes();
      const MeshBox own = box_of(ridge.ends), near_ridge = own.Around(reach);
      pressed.ForNear(own, [&](uint32_t i) {
        look_at(ridge, near_ridge, triangles[i], i);
        return true;
      });
    };
    if (mesh_.is_allocated() && mesh_.has_all_ridges()) {
      mesh_.ForRidges([&](const Ridge& ridge) {
        if (!MayMeetBox(ridge.ends, more)) return;
        near->of_ridges = kSeen;
        if (MayMeetBox(ridge.ends, box)) look_around(ridge);
      });
      return;
    }
    if (!collider.mesh.HasTriangles(more.low, more.high)) return;
    near->of_ridges = kSeen;
    make_boxes();
    const auto is_near = [&](const Vec3(&ends)[2]) {
      bool is_any = false;
      pressed.ForNear(box_of(ends), [&](uint32_t) {
        is_any = true;
        return false;
      });
      return is_any && MayMeetBox(ends, box);
    };
    ForRidgesIn(pressed.around(), collider.mesh, is_near, [&](const Ridge& ridge) {
      look_around(ridge);
      return true;
    });
  });
  if (!(deepest.gap < -depth)) return;
  const float shares[4] = {weights.x, weights.y, weights.z, weights.w};
  deepest.node = tet.nodes[std::ranges::max_element(shares) - shares];
  Add(deepest);
}

}  // namespace plush
