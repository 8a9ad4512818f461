// SPDX-License-Identifier: MIT
// Tests of collapses, cheap ones first. Source: tested_surface.h.
#include "simplify/tested_surface.h"

#include "mesh/self_intersection.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush::tools {
namespace {

// Least cosine between a triangle before and after a collapse (78 degrees), and between triangles
// that a collapse makes neighbours (160 degrees: below it they are nearly folded onto each other).
constexpr double kLeastTurnCosine = 0.2;
constexpr double kLeastFoldCosine = -0.94;

// Least height of a triangle over its longest edge, unless one was thinner before.
constexpr double kLeastHeight = 0.05;

double LongestSquared(const Triangle3& t) {
  return std::max(
      {LengthSquared(t[1] - t[0]), LengthSquared(t[2] - t[1]), LengthSquared(t[0] - t[2])});
}

// Height over the longest edge, as a share of it; 0.87 if all edges are equal.
double HeightOf(const Triangle3& t) {
  const double longest = LongestSquared(t);
  return longest > 0.0 ? Length(NormalOf(t)) / longest : 0.0;
}

bool IsWithinCosine(const Vec3d& a, const Vec3d& b, double cosine) {
  return Dot(a, b) > cosine * Length(a) * Length(b);
}

}  // namespace

TestedSurface::TestedSurface(const SolidSurface& surface, const TetMesh& mesh,
                             std::span<const uint32_t> tet_of_point, double limit)
    : surface_(surface),
      tet_of_point_(tet_of_point),
      limit_(limit),
      faces_(FindCageFaces(mesh)),
      enclosure_(mesh, faces_),
      original_(surface.points, surface.triangles),
      represented_(surface.points, surface.triangles, limit),
      left_(static_cast<uint32_t>(surface.points.size()), surface.triangles),
      boxes_(surface.points, surface.triangles),
      may_meet_(surface.triangles.size(), 0),
      distance_(surface.triangles.size(), 0.0) {
  for (const auto& pair : FindSelfIntersections(surface.points, surface.triangles).pairs) {
    may_meet_[pair.first] = may_meet_[pair.second] = 1;
  }
  for (uint32_t p = 0; p < surface.points.size(); ++p) {
    is_held_.push_back(enclosure_.Contains(tet_of_point[p], surface.points[p]) ? 1 : 0);
  }
}

std::vector<TestedSurface::Moved> TestedSurface::MovedBy(uint32_t from, uint32_t to) const {
  std::vector<Moved> moved;
  for (const uint32_t t : left_.Around(from)) {
    std::array<uint32_t, 3> ids = left_.corners(t);
    if (std::find(ids.begin(), ids.end(), to) != ids.end()) continue;
    std::replace(ids.begin(), ids.end(), from, to);
    moved.push_back(
        {t, ids, {surface_.points[ids[0]], surface_.points[ids[1]], surface_.points[ids[2]]}});
  }
  return moved;
}

// Cheap tests come first.
Verdict TestedSurface::TryCollapse(uint32_t from, uint32_t to) {
  if (!left_.CanCollapse(from, to)) return Verdict::kMisshapen;
  const std::vector<Moved> moved = MovedBy(from, to);
  if (!KeepsShape(from, moved)) return Verdict::kMisshapen;
  if (!represented_.CanCollapse(left_, from, to)) return Verdict::kTooFar;
  for (const Moved& m : moved) {
    if (!IsEnclosed(m)) return Verdict::kEscaping;
  }
  double distance = DistanceByHeights(from, moved);
  if (distance > limit_) {
    for (const Moved& m : moved) {
      if (!IsNear(m.corners)) return Verdict::kTooFar;
    }
    distance = limit_;
  }
  if (PassesThrough(from, moved)) return Verdict::kMisshapen;
  for (const Moved& m : moved) distance_[m.triangle] = distance;
  MoveBoxes(from, moved);
  represented_.Commit(left_, from);
  left_.Collapse(from, to);
  return Verdict::kDone;
}

bool TestedSurface::KeepsShape(uint32_t from, const std::vector<Moved>& moved) const {
  double thinnest = kLeastHeight;
  for (const uint32_t t : left_.Around(from)) {
    thinnest = std::min(thinnest, HeightOf(CornersOf(t)));
  }
  for (const Moved& m : moved) {
    const auto& [a, b, c] = m.corners;
    if (HeightOf(m.corners) < thinnest || AreCollinear(a, b, c)) return false;
    if (!IsWithinCosine(NormalOf(CornersOf(m.triangle)), NormalOf(m.corners), kLeastTurnCosine)) {
      return false;
    }
  }
  return std::all_of(moved.begin(), moved.end(),
                     [&](const Moved& m) { return IsUnfolded(from, m, moved); });
}

// Whether a moved triangle is not folded onto one beside it, moved or not.
bool TestedSurface::IsUnfolded(uint32_t from, const Moved& m,
                               const std::vector<Moved>& moved) const {
  const Vec3d normal = NormalOf(m.corners);
  const auto is_folded = [&](const std::array<uint32_t, 3>& ids, const Triangle3& corners) {
    const auto common = std::count_if(m.ids.begin(), m.ids.end(), [&](uint32_t id) {
      return std::find(ids.begin(), ids.end(), id) != ids.end();
    });
    return common == 2 && !IsWithinCosine(normal, NormalOf(corners), kLeastFoldCosine);
  };
  for (const Moved& other : moved) {
    if (other.triangle != m.triangle && is_folded(other.ids, other.corners)) return false;
  }
  for (const uint32_t point : m.ids) {
    for (const uint32_t t : left_.Around(point)) {
      const auto& ids = left_.corners(t);
      if (std::find(ids.begin(), ids.end(), from) != ids.end()) continue;
      if (is_folded(ids, CornersOf(t))) return false;
    }
  }
  return true;
}

