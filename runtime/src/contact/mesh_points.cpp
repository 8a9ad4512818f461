// SPDX-License-Identifier: MIT
// SunkPoints::FindOnMesh: tets near a mesh, then their vertices near its faces, one by one.
// Source: sunk_points.h.
#include "base/vector_math.h"
#include "collision/surface_records.h"
#include "contact/lowest_vertex.h"
#include "contact/near_mesh.h"
#include "contact/sunk_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// A way in the coordinates of a mesh.
struct Way {
  Vec3 from, to;
};

// The way of a point with these weights.
Way WayOf(const NodeWays& nodes, const Vec4& weights) {
  const auto mean = [&](const Vec3(&of_nodes)[4]) {
    return of_nodes[0] * weights.x + of_nodes[1] * weights.y + of_nodes[2] * weights.z +
           of_nodes[3] * weights.w;
  };
  return {mean(nodes.from), mean(nodes.to)};
}

// The first triangle of a vertex of a tet. Of a wrong file that has none, one without an area.
SweptTriangle TriangleAt(const CollisionView& collision, uint32_t tet, uint32_t vertex,
                         std::span<const Vec4> vertices, const NodeWays& nodes) {
  const Way own = WayOf(nodes, vertices[vertex]);
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
        const Way way = WayOf(nodes, vertices[corners[k]]);
        swept.from[k] = way.from;
        swept.to[k] = way.to;
      }
    });
  });
  return swept;
}

// A point of the body right behind the middle of a triangle at its start: also in thin limbs and
// sharp rims. The tet that carries the triangle stands out of the surface.
Vec3 InsideOf(const SweptTriangle& triangle) {
  constexpr float kDepth = 0.05f;  // [edges]
  const auto& [a, b, c] = triangle.from;
  const Vec3 outward = Cross(b - a, c - a);
  const float area2 = Length(outward);
  const Vec3 middle = (a + b + c) * (1.0f / 3.0f);
  return area2 > 0.0f ? middle - outward * (kDepth / std::sqrt(area2)) : middle;
}

using Box = NearMesh::Box;

