// SPDX-License-Identifier: MIT
// The faces of a mesh that points of one tet meet on their ways in a substep, and how far they are
// from others.
#pragma once

#include "base/vector_math.h"
#include "colliders/easiest_plane.h"
#include "touching/lowest_vertex.h"
#include "touching/near_mesh.h"
#include "touching/sunk_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace plush {

/// A way in the coordinates of a mesh.
struct MeshWay {
  Vec3 from, to;
};

/// The way of a point with these weights.
inline MeshWay WayOf(const NodeWays& nodes, const Vec4& weights) {
  const auto mean = [&](const Vec3(&of_nodes)[4]) {
    return of_nodes[0] * weights.x + of_nodes[1] * weights.y + of_nodes[2] * weights.z +
           of_nodes[3] * weights.w;
  };
  return {mean(nodes.from), mean(nodes.to)};
}

/// What a point meets on its way.
struct MeshMeeting {
  MeshHit hit;
  Clearance clearance;
};

/// Looks at the ways of points near the faces of a tet's list, or without a list, near those of the
/// mesh, first close by.
class FaceSearch {
 public:
  using Box = NearMesh::Box;

  FaceSearch(const ContactProblem& problem, const LocalCollider& collider, const NearMesh& near,
             const NearMeshTet& tet)
      : mesh_(collider.mesh),
        near_(near),
        tet_(tet),
        rise_(problem.rise),
        flush_(problem.flush),
        reach_(NearMesh::Margin(problem)) {}

  // `inside` is a point of the body beside the way.
  MeshMeeting Meet(const MeshWay& way, const Vec3& inside, float depth) const {
    const bool has_two_sides = mesh_.source->has_two_sides();
    const Box box = {LowerOf(way.from, way.to), UpperOf(way.from, way.to)};
    WayToMesh crossing(way.from, way.to, has_two_sides ? &inside : nullptr, depth, flush_);
    const Seen seen = tet_.has_list ? LookAtList(way, box, &crossing) : LookAround(way, &crossing);
    MeshMeeting meeting = {crossing.hit(), {reach_, reach_}};
    if (meeting.hit.face == kNoTriangle) {
      const NearestPoint& nearest = seen.nearest;
      const float distance = nearest.distance;
      const bool has_nearest = nearest.face != kNoTriangle;
      const bool is_behind = has_nearest && nearest.gap < 0.0f;
      const float apart = std::max(seen.apart, distance - Length(way.to - way.from));
      // A start this near to a face with two sides may come to its other side.
      const float flips = has_two_sides ? 4.0f * flush_ : 0.0f;
      meeting.clearance = {distance - flips, apart - flips};
      if (is_behind) {
        meeting.clearance.of_end = -distance;
      } else if (!has_two_sides) {
        // So far the nearest face stays one in front, or out of reach.
        const float of_end = std::sqrt(seen.of_end2) - 0.5f * distance;
        meeting.clearance.of_end = std::min(distance, of_end);
      }
      if ((is_behind || !has_nearest) && !has_two_sides) {
        const Seen start = SeeStart(way, seen.least);
        if (!has_nearest) {
          const float of_start = std::sqrt(start.of_end2) - 0.5f * reach_;
          meeting.clearance.of_way = std::min(apart, of_start);
        }
        const NearestPoint& at_start = start.nearest;
        if (at_start.face != kNoTriangle && at_start.gap < 0.0f) {
          meeting.hit = {at_start.face, at_start.gap,
                         at_start.gap + Dot(at_start.normal, way.to - way.from)};
        }
      }
    }
    if (meeting.hit.face != kNoTriangle) {
      const float gap = meeting.hit.gap;
      const float of_hit =
          gap + std::min(AllowedDepth(meeting.hit.start_gap, rise_), AllowedDepth(gap, rise_));
      // A point that starts behind a face may end in front of that, behind another one.
      meeting.clearance.of_end = std::min(meeting.clearance.of_end, of_hit);
      // Another way may meet another face.
      meeting.clearance.of_way = meeting.clearance.of_end - reach_;
    }
    meeting.clearance.of_way = std::min(meeting.clearance.of_end, meeting.clearance.of_way);
    return meeting;
  }

