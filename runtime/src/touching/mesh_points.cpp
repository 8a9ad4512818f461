// SPDX-License-Identifier: MIT
// SunkPoints::FindOnMesh: tets near a mesh, then their vertices near its faces, one by one.
// Source: sunk_points.h.
#include "base/vector_math.h"
#include "collision/surface_records.h"
#include "touching/face_search.h"
#include "touching/sunk_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// The first triangle of a vertex of a tet. Of a wrong file that has none, one without an area.
SweptTriangle TriangleAt(const CollisionView& collision, uint32_t tet, uint32_t vertex,
                         std::span<const Vec4> vertices, const NodeWays& nodes) {
  const MeshWay own = WayOf(nodes, vertices[vertex]);
  SweptTriangle swept = {{own.from, own.from, own.from}, {own.to, own.to, own.to}};
  bool is_found = false;
  uint32_t first = 0;
  VerticesOf(collision, tet, &first);
  WithTriangles(collision, [&](const auto& triangles) {
    ForTrianglesOf(collision, tet, [&](uint32_t, uint32_t i) {
      uint32_t corners[3];
      bool has_vertex = false;
      for (int k = 0; k < 3; ++k) {
        corners[k] = VertexOf(triangles[i], k) - first;
        if (corners[k] >= vertices.size()) return;
        has_vertex = has_vertex || corners[k] == vertex;
      }
      if (is_found || !has_vertex) return;
      is_found = true;
      for (int k = 0; k < 3; ++k) {
        const MeshWay way = WayOf(nodes, vertices[corners[k]]);
        swept.from[k] = way.from;
        swept.to[k] = way.to;
      }
    });
  });
  return swept;
}

// A point of the body right behind the middle of a triangle at its start: so near that limbs and
// rims have one that a fall has pressed flat, but farther than `flush`, by which a touching
// triangle may be beyond a sheet [m]. The middle of its tet may be outside of the surface.
Vec3 InsideOf(const SweptTriangle& triangle, float flush) {
  constexpr float kDepth = 1.0e-3f;  // [edges]
  const auto& [a, b, c] = triangle.from;
  const Vec3 outward = Cross(b - a, c - a);
  const float area2 = Length(outward);
  const Vec3 middle = (a + b + c) * (1.0f / 3.0f);
  const float depth = kDepth * std::sqrt(area2) + 2.0f * flush;
  return area2 > 0.0f ? middle - outward * (depth / area2) : middle;
}

// The vertices of a tet that have the least clearances.
class LeastClearances {
 public:
  explicit LeastClearances(float most) : of_others_{most, most} {}

  void AddBound(const Clearance& clearance) { of_others_.AtMost(clearance); }
  void Add(uint32_t vertex, const Clearance& clearance) {
    if (count_ == kFew && clearance.of_way >= clearances_[kFew - 1].of_way) {
      return AddBound(clearance);
    }
    uint32_t at = count_;
    while (at > 0 && clearance.of_way < clearances_[at - 1].of_way) --at;
    if (count_ == kFew) AddBound(clearances_[--count_]);
    for (uint32_t k = count_++; k > at; --k) {
      vertices_[k] = vertices_[k - 1];
      clearances_[k] = clearances_[k - 1];
    }
    vertices_[at] = vertex;
    clearances_[at] = clearance;
  }
  void WriteTo(NearMeshTet* tet) const {
    std::copy_n(vertices_, count_, tet->few);
    tet->num_few = count_;
    tet->of_all = tet->of_others = of_others_;
    for (uint32_t k = 0; k < count_; ++k) tet->of_all.AtMost(clearances_[k]);
  }

 private:
  static constexpr uint32_t kFew = std::size(NearMeshTet().few);

  uint32_t vertices_[kFew];
  Clearance clearances_[kFew];  // ascending by `of_way`
  uint32_t count_ = 0;
  Clearance of_others_;
};

}  // namespace