// What a point meets on its way.
struct Meeting {
  MeshHit hit;
  Clearance clearance;
};

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
        flush_(problem.flush),
        reach_(NearMesh::Margin(problem)) {}

  // `inside` is a point of the body beside the way.
  Meeting Meet(const Way& way, const Vec3& inside, float depth) const {
    const bool has_two_sides = mesh_.source->has_two_sides();
    WayToMesh crossing(way.from, way.to, has_two_sides ? &inside : nullptr, depth, flush_);
    NearestFace at_end(way.to, reach_, nullptr, has_two_sides);
    const Box box = {LowerOf(way.from, way.to), UpperOf(way.from, way.to)};
    float apart = reach_;             // from the planes of all faces, at least, on one side of each
    float of_end2 = reach_ * reach_;  // see SideOf
    ForFaces(box, [&](const MeshFace& face, const Box& around) {
      if (around.Overlaps(box)) crossing.Visit(face);
      const float most = at_end.nearest().distance;
      const float to_end2 = around.SquaredDistance(way.to);
      if (to_end2 <= most * most) at_end.Visit(face);
      const float start = face.Gap(way.from), end = face.Gap(way.to);
      apart = std::min(apart, std::max(std::min(start, end), -std::max(start, end)));
      of_end2 = std::min(of_end2, SideOf(end, to_end2));
    });
    const NearestPoint& nearest = at_end.nearest();
    const float distance = nearest.distance;
    const bool has_nearest = nearest.face != kNoTriangle;
    const bool is_behind = has_nearest && nearest.gap < 0.0f;
    apart = std::max(apart, distance - Length(way.to - way.from));
    Meeting meeting = {crossing.hit(), {distance, apart}};
    if (is_behind) {
      meeting.clearance.of_end = -distance;
    } else if (!has_two_sides) {
      // So far the nearest face stays one in front, or out of reach.
      const float of_end = std::sqrt(of_end2) - 0.5f * distance;
      meeting.clearance.of_end = std::min(distance, of_end);
      if (!has_nearest) meeting.clearance.of_way = std::min(apart, SideAtStart(way, box));
    }
    const bool may_be_behind = is_behind || !has_nearest;
    if (meeting.hit.face == kNoTriangle && may_be_behind && !has_two_sides) {
      const NearestPoint at_start = NearestToStart(way, box);
      if (at_start.face != kNoTriangle && at_start.gap < 0.0f) {
        meeting.hit = {at_start.face, at_start.gap,
                       at_start.gap + Dot(at_start.normal, way.to - way.from)};
      }
    }
    if (meeting.hit.face != kNoTriangle) {
      const float gap = meeting.hit.gap;
      meeting.clearance.of_end =
          gap + std::fmin(AllowedDepth(meeting.hit.start_gap, slop_), AllowedDepth(gap, slop_));
      // Another way may meet another face.
      meeting.clearance.of_way = meeting.clearance.of_end - reach_;
    }
    meeting.clearance.of_way = std::fmin(meeting.clearance.of_end, meeting.clearance.of_way);
    return meeting;
  }

  // Replaces the face that a way meets by an easier one that hides it: the met one is all behind
  // it, such as a wall below a floor, and meets the way below it or below its border. In a valley
  // both hold the point.
  void GiveWay(const Way& way, const SweptTriangle& triangle, MeshHit* hit) const {
    if (hit->gap >= 0.0f) return;
    const Box box = {LowerOf(way.from, way.to), UpperOf(way.from, way.to)};
    const MeshFace met = FaceOf(hit->face, box);
    const float start = std::fmax(hit->start_gap, 0.0f);
    const Vec3 at = way.from + (way.to - way.from) * (start / (start - hit->gap));
    const SolidFace held = {met.normal, Dot(met.normal, met.corners[0])};
    EasiestPlane easiest(triangle, held, way.from, way.to, flush_);
    const auto look_at = [&](const MeshFace& face) {
      const auto depth_of = [&](const Vec3& x) { return -face.Gap(x); };
      const bool hides = LeastOfCorners(met.corners, depth_of) >= -flush_;
      const float off = face.Gap(at);
      const bool is_there = SquaredDistance(face, at) <= off * off + flush_ * flush_;
      if (!hides || !is_there) return;
      if (!easiest.Visit(face.normal, [&](const Vec3& x) { return face.Gap(x); })) return;
      *hit = {face.index, face.Gap(way.from), face.Gap(way.to)};
    };
    ForFaces(box, [&](const MeshFace& face, const Box&) {
      if (IsZero(face.normal)) return;
      look_at(face);
      if (mesh_.source->has_two_sides()) look_at(face.Back());
    });
  }

  // Calls bound(v, clearance), with less than its clearance or as much, for vertices that bounds
  // show to meet nothing, or to be less deep than `deepest`, which `look` may change. Calls look(v)
  // for others.
  template <class Bound, class Look>
  void ForVertices(const NodeWays& ways, std::span<const Vec4> vertices, float depth,
                   const SunkPoint& deepest, const Bound& bound, const Look& look) const {
    const float rounding = RoundingOf(ways);
    for (size_t first = 0; first < vertices.size(); first += VertexBounds::kMost) {
      const std::span<const Vec4> some =
          vertices.subspan(first, std::min(VertexBounds::kMost, vertices.size() - first));
      VertexBounds bounds(ways, some, depth, reach_, rounding);
      const bool are_bounds = AddPlanes(&bounds);
      if (!are_bounds) {
        for (size_t i = 0; i < some.size(); ++i) look(static_cast<uint32_t>(first + i));
        continue;
      }
      const VertexClearances clearances = bounds.FindClearances({tet_.normal, tet_.offset});
      const std::span<const float> gaps = clearances.gaps;
      const auto at = [first](size_t i) { return static_cast<uint32_t>(first + i); };
      // What is deepest comes first as a rule, so that others need no look.
      size_t lowest = some.size();
      float least = 0.0f;
      for (size_t i = 0; i < some.size(); ++i) {
        if (gaps[i] < least && std::isfinite(gaps[i])) least = gaps[lowest = i];
      }
      if (lowest < some.size()) look(at(lowest));
      for (size_t i = 0; i < some.size(); ++i) {
        if (i == lowest) continue;
        if (clearances.of_ends[i] > 0.0f) {
          bound(at(i), {clearances.of_ends[i], clearances.of_ways[i]});
        } else if (gaps[i] > deepest.gap) {
          bound(at(i), {gaps[i], gaps[i]});
        } else {
          look(at(i));
        }
      }
    }
  }

 private:
  // Of distances near the tet [m].
  float RoundingOf(const NodeWays& ways) const {
    Vec3 largest;
    const auto see = [&](const Vec3& x) { largest = UpperOf(largest, UpperOf(x, -x)); };
    for (int k = 0; k < 4; ++k) {
      see(ways.from[k]);
      see(ways.to[k]);
    }
    if (tet_.has_list) {
      see(near_.around_faces().low);
      see(near_.around_faces().high);
    }
    return kRoundingOfSums * (largest.x + largest.y + largest.z);
  }

  // Adds all faces of the list. Returns whether it could.
  bool AddPlanes(VertexBounds* bounds) const {
    constexpr size_t kAtOnce = 32;
    if (!tet_.has_list || mesh_.source->has_two_sides()) return false;
    std::array<FacePlanes, kAtOnce> planes;
    size_t count = 0;
    bool are_exact = true, are_first = true;
    const auto add = [&] {
      bounds->Add(std::span(planes).first(count), are_first);
      are_first = false;
      count = 0;
    };
    near_.ForPlanes(tet_, [&](const FacePlanes& of_face) {
      are_exact = are_exact && of_face.is_exact;
      planes[count] = of_face;
      if (++count == kAtOnce) add();
    });
    add();
    return are_exact;
  }

  // The square of max(gap, distance / 2) of a point from a face, or less. The least of all faces,
  // less half of the distance from the nearest one, is how far the point may move before another
  // one is nearest that has it behind (VertexBounds).
  static float SideOf(float gap, float to_box2) {
    const float half2 = 0.25f * std::max(gap * gap, to_box2);
    return gap > 0.0f ? std::max(gap * gap, half2) : half2;
  }

  // How far a way's start may move before a face in reach has it behind, if none has.
  float SideAtStart(const Way& way, const Box& box) const {
    float of_start2 = reach_ * reach_;
    ForFaces(box, [&](const MeshFace& face, const Box& around) {
      const float to_start2 = around.SquaredDistance(way.from);
      of_start2 = std::min(of_start2, SideOf(face.Gap(way.from), to_start2));
    });
    return std::sqrt(of_start2) - 0.5f * reach_;
  }

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

  // A list has copies of all faces that a way meets, but for those that it is deep below.
  MeshFace FaceOf(uint32_t index, const Box& way) const {
    MeshFace found = {.index = kNoTriangle};
    ForFaces(way, [&](const MeshFace& front, const Box&) {
      if (front.index == (index & ~1u)) found = front;
    });
    if (found.index == kNoTriangle) return mesh_.Face(index);
    return found.index == index ? found : found.Back();
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
  float slop_, flush_, reach_;
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
        hit.gap + pinned(way.to) + AllowedDepth(hit.start_gap + pinned(way.from), problem.slop);
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
    const Way of_point = WayOf(way, vertices[v]);
    const Vec3 inside =
        collider.mesh.source->has_two_sides() ? InsideOf(triangle()) : of_point.from;
    const Meeting meeting = search.Meet(of_point, inside, depth);
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
    return std::fmin(MeanOf(from_gaps, w), MeanOf(to_gaps, w));
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
    Way middle;
    for (size_t i = 0; i < ends_.size(); ++i) {
      const float share = 1.0f / static_cast<float>(ends_.size());
      middle.from += collider.start.ToLocal(problem.x[i]) * share;
      middle.to += collider.end.ToLocal(ends_[i]) * share;
    }
    for (uint32_t i = 0; i < ends_.size(); ++i) {
      if (problem.surface.pinned[i] != 0) continue;
      const Way way = {collider.start.ToLocal(problem.x[i]), collider.end.ToLocal(ends_[i])};
      MeshHit hit = search.Meet(way, way.from, depth).hit;
      if (hit.face == kNoTriangle) continue;
      const SweptTriangle to_middle = {{way.from, middle.from, middle.from},
                                       {way.to, middle.to, middle.to}};
      search.GiveWay(way, to_middle, &hit);
      SunkPoint point = {i, SunkPoint::kNoTet, i, collider.slot};
      point.face = hit.face;
      point.gap = hit.gap + AllowedDepth(hit.start_gap, problem.slop);
      if (point.gap < -depth && !is_known(user, point)) Add(point);
    }
    return;
  }
  NearMesh& near = mesh_;
  if (!near.is_allocated()) {
    for (uint32_t t = 0; t < problem.surface.collision->tets.size(); ++t) {
      FindOnRidges(problem, collider, t, depth, is_known, user);
      constexpr float kNone = -std::numeric_limits<float>::infinity();
      NearMeshTet tet = {.tet = t, .of_others = {kNone, kNone}};
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
    if (tet.has_ridges) FindOnRidges(problem, collider, tet.tet, depth, is_known, user);
    if (near.Clears(problem, depth, &tet)) continue;
    if (!are_placed) near.PlaceNodes(problem, collider, ends_);
    are_placed = true;
    FindInTet(problem, collider, depth, is_known, user, &tet);
  }
  near.NoteWays(problem, ends_);
}

}  // namespace plush
