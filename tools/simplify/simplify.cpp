// SPDX-License-Identifier: MIT
// Simplifies a surface by collapses of half-edges, in the order of their quadric errors.
// Based on:
// Michael Garland, Paul S. Heckbert. Surface Simplification Using Quadric Error Metrics. 1997
// The points of the copy are points of the original, not the best ones for the error: those have a
// known tet, and exact predicates know their place.
#include "simplify/simplify.h"

#include "simplify/tested_surface.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <queue>
#include <tuple>

namespace plush::tools {
namespace {

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

class Simplifier {
 public:
  Simplifier(const SolidSurface& surface, const TetMesh& mesh,
             std::span<const uint32_t> tet_of_point, const SimplifySettings& settings, double limit)
      : surface_(surface),
        tested_(surface, mesh, tet_of_point, limit),
        left_(tested_.left()),
        target_(*settings.triangles) {
    MakeQuadrics();
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
    tested_.Compact(&result);
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

  void MakeQuadrics() {
    centre_ = BoxOf(surface_).Centre();
    quadrics_.resize(surface_.points.size());
    versions_.assign(surface_.points.size(), 0);
    changed_at_.assign(surface_.points.size(), 0);
    for (uint32_t t = 0; t < surface_.triangles.size(); ++t) {
      const Vec3d normal = NormalOf(tested_.CornersOf(t));
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
        const Vec3d across = Cross(edge, NormalOf(tested_.CornersOf(t)));
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
      const Verdict verdict = tested_.TryCollapse(from, to);
      if (verdict == Verdict::kDone) {
        Join(from, to);
        NoteChange(to);
      } else {
        refused_.push_back({from, to, num_collapses_, verdict});
      }
    }
  }

  // After a collapse.
  void Join(uint32_t from, uint32_t to) {
    quadrics_[to].Add(quadrics_[from]);
    ++versions_[to];
    for (const auto& neighbour : left_.NeighboursOf(to)) {
      Push(to, neighbour.point);
      Push(neighbour.point, to);
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

  const SolidSurface& surface_;
  TestedSurface tested_;
  const CollapsingSurface& left_;
  const uint32_t target_;
  Vec3d centre_;  // quadrics are about it, for the sake of rounding
  std::vector<Quadric> quadrics_;
  std::vector<uint32_t> versions_;  // of the quadrics
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
