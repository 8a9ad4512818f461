// SPDX-License-Identifier: MIT
// Simplifies a surface by collapses of half-edges, in the order of their quadric errors.
// Based on:
// Michael Garland, Paul S. Heckbert. Surface Simplification Using Quadric Error Metrics. 1997
// The points of the copy are points of the original, not the best ones for the error: those have a
// known tet, and exact predicates know their place.
#include "simplify/simplify.h"

#include "enclosure/enclosure.h"
#include "lattice/cage_boundary.h"
#include "mesh/self_intersection.h"
#include "mesh/surface_distance.h"
#include "simplify/collapsing_surface.h"
#include "simplify/moving_triangles.h"
#include "simplify/represented_triangles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <compare>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace plush::tools {
namespace {

// Least cosine between a triangle before and after a collapse (78 degrees), and between triangles
// that a collapse makes neighbours (160 degrees: below it they are nearly folded onto each other).
constexpr double kLeastTurnCosine = 0.2;
constexpr double kLeastFoldCosine = -0.94;

// Least height of a triangle over its longest edge, unless one was thinner before.
constexpr double kLeastHeight = 0.05;

// On a plane all errors are zero; this share of an edge's length to the fourth power lets the short
// ones go first.
constexpr double kLengthShare = 1e-6;

// A pass over the refused collapses that removes a smaller share of the triangles is the last one.
constexpr double kLeastProgress = 0.002;

// Sum of squared distances from planes, weighted by area [m^4].
class Quadric {
 public:
  // The plane of unit normal `n` through `p`.
  void AddPlane(const Vec3d& n, const Vec3d& p, double area) {
    const double d = -Dot(n, p);
    xx_ += area * n.x * n.x;
    xy_ += area * n.x * n.y;
    xz_ += area * n.x * n.z;
    yy_ += area * n.y * n.y;
    yz_ += area * n.y * n.z;
    zz_ += area * n.z * n.z;
    linear_ += n * (area * d);
    constant_ += area * d * d;
  }
  void Add(const Quadric& o) {
    xx_ += o.xx_;
    xy_ += o.xy_;
    xz_ += o.xz_;
    yy_ += o.yy_;
    yz_ += o.yz_;
    zz_ += o.zz_;
    linear_ += o.linear_;
    constant_ += o.constant_;
  }
  double At(const Vec3d& p) const {
    const Vec3d product = {xx_ * p.x + xy_ * p.y + xz_ * p.z, xy_ * p.x + yy_ * p.y + yz_ * p.z,
                           xz_ * p.x + yz_ * p.y + zz_ * p.z};
    return std::max(Dot(p, product) + 2.0 * Dot(linear_, p) + constant_, 0.0);
  }

 private:
  double xx_ = 0.0, xy_ = 0.0, xz_ = 0.0, yy_ = 0.0, yz_ = 0.0, zz_ = 0.0;
  Vec3d linear_;
  double constant_ = 0.0;
};

double LongestSquared(const Triangle3& t) {
  return std::max(
      {LengthSquared(t[1] - t[0]), LengthSquared(t[2] - t[1]), LengthSquared(t[0] - t[2])});
}

// Twice the area, along the normal.
Vec3d NormalOf(const Triangle3& t) { return Cross(t[1] - t[0], t[2] - t[0]); }

// Height over the longest edge, as a share of it; 0.87 if all edges are equal.
double HeightOf(const Triangle3& t) {
  const double longest = LongestSquared(t);
  return longest > 0.0 ? Length(NormalOf(t)) / longest : 0.0;
}

bool IsWithinCosine(const Vec3d& a, const Vec3d& b, double cosine) {
  return Dot(a, b) > cosine * Length(a) * Length(b);
}

enum class Verdict { kDone, kMisshapen, kEscaping, kTooFar };

class Simplifier {
 public:
  Simplifier(const SolidSurface& surface, const TetMesh& mesh,
             std::span<const uint32_t> tet_of_point, const SimplifySettings& settings, double limit)
      : surface_(surface),
        tet_of_point_(tet_of_point),
        target_(*settings.triangles),
        limit_(limit),
        faces_(FindCageFaces(mesh)),
        enclosure_(mesh, faces_),
        original_(surface.points, surface.triangles),
        represented_(surface.points, surface.triangles, limit),
        left_(static_cast<uint32_t>(surface.points.size()), surface.triangles),
        boxes_(surface.points, surface.triangles),
        may_meet_(surface.triangles.size(), 0) {
    for (const auto& pair : FindSelfIntersections(surface.points, surface.triangles).pairs) {
      may_meet_[pair.first] = may_meet_[pair.second] = 1;
    }
    distance_.assign(surface.triangles.size(), 0.0);
    MakeQuadrics();
    for (uint32_t p = 0; p < surface.points.size(); ++p) {
      is_held_.push_back(enclosure_.Contains(tet_of_point[p], surface.points[p]) ? 1 : 0);
    }
  }

