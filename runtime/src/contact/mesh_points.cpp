// SPDX-License-Identifier: MIT
// SunkPoints::FindOnMesh: tets near a mesh's triangles, then their vertices one by one.
// Source: sunk_points.h.
#include "base/vector_math.h"
#include "collision/surface_records.h"
#include "contact/lowest_vertex.h"
#include "contact/sunk_points.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// The nodes of a tet in the coordinates of a mesh.
struct TetWay {
  Vec3 from[4], to[4];
};

Vec3 MeanOf(const Vec3 (&of_nodes)[4], const Vec4& weights) {
  return of_nodes[0] * weights.x + of_nodes[1] * weights.y + of_nodes[2] * weights.z +
         of_nodes[3] * weights.w;
}

struct Box {
  Vec3 low, high;
};

// Of the ways of a tet's vertices.
Box BoxOf(const TetWay& way, const CdgTet& tet) {
  Box box;
  const auto range = [&](float Vec3::*axis) {
    const auto lowest = [&](const Vec3(&nodes)[4], float sign) {
      Float4 numbers{};
      for (int k = 0; k < 4; ++k) numbers[k] = sign * (nodes[k].*axis);
      return LowestIn(numbers, &tet.low.x, &tet.high.x);
    };
    box.low.*axis = std::fmin(lowest(way.from, 1.0f), lowest(way.to, 1.0f));
    box.high.*axis = -std::fmin(lowest(way.from, -1.0f), lowest(way.to, -1.0f));
  };
  range(&Vec3::x);
  range(&Vec3::y);
  range(&Vec3::z);
  return box;
}

Box BoxOf(const Vec3& from, const Vec3& to) {
  return {{std::fmin(from.x, to.x), std::fmin(from.y, to.y), std::fmin(from.z, to.z)},
          {std::fmax(from.x, to.x), std::fmax(from.y, to.y), std::fmax(from.z, to.z)}};
}

// The triangles of a mesh near some ways.
class NearTriangles {
 public:
  NearTriangles(const ColliderMesh& mesh, const Box& box, float reach)
      : mesh_(mesh), reach_(reach) {
    mesh.ForTriangles(box.low, box.high, [&](uint32_t index) {
      is_complete_ = count_ < kMost;
      if (is_complete_) triangles_[count_++] = mesh.Triangle(index);
      return is_complete_;
    });
  }

  bool empty() const { return count_ == 0; }

  // Whether the vertices of a tet, which ends at `to`, all end above the planes of all triangles.
  bool AreAbove(const Vec3 (&to)[4], const CdgTet& tet, float depth) const {
    const auto is_above = [&](const MeshTriangle& triangle) {
      Float4 gaps{};
      for (int k = 0; k < 4; ++k) gaps[k] = triangle.Gap(to[k]);
      return LowestIn(gaps, &tet.low.x, &tet.high.x) >= -depth;
    };
    return is_complete_ && std::all_of(triangles_, triangles_ + count_, is_above);
  }

  // What holds a point that moves straight from one of these ways' places to another.
  MeshHit FindHit(const Vec3& from, const Vec3& to, float depth) const {
    WayToMesh way(from, to, depth);
    ForTriangles(BoxOf(from, to), [&](const MeshTriangle& triangle) { way.Visit(triangle); });
    if (way.hit().triangle != kNoTriangle || !way.may_start_behind()) return way.hit();
    const NearestPoint nearest = mesh_.FindNearest(from, reach_, nullptr);
    if (nearest.triangle == kNoTriangle || !(nearest.gap < 0.0f)) return {};
    return {nearest.triangle, nearest.gap, nearest.gap + Dot(nearest.normal, to - from)};
  }

 private:
  static constexpr uint32_t kMost = 64;

  template <class Visit>
  void ForTriangles(const Box& box, const Visit& visit) const {
    if (is_complete_) {
      std::for_each(triangles_, triangles_ + count_, visit);
      return;
    }
    mesh_.ForTriangles(box.low, box.high, [&](uint32_t index) {
      visit(mesh_.Triangle(index));
      return true;
    });
  }

  const ColliderMesh& mesh_;
  float reach_;
  MeshTriangle triangles_[kMost];
  uint32_t count_ = 0;
  bool is_complete_ = true;
};

}  // namespace

void SunkPoints::FindOnMesh(const ContactProblem& problem, const LocalCollider& collider,
                            std::span<const NodeVec> moved, float depth, IsKnown is_known,
                            const void* user) {
  const TouchingSurface& surface = problem.surface;
  const ColliderMesh& mesh = collider.mesh;
  Box body = {collider.start.ToLocal(problem.x[0]), collider.start.ToLocal(problem.x[0])};
  for (size_t i = 0; i < starts_.size(); ++i) {
    const Vec3 y = problem.y[i];
    starts_[i] = collider.start.ToLocal(problem.x[i]);
    ends_[i] = collider.end.ToLocal(moved.empty() ? y : y + moved[i]);
    const Box way = BoxOf(starts_[i], ends_[i]);
    body = {BoxOf(body.low, way.low).low, BoxOf(body.high, way.high).high};
  }
  if (!mesh.HasTriangles(body.low, body.high)) return;
  // Sets the point's gap and triangle. Returns whether it is new, and deeper than `least`.
  const auto sinks = [&](const MeshHit& hit, float least, SunkPoint* point) {
    if (hit.triangle == kNoTriangle) return false;
    point->triangle = hit.triangle;
    point->gap = hit.gap + AllowedDepth(hit.start_gap, problem.slop);
    return point->gap < least && !is_known(user, *point);
  };
  if (!surface.has_vertices()) {
    for (uint32_t i = 0; i < starts_.size(); ++i) {
      if (surface.pinned[i] != 0) continue;
      const NearTriangles near(mesh, BoxOf(starts_[i], ends_[i]), collider.reach);
      SunkPoint point = {i, SunkPoint::kNoTet, i, collider.slot};
      if (sinks(near.FindHit(starts_[i], ends_[i], depth), -depth, &point)) Add(point);
    }
    return;
  }
  const CollisionView& collision = *surface.collision;
  for (uint32_t t = 0; t < collision.tets.size(); ++t) {
    const CdgTet& tet = collision.tets[t];
    const TetNumbers movable = MovableOf(surface, tet);
    if (std::ranges::count(movable, 0.0f) == 4) continue;
    TetWay way;
    for (int k = 0; k < 4; ++k) {
      way.from[k] = starts_[tet.nodes[k]];
      way.to[k] = ends_[tet.nodes[k]];
    }
    const NearTriangles near(mesh, BoxOf(way, tet), collider.reach);
    if (near.empty() || near.AreAbove(way.to, tet, depth)) continue;
    uint32_t first = 0;
    const std::span<const Vec4> vertices = VerticesOf(collision, t, &first);
    SunkPoint deepest = {0, t, 0, collider.slot, -depth};
    for (uint32_t v = 0; v < vertices.size(); ++v) {
      const MeshHit hit =
          near.FindHit(MeanOf(way.from, vertices[v]), MeanOf(way.to, vertices[v]), depth);
      SunkPoint point = {first + v, t, 0, collider.slot};
      if (plush::MeanOf(movable.data(), vertices[v]) < kLeastMovable ||
          !sinks(hit, deepest.gap, &point)) {
        continue;
      }
      const Vec4& w = vertices[v];
      const float shares[4] = {w.x, w.y, w.z, w.w};
      point.node = tet.nodes[std::ranges::max_element(shares) - shares];
      deepest = point;
    }
    if (deepest.gap < -depth) Add(deepest);
  }
}

}  // namespace plush