// Looks at one tet: adds its deepest point, if that is new, and finds its clearance.
void SunkPoints::FindInTet(const ContactProblem& problem, const LocalCollider& collider,
                           float depth, IsKnown is_known, const void* user, NearMeshTet* near) {
  const CollisionView& collision = *problem.surface.collision;
  const CdgTet& tet = collision.tets[near->tet];
  const TetNumbers movable = MovableOf(problem.surface, tet);
  NodeWays way;
  float from_gaps[4], to_gaps[4];  // from the plane above the faces
  for (int k = 0; k < 4; ++k) {
    const uint32_t node = tet.nodes[k];
    const bool is_placed = mesh_.is_allocated();
    way.from[k] = is_placed ? mesh_.From(node) : collider.start.ToLocal(problem.x[node]);
    way.to[k] = is_placed ? mesh_.To(node) : collider.end.ToLocal(ends_[node]);
    from_gaps[k] = Dot(near->normal, way.from[k]) - near->offset;
    to_gaps[k] = Dot(near->normal, way.to[k]) - near->offset;
  }
  uint32_t first = 0;
  const std::span<const Vec4> vertices = VerticesOf(collision, near->tet, &first);
  const bool has_plane = !IsZero(near->normal);
  const bool has_pinned = std::ranges::count(movable, 1.0f) < 4;
  const FaceSearch search(problem, collider, mesh_, *near);
  SunkPoint deepest = {0, near->tet, 0, collider.slot, -depth};
  const Vec4* weights = nullptr;
  const auto sunk_at = [&](uint32_t v, const MeshHit& hit) {
    SunkPoint point = {first + v, near->tet, 0, collider.slot};
    point.face = hit.face;
    const MeshFace face = has_pinned ? collider.mesh.Face(hit.face) : MeshFace{};
    const auto pinned = [&](const Vec3(&nodes)[4]) {
      if (!has_pinned) return 0.0f;
      return PinnedDepth(movable.data(), &vertices[v].x, problem.most_pinned,
                         [&](int k) { return face.Gap(nodes[k]); });
    };
    point.gap =
        hit.gap + pinned(way.to) + AllowedDepth(hit.start_gap + pinned(way.from), problem.rise);
    return point;
  };
  const auto is_new = [&](const SunkPoint& point) {
    const bool is_deeper =
        point.gap < deepest.gap ||
        (weights != nullptr && point.gap == deepest.gap && point.id < deepest.id);
    return is_deeper && !is_known(user, point);
  };
  const auto look_at = [&](uint32_t v) {
    const auto triangle = [&] { return TriangleAt(collision, near->tet, v, vertices, way); };
    const MeshWay of_point = WayOf(way, vertices[v]);
    const Vec3 inside =
        collider.mesh.source->has_two_sides() ? InsideOf(triangle(), problem.flush) : of_point.from;
    const MeshMeeting meeting = search.Meet(of_point, inside, depth);
    MeshHit hit = meeting.hit;
    if (hit.face == kNoTriangle || !is_new(sunk_at(v, hit))) return meeting.clearance;
    search.GiveWay(of_point, triangle(), &hit);
    if (const SunkPoint point = sunk_at(v, hit); is_new(point)) {
      deepest = point;
      weights = &vertices[v];
    }
    return meeting.clearance;
  };
  const auto gap_of = [&](const Vec4& w) {
    return std::min(MeanOf(from_gaps, w), MeanOf(to_gaps, w));
  };
  if (near->of_others.of_end + depth > 0.0f) {
    near->of_all = near->of_others;
    constexpr size_t kFew = std::size(NearMeshTet().few);
    uint32_t names[kFew], count = 0;
    Vec4 few[kFew];
    for (uint32_t k = 0; k < near->num_few; ++k) {
      const uint32_t v = near->few[k];
      const float gap = has_plane ? gap_of(vertices[v]) : 0.0f;
      if (gap > 0.0f) {
        near->of_all.AtMost({gap, gap});
      } else {
        names[count] = v;
        few[count++] = vertices[v];
      }
    }
    search.ForVertices(
        way, {few, count}, depth, deepest,
        [&](uint32_t, const Clearance& clearance) { near->of_all.AtMost(clearance); },
        [&](uint32_t k) { near->of_all.AtMost(look_at(names[k])); });
  } else {
    LeastClearances least(NearMesh::Margin(problem));
    // No vertex is lower than the lowest node.
    float lowest =
        has_plane ? std::min(std::ranges::min(from_gaps), std::ranges::min(to_gaps)) : 0.0f;
    if (has_plane && !(lowest > 0.0f)) {
      lowest = std::min(LowestVertex(vertices, from_gaps).gap, LowestVertex(vertices, to_gaps).gap);
    }
    if (lowest > 0.0f) {
      least.AddBound({lowest, lowest});
    } else {
      const auto is_movable = [&](uint32_t v) {
        return !has_pinned || MeanOf(movable.data(), vertices[v]) >= kLeastMovable;
      };
      const auto add = [&](uint32_t v, const Clearance& clearance) {
        if (is_movable(v)) least.Add(v, clearance);
      };
      const auto look = [&](uint32_t v) {
        if (!is_movable(v)) return;
        const float gap = has_plane ? gap_of(vertices[v]) : 0.0f;
        gap > 0.0f ? least.AddBound({gap, gap}) : least.Add(v, look_at(v));
      };
      search.ForVertices(way, vertices, depth, deepest, add, look);
    }
    least.WriteTo(near);
  }
  if (weights == nullptr) return;
  const float shares[4] = {weights->x, weights->y, weights->z, weights->w};
  deepest.node = tet.nodes[std::ranges::max_element(shares) - shares];
  Add(deepest);
}

