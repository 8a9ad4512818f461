// SPDX-License-Identifier: MIT
// SunkPoints::FindOnMesh: tets near a mesh, then their vertices near its faces, one by one.
// Source: sunk_points.h.
#include "base/vector_math.h"
#include "collision/surface_records.h"
#include "contact/lowest_vertex.h"
#include "contact/near_mesh.h"
#include "contact/sunk_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// A way in the coordinates of a mesh.
struct Way {
  Vec3 from, to;
};

// The ways of a tet's nodes.
struct TetWay {
  Vec3 from[4], to[4];

  Way Of(const Vec4& weights) const {
    const auto mean = [&](const Vec3(&of_nodes)[4]) {
      return of_nodes[0] * weights.x + of_nodes[1] * weights.y + of_nodes[2] * weights.z +
             of_nodes[3] * weights.w;
    };
    return {mean(from), mean(to)};
  }
};

using Box = NearMesh::Box;

// What a point meets on its way.
struct Meeting {
  MeshHit hit;
  float depth = 0.0f;      // of a hit, below what is allowed; negative [m]
  float clearance = 0.0f;  // the way's end can move so far before the point is deep, also if the
                           // next way starts at this one's end [m]
};

// The vertices of a tet that have the least clearances.
class LeastClearances {
 public:
  explicit LeastClearances(float most) : of_others_(most) {}

  void AddBound(float clearance) { of_others_ = std::fmin(of_others_, clearance); }
  void Add(uint32_t vertex, float clearance) {
    uint32_t at = count_;
    while (at > 0 && clearance < clearances_[at - 1]) --at;
    if (at == kFew) return AddBound(clearance);
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
    tet->of_others = of_others_;
    tet->clearance = count_ > 0 ? std::fmin(clearances_[0], of_others_) : of_others_;
  }

 private:
  static constexpr uint32_t kFew = std::size(NearMeshTet().few);

  uint32_t vertices_[kFew];
  float clearances_[kFew];  // ascending
  uint32_t count_ = 0;
  float of_others_;
};

// Looks at the ways of points near the faces of a tet's list, or without a list, near all that
// overlap the way's box.
class FaceSearch {
 public:
  FaceSearch(const ContactProblem& problem, const LocalCollider& collider, const NearMesh& near,
             const NearMeshTet& tet)
      : mesh_(collider.mesh),
        near_(near),
        tet_(tet),
        slop_(problem.slop),
        reach_(NearMesh::Margin(problem)) {}

  // `inside` is a point of the body beside the way.
  Meeting Meet(const Way& way, const Vec3& inside, float depth) const {
    const bool has_two_sides = mesh_.source->has_two_sides();
    WayToMesh crossing(way.from, way.to, has_two_sides ? &inside : nullptr, depth, slop_);
    NearestFace at_end(way.to, reach_, nullptr, has_two_sides);
    const Box box = {LowerOf(way.from, way.to), UpperOf(way.from, way.to)};
    ForFaces(box, [&](const MeshFace& face, const Box& around) {
      if (around.Overlaps(box)) crossing.Visit(face);
      const float most = at_end.nearest().distance;
      if (around.SquaredDistance(way.to) <= most * most) at_end.Visit(face);
    });
    const bool is_behind = at_end.nearest().face != kNoTriangle && at_end.nearest().gap < 0.0f;
    Meeting meeting = {crossing.hit(), 0.0f, at_end.nearest().distance};
    if (is_behind) meeting.clearance = -meeting.clearance;
    const bool may_be_behind = is_behind || at_end.nearest().face == kNoTriangle;
    if (meeting.hit.face == kNoTriangle && may_be_behind && !has_two_sides) {
      const NearestPoint nearest = NearestToStart(way, box);
      if (nearest.face != kNoTriangle && nearest.gap < 0.0f) {
        meeting.hit = {nearest.face, nearest.gap,
                       nearest.gap + Dot(nearest.normal, way.to - way.from)};
      }
    }
    if (meeting.hit.face != kNoTriangle) {
      const float gap = meeting.hit.gap;
      meeting.depth = gap + AllowedDepth(meeting.hit.start_gap, slop_);
      meeting.clearance = std::fmin(meeting.depth, gap + AllowedDepth(gap, slop_));
    }
    return meeting;
  }

 private:
  // The face nearest to the way's start. A list has all that are in reach, but deep below a height
  // field there is one farther away.
  NearestPoint NearestToStart(const Way& way, const Box& box) const {
    NearestFace search(way.from, reach_, nullptr, false);
    if (tet_.has_list) {
      ForFaces(box, [&](const MeshFace& face, const Box& around) {
        const float most = search.nearest().distance;
        if (around.SquaredDistance(way.from) <= most * most) search.Visit(face);
      });
    }
    const bool is_done = tet_.has_list && mesh_.source->mesh != nullptr;
    if (is_done || search.nearest().face != kNoTriangle) return search.nearest();
    return mesh_.FindNearest(way.from, reach_, nullptr);
  }

  template <class Visit>
  void ForFaces(const Box& way, const Visit& visit) const {
    if (tet_.has_list) return near_.ForFaces(tet_, visit);
    const Vec3 margin = {reach_, reach_, reach_};
    mesh_.ForTriangles(way.low - margin, way.high + margin, [&](uint32_t triangle) {
      const MeshFace face = mesh_.Face(2 * triangle);
      visit(face, BoxAround(face));
      return true;
    });
  }