  SimplifiedSurface Run() {
    for (uint32_t p = 0; p < surface_.points.size(); ++p) {
      for (const auto& neighbour : left_.NeighboursOf(p)) Push(p, neighbour.point);
    }
    while (left_.num_left() > target_) {
      const uint32_t before = left_.num_left();
      Pass();
      const uint32_t removed = before - left_.num_left();
      if (removed == 0 || removed < kLeastProgress * before) break;
      Retry();
    }
    SimplifiedSurface result;
    if (left_.num_left() > target_) CountRefused(&result);
    Compact(&result);
    return result;
  }

 private:
  struct Candidate {
    double error = 0.0;  // [m^4]
    uint32_t from = 0;
    uint32_t to = 0;
    uint32_t version = 0;

    bool operator>(const Candidate& o) const {
      return std::tie(error, from, to) > std::tie(o.error, o.from, o.to);
    }
  };

  Triangle3 CornersOf(uint32_t t) const {
    const auto& [a, b, c] = left_.corners(t);
    return {surface_.points[a], surface_.points[b], surface_.points[c]};
  }

  void MakeQuadrics() {
    centre_ = BoxOf(surface_).Centre();
    quadrics_.resize(surface_.points.size());
    versions_.assign(surface_.points.size(), 0);
    changed_at_.assign(surface_.points.size(), 0);
    for (uint32_t t = 0; t < surface_.triangles.size(); ++t) {
      const Vec3d normal = NormalOf(CornersOf(t));
      const double length = Length(normal);
      if (length == 0.0) continue;
      for (const uint32_t corner : left_.corners(t)) {
        quadrics_[corner].AddPlane(normal / length, surface_.points[corner] - centre_,
                                   length / 6.0);
      }
    }
    for (uint32_t p = 0; p < surface_.points.size(); ++p) AddBorders(p);
  }

  // Planes through the borders at a point, at right angles to the surface, hold the borders.
  void AddBorders(uint32_t point) {
    for (const auto& neighbour : left_.NeighboursOf(point)) {
      if (neighbour.num_triangles != 1) continue;
      const Vec3d& p = surface_.points[point];
      const Vec3d edge = surface_.points[neighbour.point] - p;
      for (const uint32_t t : left_.Around(point)) {
        const auto& corners = left_.corners(t);
        if (std::find(corners.begin(), corners.end(), neighbour.point) == corners.end()) continue;
        const Vec3d across = Cross(edge, NormalOf(CornersOf(t)));
        const double length = Length(across);
        if (length > 0.0) {
          quadrics_[point].AddPlane(across / length, p - centre_, LengthSquared(edge));
        }
      }
    }
  }

  void Push(uint32_t from, uint32_t to) {
    if (!left_.MayGo(from) || left_.Around(from).empty() || left_.Around(to).empty()) return;
    Quadric sum = quadrics_[from];
    sum.Add(quadrics_[to]);
    const double squared = LengthSquared(surface_.points[to] - surface_.points[from]);
    queue_.push({sum.At(surface_.points[to] - centre_) + kLengthShare * squared * squared, from, to,
                 versions_[from] + versions_[to]});
  }

  // Takes the candidates in order until the number is reached or none is left.
  void Pass() {
    while (!queue_.empty() && left_.num_left() > target_) {
      const Candidate next = queue_.top();
      queue_.pop();
      const auto& [error, from, to, version] = next;
      if (left_.Around(from).empty() || left_.Around(to).empty()) continue;
      if (versions_[from] + versions_[to] != version) continue;  // a later one is in the queue
      const Verdict verdict = TryCollapse(from, to);
      if (verdict == Verdict::kDone) {
        NoteChange(to);
      } else {
        refused_.push_back({from, to, num_collapses_, verdict});
      }
    }
  }

  // Marks the points that a collapse onto `to` may matter to: those within two edges.
  void NoteChange(uint32_t to) {
    ++num_collapses_;
    for (const auto& neighbour : left_.NeighboursOf(to)) {
      for (const uint32_t t : left_.Around(neighbour.point)) {
        for (const uint32_t corner : left_.corners(t)) changed_at_[corner] = num_collapses_;
      }
    }
  }

  struct Refused {
    uint32_t from = 0;
    uint32_t to = 0;
    uint32_t at = 0;  // number of collapses before
    Verdict verdict = Verdict::kDone;

    auto operator<=>(const Refused&) const = default;
  };