  // Replaces the face that a way meets by an easier one that hides it: the met one is all behind
  // it, such as a wall below a floor, and meets the way below it or below its border. In a valley
  // both hold the point.
  void GiveWay(const MeshWay& way, const SweptTriangle& triangle, MeshHit* hit) const {
    if (hit->gap >= 0.0f) return;
    const Box box = {LowerOf(way.from, way.to), UpperOf(way.from, way.to)};
    const MeshFace met = FaceOf(hit->face);
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
    ForFaces(box.Around(reach_), [&](const auto& face_of, const Box&) {
      const MeshFace& face = face_of();
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
    if (!tet_.has_list) return ForVerticesNear(ways, vertices, bound, look);
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
  // ForVertices without a list: of some vertices at once, whether any face is in reach.
  template <class Bound, class Look>
  void ForVerticesNear(const NodeWays& ways, std::span<const Vec4> vertices, const Bound& bound,
                       const Look& look) const {
    constexpr size_t kAtOnce = 8;
    const float unseen = std::sqrt(SideOf(-kFarther * reach_, 0.0f)) - 0.5f * reach_;
    for (size_t first = 0; first < vertices.size(); first += kAtOnce) {
      const size_t end = std::min(first + kAtOnce, vertices.size());
      Box box;
      for (size_t i = first; i < end; ++i) {
        const MeshWay way = WayOf(ways, vertices[i]);
        const Vec3 low = LowerOf(way.from, way.to), high = UpperOf(way.from, way.to);
        box = i == first ? Box{low, high} : Box{LowerOf(box.low, low), UpperOf(box.high, high)};
      }
      box = box.Around(kFarther * reach_);
      const bool are_near = mesh_.HasTriangles(box.low, box.high);
      for (size_t i = first; i < end; ++i) {
        const auto v = static_cast<uint32_t>(i);
        are_near ? look(v) : bound(v, Clearance{unseen, unseen});
      }
    }
  }

  // What is near a way, or a point.
  struct Seen {
    NearestPoint nearest;  // to its end
    float apart = 0.0f;    // from the planes of all faces, at least, on one side of each [m]
    float of_end2 = 0.0f;  // least SideOf the end [m^2]
    float least = 0.0f;    // distance from all faces, or less [m]
    bool has_all = true;   // whether it is all that is near
  };

  static float ApartFrom(const MeshFace& face, const MeshWay& way) {
    const float start = face.Gap(way.from), end = face.Gap(way.to);
    return std::max(std::min(start, end), -std::max(start, end));
  }

  Seen LookAtList(const MeshWay& way, const Box& box, WayToMesh* crossing) const {
    NearestFace at_end(way.to, reach_, nullptr, mesh_.source->has_two_sides());
    float apart = reach_, of_end2 = reach_ * reach_;
    near_.ForFaces(tet_, [&](const MeshFace& face, const Box& around) {
      if (around.Overlaps(box)) crossing->Visit(face);
      const float most = at_end.nearest().distance;
      const float to_end2 = around.SquaredDistance(way.to);
      if (to_end2 <= most * most) at_end.Visit(face);
      apart = std::min(apart, ApartFrom(face, way));
      of_end2 = std::min(of_end2, SideOf(face.Gap(way.to), to_end2));
    });
    return {at_end.nearest(), apart, of_end2, 0.0f};
  }

  // Of a fine mesh, most faces in reach are too far to matter. Sees nothing else if the way crosses
  // a face.
  Seen LookAround(const MeshWay& way, WayToMesh* crossing) const {
    constexpr float kShares[] = {0.125f, 0.375f, 1.0f}, kAlong = 0.25f;  // of the reach
    constexpr float kSure = 0.999f;  // farther away, another one may count as equally near
    const float apart = LookAlong(way, kAlong * reach_, crossing);
    if (crossing->hit().face != kNoTriangle) return {};
    for (size_t i = 0;;) {
      const float most = kShares[i] * reach_;
      Seen seen = LookAt(way.to, most, mesh_.source->has_two_sides());
      seen.apart = apart;
      const bool is_sure =
          seen.has_all && seen.nearest.face != kNoTriangle && seen.nearest.distance < kSure * most;
      if (is_sure || i + 1 == std::size(kShares)) return seen;
      i = seen.has_all ? i + 1 : std::size(kShares) - 1;
    }
  }

  // Looks at faces that the way may cross. Returns how far it stays apart from all, no more than
  // `most` [m].
  float LookAlong(const MeshWay& way, float most, WayToMesh* crossing) const {
    const Vec3 ends[2] = {way.from, way.to};
    const Box box = {LowerOf(way.from, way.to), UpperOf(way.from, way.to)};
    // Far from the origin, the middle of a box is rounded by more than boxes of small triangles
    // have room.
    constexpr float kRounding = 1.0e-6f;
    const Vec3 farthest = UpperOf(box.high, box.low * -1.0f);
    const float rounding =
        kRounding * (std::max(farthest.x, std::max(farthest.y, farthest.z)) + most);
    float apart = most;
    ForFaces(box.Around(most), [&](const auto& face_of, const Box& around) {
      const float apart2 = around.SquaredDistance(box);
      if (apart2 > apart * apart || !MayCrossBox(ends, around.Around(apart + rounding))) return;
      const MeshFace face = face_of();
      if (around.Overlaps(box)) crossing->Visit(face);
      apart = std::min(apart, std::max(ApartFrom(face, way), std::sqrt(apart2)));
    });
    return apart;
  }

  // Looks at faces near a point, for a nearest one no farther away than `most`. Gives up if that is
  // less than reach and there are many: boxes of long triangles are near all points.
  Seen LookAt(const Vec3& point, float most, bool has_two_sides) const {
    constexpr uint32_t kMany = 32;
    constexpr float kRoom = 1.0e-5f;  // more than those differ that count as equally near
    const float within = kFarther * most;
    const uint32_t limit = most < reach_ ? kMany : UINT32_MAX;
    uint32_t count = 0;
    NearestFace search(point, most, nullptr, has_two_sides);
    float side2 = SideOf(-within, 0.0f), least2 = within * within;
    const Box box = Box{point, point}.Around(within);
    mesh_.ForTriangles(box.low, box.high, [&](uint32_t triangle) {
      Vec3 corners[3];
      mesh_.Corners(triangle, corners);
      const float distance2 = BoxAround(corners).SquaredDistance(point);
      const float nearest = search.nearest().distance * (1.0f + kRoom);
      least2 = std::min(least2, distance2);
      if (++count == limit) return false;
      if (distance2 > nearest * nearest && SideOf(0.0f, distance2) >= side2) return true;
      const MeshFace face = mesh_.Face(2 * triangle);
      if (distance2 <= nearest * nearest) search.Visit(face);
      side2 = std::min(side2, SideOf(face.Gap(point), distance2));
      return true;
    });
    return {search.nearest(), 0.0f, side2, std::sqrt(least2), count < limit};
  }

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

  // What is near a way's start. `least`: distance of its end from all faces, or less [m]. A list
  // has all that are in reach, but deep below a height field there is one farther away.
  Seen SeeStart(const MeshWay& way, float least) const {
    if (tet_.has_list) {
      NearestFace search(way.from, reach_, nullptr, false);
      Seen seen = {{}, 0.0f, reach_ * reach_, 0.0f};
      near_.ForFaces(tet_, [&](const MeshFace& face, const Box& around) {
        const float most = search.nearest().distance;
        const float distance2 = around.SquaredDistance(way.from);
        if (distance2 <= most * most) search.Visit(face);
        seen.of_end2 = std::min(seen.of_end2, SideOf(face.Gap(way.from), distance2));
      });
      seen.nearest = search.nearest();
      if (seen.nearest.face == kNoTriangle && mesh_.source->mesh == nullptr) {
        seen.nearest = mesh_.FindNearest(way.from, reach_, nullptr);
      }
      return seen;
    }
    const float away = least - Length(way.to - way.from);
    const bool is_field = mesh_.source->mesh == nullptr;
    if (!is_field && away > reach_) return {{}, 0.0f, SideOf(-away, 0.0f), away};
    Seen seen = LookAt(way.from, reach_, false);
    if (is_field && seen.nearest.face == kNoTriangle) {
      seen.nearest = mesh_.FindNearest(way.from, reach_, nullptr);
    }
    return seen;
  }

  // A list has copies of all faces that a way meets, but for those that it is deep below.
  MeshFace FaceOf(uint32_t index) const {
    MeshFace found = {.index = kNoTriangle};
    if (tet_.has_list) {
      near_.ForFaces(tet_, [&](const MeshFace& front, const Box&) {
        if (front.index == (index & ~1u)) found = front;
      });
    }
    if (found.index == kNoTriangle) return mesh_.Face(index);
    return found.index == index ? found : found.Back();
  }

  // Calls visit(face_of, box around the face) for the faces of the list, or without one, for those
  // near a box. face_of() makes the face.
  template <class Visit>
  void ForFaces(const Box& near, const Visit& visit) const {
    if (tet_.has_list) {
      near_.ForFaces(tet_, [&](const MeshFace& face, const Box& around) {
        visit([&]() -> const MeshFace& { return face; }, around);
      });
      return;
    }
    mesh_.ForTriangles(near.low, near.high, [&](uint32_t triangle) {
      Vec3 corners[3];
      mesh_.Corners(triangle, corners);
      visit([&] { return mesh_.Face(2 * triangle); }, BoxAround(corners));
      return true;
    });
  }

  // Faces this much farther away than the nearest one, or than reach, do not need a close look.
  static constexpr float kFarther = 1.15f;

  const ColliderMesh& mesh_;
  const NearMesh& near_;
  const NearMeshTet& tet_;
  float rise_, flush_, reach_;
};

}  // namespace plush