  const ColliderMesh& mesh_;
  const NearMesh& near_;
  const NearMeshTet& tet_;
  float slop_, reach_;
};

}  // namespace

// Looks at one tet: adds its deepest point, if that is new, and finds its clearance.
void SunkPoints::FindInTet(const ContactProblem& problem, const LocalCollider& collider,
                           float depth, IsKnown is_known, const void* user, NearMeshTet* near) {
  const CollisionView& collision = *problem.surface.collision;
  const CdgTet& tet = collision.tets[near->tet];
  const TetNumbers movable = MovableOf(problem.surface, tet);
  TetWay way;
  float from_gaps[4], to_gaps[4];  // from the plane above the faces
  for (int k = 0; k < 4; ++k) {
    way.from[k] = collider.start.ToLocal(problem.x[tet.nodes[k]]);
    way.to[k] = collider.end.ToLocal(ends_[tet.nodes[k]]);
    from_gaps[k] = Dot(near->normal, way.from[k]) - near->offset;
    to_gaps[k] = Dot(near->normal, way.to[k]) - near->offset;
  }
  uint32_t first = 0;
  const std::span<const Vec4> vertices = VerticesOf(collision, near->tet, &first);
  const bool has_plane = !IsZero(near->normal);
  const FaceSearch search(problem, collider, mesh_, *near);
  const Vec3 middle = (way.from[0] + way.from[1] + way.from[2] + way.from[3]) * 0.25f;
  SunkPoint deepest = {0, near->tet, 0, collider.slot, -depth};
  const Vec4* weights = nullptr;
  // Returns the vertex's clearance.
  const auto look_at = [&](uint32_t v) {
    const Meeting meeting = search.Meet(way.Of(vertices[v]), middle, depth);
    SunkPoint point = {first + v, near->tet, 0, collider.slot, meeting.depth};
    point.face = meeting.hit.face;
    const bool is_deeper =
        point.gap < deepest.gap ||
        (weights != nullptr && point.gap == deepest.gap && point.id < deepest.id);
    if (point.face != kNoTriangle && is_deeper && !is_known(user, point)) {
      deepest = point;
      weights = &vertices[v];
    }
    return meeting.clearance;
  };
  const float margin = NearMesh::Margin(problem);
  if (near->of_others + depth > 0.0f) {
    near->clearance = near->of_others;
    for (uint32_t k = 0; k < near->num_few; ++k) {
      near->clearance = std::fmin(near->clearance, look_at(near->few[k]));
    }
  } else {
    LeastClearances least(margin);
    const float lowest = has_plane ? std::fmin(LowestVertex(vertices, from_gaps).gap,
                                               LowestVertex(vertices, to_gaps).gap)
                                   : 0.0f;
    if (lowest > 0.0f) {
      least.AddBound(lowest);
    } else {
      // Vertices higher than this above the plane are left alone.
      const float band = 0.1f * margin;
      for (uint32_t v = 0; v < vertices.size(); ++v) {
        if (MeanOf(movable.data(), vertices[v]) < kLeastMovable) continue;
        const float gap =
            has_plane ? std::fmin(MeanOf(from_gaps, vertices[v]), MeanOf(to_gaps, vertices[v]))
                      : 0.0f;
        gap > band ? least.AddBound(gap) : least.Add(v, look_at(v));
      }
    }
    least.WriteTo(near);
  }
  if (weights == nullptr) return;
  const float shares[4] = {weights->x, weights->y, weights->z, weights->w};
  deepest.node = tet.nodes[std::ranges::max_element(shares) - shares];
  Add(deepest);
}

// Whether a tet's nodes come near the mesh on their ways.
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
  return collider.mesh.HasTriangles(low, high);
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
    for (uint32_t i = 0; i < ends_.size(); ++i) {
      if (problem.surface.pinned[i] != 0) continue;
      const Way way = {collider.start.ToLocal(problem.x[i]), collider.end.ToLocal(ends_[i])};
      const Meeting meeting = search.Meet(way, way.from, depth);
      SunkPoint point = {i, SunkPoint::kNoTet, i, collider.slot, meeting.depth};
      point.face = meeting.hit.face;
      if (point.face != kNoTriangle && point.gap < -depth && !is_known(user, point)) Add(point);
    }
    return;
  }
  NearMesh& near = mesh_;
  if (!near.is_allocated()) {
    for (uint32_t t = 0; t < problem.surface.collision->tets.size(); ++t) {
      FindOnRidges(problem, collider, t, depth, is_known, user);
      NearMeshTet tet = {.tet = t, .of_others = -std::numeric_limits<float>::infinity()};
      if (MayMeet(problem, collider, t)) {
        FindInTet(problem, collider, depth, is_known, user, &tet);
      }
    }
    return;
  }
  if (!near.IsOf(collider) || !near.Holds(problem, ends_)) near.Build(problem, collider, ends_);
  for (NearMeshTet& tet : near.tets()) {
    if (tet.has_ridges) FindOnRidges(problem, collider, tet.tet, depth, is_known, user);
    if (near.Clears(problem, ends_, depth, &tet)) continue;
    FindInTet(problem, collider, depth, is_known, user, &tet);
  }
  near.NoteEnds(ends_);
}

}  // namespace plush