  // Leaves the last refusal of each collapse whose ends are left.
  void TidyRefused() {
    std::sort(refused_.begin(), refused_.end(), std::greater<>());
    const auto same = [](const Refused& a, const Refused& b) {
      return a.from == b.from && a.to == b.to;
    };
    refused_.erase(std::unique(refused_.begin(), refused_.end(), same), refused_.end());
    std::erase_if(refused_, [this](const Refused& r) {
      return left_.Around(r.from).empty() || left_.Around(r.to).empty();
    });
  }

  // Puts refused collapses back into the queue if something has changed near them since.
  void Retry() {
    TidyRefused();
    std::erase_if(refused_, [this](const Refused& r) {
      if (changed_at_[r.from] <= r.at) return false;
      Push(r.from, r.to);
      return true;
    });
  }

  void CountRefused(SimplifiedSurface* result) {
    TidyRefused();
    for (const Refused& r : refused_) {
      result->num_misshapen += r.verdict == Verdict::kMisshapen;
      result->num_escaping += r.verdict == Verdict::kEscaping;
      result->num_too_far += r.verdict == Verdict::kTooFar;
    }
  }

  // The triangles that a collapse moves.
  struct Moved {
    uint32_t triangle = 0;
    std::array<uint32_t, 3> ids = {};
    Triangle3 corners;
  };
  std::vector<Moved> MovedBy(uint32_t from, uint32_t to) const {
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
  Verdict TryCollapse(uint32_t from, uint32_t to) {
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
    quadrics_[to].Add(quadrics_[from]);
    ++versions_[to];
    for (const auto& neighbour : left_.NeighboursOf(to)) {
      Push(to, neighbour.point);
      Push(neighbour.point, to);
    }
    return Verdict::kDone;
  }

  bool KeepsShape(uint32_t from, const std::vector<Moved>& moved) const {
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
  bool IsUnfolded(uint32_t from, const Moved& m, const std::vector<Moved>& moved) const {
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
  double DistanceByHeights(uint32_t from, const std::vector<Moved>& moved) const {
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
  bool IsNear(const Triangle3& corners) const {
    return LongestSquared(corners) <= 2.9 * limit_ * limit_ || original_.IsWithin(corners, limit_);
  }

  static Box3 BoxOfTriangle(const Triangle3& corners) {
    Box3 box;
    for (const Vec3d& corner : corners) box.Add(corner);
    return box;
  }

  // Whether a moved triangle meets another one. What grew out of triangles that met others in the
  // original may do so.
  bool PassesThrough(uint32_t from, const std::vector<Moved>& moved) const {
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

  void MoveBoxes(uint32_t from, const std::vector<Moved>& moved) {
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

  bool IsEnclosed(const Moved& m) const {
    for (const uint32_t id : m.ids) {
      if (is_held_[id] == 0) return false;
    }
    return enclosure_.HoldsInOneStrand(
        m.corners, {tet_of_point_[m.ids[0]], tet_of_point_[m.ids[1]], tet_of_point_[m.ids[2]]});
  }

  // Numbers the points that are left, in their order.
  void Compact(SimplifiedSurface* result) const {
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
  double MeasureDistance(const SolidSurface& copy) const {
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

  const SolidSurface& surface_;
  std::span<const uint32_t> tet_of_point_;
  const uint32_t target_;
  const double limit_;
  const CageFaces faces_;
  const EnclosureTest enclosure_;
  const SurfaceDistance original_;
  RepresentedTriangles represented_;
  CollapsingSurface left_;
  MovingTriangles boxes_;          // of the triangles left
  std::vector<uint8_t> may_meet_;  // whether a triangle, or one that it replaces, met another one
  Vec3d centre_;                   // quadrics are about it, for the sake of rounding
  std::vector<double> distance_;   // of each triangle from the original, a bound [m]
  std::vector<Quadric> quadrics_;
  std::vector<uint32_t> versions_;  // of the quadrics
  std::vector<uint8_t> is_held_;    // whether the point lies in its tet
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue_;
  uint32_t num_collapses_ = 0;
  std::vector<uint32_t> changed_at_;  // number of collapses when a point's surroundings changed
  std::vector<Refused> refused_;
};

}  // namespace

SimplifiedSurface SimplifySurface(const SolidSurface& surface, const TetMesh& mesh,
                                  std::span<const uint32_t> tet_of_point,
                                  const SimplifySettings& settings) {
  const double limit = settings.distance * Length(BoxOf(surface).Extent());
  SimplifiedSurface result;
  if (settings.triangles && *settings.triangles < surface.triangles.size()) {
    result = Simplifier(surface, mesh, tet_of_point, settings, limit).Run();
  } else {
    result.surface = surface;
    result.surface.point_of_vertex.clear();
    result.tet_of_point.assign(tet_of_point.begin(), tet_of_point.end());
  }
  result.limit_m = limit;
  return result;
}

}  // namespace plush::tools