// Bound of the distance of the moved triangles from the original [m], by that of the triangles at
// `from`, and by the heights of their corners. It holds if all triangles, before and after, face
// one direction. Then both fill the same outline seen from there, so that each point of the one
// lies above or below a point of the other. It is 0 on a plane. Infinite if it does not hold.
double TestedSurface::DistanceByHeights(uint32_t from, const std::vector<Moved>& moved) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  Vec3d normal;
  for (const uint32_t t : left_.Around(from)) normal += NormalOf(CornersOf(t));
  const double length = Length(normal);
  if (length == 0.0) return kNone;
  double before = 0.0;
  double low = kNone;
  double high = -kNone;
  for (const uint32_t t : left_.Around(from)) {
    const Triangle3 corners = CornersOf(t);
    if (Dot(NormalOf(corners), normal) <= 0.0) return kNone;
    before = std::max(before, distance_[t]);
    for (const Vec3d& corner : corners) {
      const double height = Dot(corner - surface_.points[from], normal) / length;
      low = std::min(low, height);
      high = std::max(high, height);
    }
  }
  for (const Moved& m : moved) {
    if (Dot(NormalOf(m.corners), normal) <= 0.0) return kNone;
  }
  const auto neighbours = left_.NeighboursOf(from);
  const bool on_border = std::any_of(neighbours.begin(), neighbours.end(),
                                     [](const auto& n) { return n.num_triangles == 1; });
  return on_border ? kNone : before + (high - low);
}

// Whether all points of a triangle are near enough to the original. The corners lie on it, and no
// point is farther from all of them than the longest edge over the root of 3.
bool TestedSurface::IsNear(const Triangle3& corners) const {
  return LongestSquared(corners) <= 2.9 * limit_ * limit_ || original_.IsWithin(corners, limit_);
}

Box3 TestedSurface::BoxOfTriangle(const Triangle3& corners) {
  Box3 box;
  for (const Vec3d& corner : corners) box.Add(corner);
  return box;
}

// Whether a moved triangle meets another one. What grew out of triangles that met others in the
// original may do so.
bool TestedSurface::PassesThrough(uint32_t from, const std::vector<Moved>& moved) const {
  const auto may_meet = [&](uint32_t t) { return may_meet_[t] != 0; };
  if (std::any_of(left_.Around(from).begin(), left_.Around(from).end(), may_meet)) return false;
  const auto& points = surface_.points;
  for (size_t i = 0; i < moved.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (MeetBeyondShared(points, moved[i].ids, moved[j].ids)) return true;
    }
    const auto meets = [&](uint32_t t) {
      const auto& ids = left_.corners(t);
      const bool goes = std::find(ids.begin(), ids.end(), from) != ids.end();
      return !goes && !may_meet(t) && MeetBeyondShared(points, moved[i].ids, ids);
    };
    if (boxes_.AnyOverlap(BoxOfTriangle(moved[i].corners), meets)) return true;
  }
  return false;
}

void TestedSurface::MoveBoxes(uint32_t from, const std::vector<Moved>& moved) {
  uint8_t may_meet = 0;
  for (const uint32_t t : left_.Around(from)) {
    may_meet = std::max(may_meet, may_meet_[t]);
    boxes_.Set(t, {});
  }
  for (const Moved& m : moved) {
    may_meet_[m.triangle] = may_meet;
    boxes_.Set(m.triangle, BoxOfTriangle(m.corners));
  }
}

bool TestedSurface::IsEnclosed(const Moved& m) const {
  for (const uint32_t id : m.ids) {
    if (is_held_[id] == 0) return false;
  }
  return enclosure_.HoldsInOneStrand(
      m.corners, {tet_of_point_[m.ids[0]], tet_of_point_[m.ids[1]], tet_of_point_[m.ids[2]]});
}

// Numbers the points that are left, in their order.
void TestedSurface::Compact(SimplifiedSurface* result) const {
  SolidSurface& out = result->surface;
  std::vector<uint32_t> number(surface_.points.size());
  for (uint32_t p = 0; p < surface_.points.size(); ++p) {
    if (left_.Around(p).empty()) continue;
    number[p] = static_cast<uint32_t>(out.points.size());
    out.points.push_back(surface_.points[p]);
    result->tet_of_point.push_back(tet_of_point_[p]);
  }
  for (uint32_t t = 0; t < surface_.triangles.size(); ++t) {
    if (!left_.is_left(t)) continue;
    const auto& [a, b, c] = left_.corners(t);
    out.triangles.push_back({number[a], number[b], number[c]});
    out.source_triangle.push_back(surface_.source_triangle[t]);
  }
  out.closed = surface_.closed;
  result->distance_m = MeasureDistance(out);
}

// Triangles whose distance is known well enough are not measured.
double TestedSurface::MeasureDistance(const SolidSurface& copy) const {
  const double excess = kDistanceShare * limit_;
  double known = 0.0;
  std::vector<std::array<uint32_t, 3>> others;
  for (uint32_t t = 0; t < surface_.triangles.size(); ++t) {
    if (!left_.is_left(t)) continue;
    if (distance_[t] > excess) {
      others.push_back(left_.corners(t));
    } else {
      known = std::max(known, distance_[t]);
    }
  }
  const double measured = std::max({known, original_.Farthest(surface_.points, others, excess),
                                    SurfaceDistance(copy.points, copy.triangles)
                                        .Farthest(surface_.points, surface_.triangles, excess)});
  return std::min(measured, limit_);  // every collapse has been tested
}

}  // namespace plush::tools