// Whether a tet's nodes come near the mesh on their ways, or may start behind it.
bool SunkPoints::MayMeet(const ContactProblem& problem, const LocalCollider& collider,
                         uint32_t tet) const {
  const uint32_t* nodes = problem.surface.collision->tets[tet].nodes;
  Vec3 low = collider.end.ToLocal(ends_[nodes[0]]), high = low;
  const auto add = [&](const Vec3& x) {
    low = LowerOf(low, x);
    high = UpperOf(high, x);
  };
  for (int k = 0; k < 4; ++k) {
    add(collider.start.ToLocal(problem.x[nodes[k]]));
    add(collider.end.ToLocal(ends_[nodes[k]]));
  }
  const MeshBox near = MeshBox{low, high}.Around(NearMesh::Margin(problem));
  return collider.mesh.HasTriangles(near.low, near.high);
}

void SunkPoints::FindOnMesh(const ContactProblem& problem, const LocalCollider& collider,
                            std::span<const NodeVec> moved, float depth, IsKnown is_known,
                            const void* user) {
  for (size_t i = 0; i < ends_.size(); ++i) {
    const Vec3 y = problem.y[i];
    ends_[i] = moved.empty() ? y : y + moved[i];
  }
  if (!problem.surface.has_vertices()) {
    const NearMeshTet none;
    const FaceSearch search(problem, collider, mesh_, none);
    MeshWay middle;
    for (size_t i = 0; i < ends_.size(); ++i) {
      const float share = 1.0f / static_cast<float>(ends_.size());
      middle.from += collider.start.ToLocal(problem.x[i]) * share;
      middle.to += collider.end.ToLocal(ends_[i]) * share;
    }
    for (uint32_t i = 0; i < ends_.size(); ++i) {
      if (problem.surface.pinned[i] != 0) continue;
      const MeshWay way = {collider.start.ToLocal(problem.x[i]), collider.end.ToLocal(ends_[i])};
      MeshHit hit = search.Meet(way, way.from, depth).hit;
      if (hit.face == kNoTriangle) continue;
      const SweptTriangle to_middle = {{way.from, middle.from, middle.from},
                                       {way.to, middle.to, middle.to}};
      search.GiveWay(way, to_middle, &hit);
      SunkPoint point = {i, SunkPoint::kNoTet, i, collider.slot};
      point.face = hit.face;
      point.gap = hit.gap + AllowedDepth(hit.start_gap, problem.rise);
      if (point.gap < -depth && !is_known(user, point)) Add(point);
    }
    return;
  }
  NearMesh& near = mesh_;
  if (!near.is_allocated()) {
    for (uint32_t t = 0; t < problem.surface.collision->tets.size(); ++t) {
      constexpr float kNone = -std::numeric_limits<float>::infinity();
      NearMeshTet tet = {.tet = t, .of_others = {kNone, kNone}};
      FindOnRidges(problem, collider, depth, is_known, user, &tet);
      if (MayMeet(problem, collider, t)) {
        FindInTet(problem, collider, depth, is_known, user, &tet);
      }
    }
    return;
  }
  bool are_placed = !near.IsOf(collider) || !near.Holds(problem, ends_);
  if (are_placed) near.Build(problem, collider, ends_);
  if (near.tets().empty()) return;
  near.FindMoves(problem, ends_);
  for (NearMeshTet& tet : near.tets()) {
    const bool is_clear = near.Clears(problem, depth, &tet);
    if (tet.has_ridges && !(tet.of_ridges > 0.0f)) {
      FindOnRidges(problem, collider, depth, is_known, user, &tet);
    }
    if (is_clear) continue;
    if (!are_placed) near.PlaceNodes(problem, collider, ends_);
    are_placed = true;
    FindInTet(problem, collider, depth, is_known, user, &tet);
  }
  near.NoteWays(problem, ends_);
}

}  // namespace plush
