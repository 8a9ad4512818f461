// SPDX-License-Identifier: MIT
// The faces of a mesh that points of one tet meet on their ways in a substep, and how far they are
// from others.
#pragma once

#include "base/vector_math.h"
#include "contact/easiest_plane.h"
#include "contact/lowest_vertex.h"
#include "contact/near_mesh.h"
#include "contact/sunk_points.h"

#include <algorithm>
#include <array>
#include <cmath>

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

/// Looks at the ways of points near the faces of a tet's list, or without a list, near all that
/// overlap the way's box.
class FaceSearch {
 public:
  using Box = NearMesh::Box;

  FaceSearch(const ContactProblem& problem, const LocalCollider& collider, const NearMesh& near,
             const NearMeshTet& tet)
      : mesh_(collider.mesh),
        near_(near),
        tet_(tet),
        slop_(problem.slop),
        flush_(problem.flush),
        reach_(NearMesh::Margin(problem)) {}

  // `inside` is a point of the body beside the way.
  MeshMeeting Meet(const MeshWay& way, const Vec3& inside, float depth) const {
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
    MeshMeeting meeting = {crossing.hit(), {distance, apart}};
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
  void GiveWay(const MeshWay& way, const SweptTriangle& triangle, MeshHit* hit) const {
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
  float SideAtStart(const MeshWay& way, const Box& box) const {
    float of_start2 = reach_ * reach_;
    ForFaces(box, [&](const MeshFace& face, const Box& around) {
      const float to_start2 = around.SquaredDistance(way.from);
      of_start2 = std::min(of_start2, SideOf(face.Gap(way.from), to_start2));
    });
    return std::sqrt(of_start2) - 0.5f * reach_;
  }

  // The face nearest to the way's start. A list has all that are in reach, but deep below a height
  // field there is one farther away.
  NearestPoint NearestToStart(const MeshWay& way, const Box& box) const {
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

}  // namespace plush
