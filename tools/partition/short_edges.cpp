// SPDX-License-Identifier: MIT
// Collapses short edges under the link condition, within a budget of area.
// Based on:
// Tamal K. Dey, Herbert Edelsbrunner, Sumanta Guha, Dmitry V. Nekhayev. Topology preserving edge
//   contraction. 1999
#include "partition/short_edges.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

// Largest change of area, and of vector area, by all collapses together, as a share of the area.
constexpr double kAreaBudget = 5e-7;

// The point that replaces two.
struct Merged {
  Vec3d place;
  Carrier carrier;
};

class Collapser {
 public:
  Collapser(const TetMesh& mesh, double length, CutSurface* surface)
      : mesh_(mesh),
        length_(length),
        s_(*surface),
        alive_(s_.triangles.size(), true),
        moved_(s_.points.size(), 0.0) {
    double area = 0.0;
    for (uint32_t t = 0; t < s_.triangles.size(); ++t) area += 0.5 * Length(Normal(t));
    budget_ = kAreaBudget * area;
  }

  size_t Run(uint32_t first_new) {
    size_t collapsed = 0;
    for (const auto& [squared, h] : Find(first_new)) {
      if (!alive_[h / 3] || From(h) == To(h) || LengthSquaredOf(h) >= length_ * length_) continue;
      collapsed += Collapse(h) ? 1 : 0;
    }
    if (collapsed > 0) Compact();
    return collapsed;
  }

 private:
  uint32_t From(uint32_t h) const { return s_.triangles[h / 3][h % 3]; }
  uint32_t To(uint32_t h) const { return From(NextHalfEdge(h)); }
  double LengthSquaredOf(uint32_t h) const {
    return LengthSquared(s_.points[To(h)] - s_.points[From(h)]);
  }

  // Squared length and half-edge of each edge, shortest first.
  std::vector<std::pair<double, uint32_t>> Find(uint32_t first_new) const {
    std::vector<std::pair<double, uint32_t>> edges;
    for (uint32_t h = 0; h < s_.opposite.size(); ++h) {
      if (s_.opposite[h] < h) continue;  // the other side has come; kNoHalfEdge is the largest
      if (From(h) < first_new && To(h) < first_new) continue;
      const double squared = LengthSquaredOf(h);
      if (squared < length_ * length_) edges.push_back({squared, h});
    }
    std::sort(edges.begin(), edges.end());
    return edges;
  }

  // Half-edges out of the start of `h`, counter-clockwise from the border or from h.
  std::vector<uint32_t> Fan(uint32_t h) const {
    uint32_t first = h;
    for (uint32_t back = s_.opposite[first]; back != kNoHalfEdge;) {  // clockwise to the border
      first = NextHalfEdge(back);
      if (first == h) break;
      back = s_.opposite[first];
    }
    std::vector<uint32_t> fan;
    for (uint32_t at = first;;) {
      fan.push_back(at);
      const uint32_t across = s_.opposite[PreviousHalfEdge(at)];
      if (across == kNoHalfEdge || across == first) break;
      at = across;
    }
    return fan;
  }

  bool IsBorder(const std::vector<uint32_t>& fan) const {
    return s_.opposite[PreviousHalfEdge(fan.back())] == kNoHalfEdge;
  }

  // Points around a fan, ascending.
  std::vector<uint32_t> Around(const std::vector<uint32_t>& fan) const {
    std::vector<uint32_t> points;
    for (const uint32_t h : fan) {
      points.push_back(To(h));
      points.push_back(From(PreviousHalfEdge(h)));
    }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
    return points;
  }

  // Link condition: only the points opposite the edge are neighbours of both ends, and an edge that
  // joins two border points is itself on the border.
  bool KeepsTopology(uint32_t h, const std::vector<uint32_t>& from,
                     const std::vector<uint32_t>& to) const {
    const bool is_border = s_.opposite[h] == kNoHalfEdge;
    if (!is_border && IsBorder(from) && IsBorder(to)) return false;
    const std::vector<uint32_t> around_from = Around(from);
    const std::vector<uint32_t> around_to = Around(to);
    std::vector<uint32_t> common;
    std::set_intersection(around_from.begin(), around_from.end(), around_to.begin(),
                          around_to.end(), std::back_inserter(common));
    return common.size() == (is_border ? 1u : 2u);
  }

  // The point on the part of the cage that carries both; nullopt if nothing does.
  std::optional<Merged> Merge(uint32_t p, uint32_t q) const {
    const Carrier& a = s_.carriers[p];
    const Carrier& b = s_.carriers[q];
    Carrier common;
    double sum = 0.0;
    for (uint32_t i = 0; i < a.count; ++i) {
      if (std::find(b.nodes.begin(), b.nodes.begin() + b.count, a.nodes[i]) ==
          b.nodes.begin() + b.count) {
        continue;
      }
      common.nodes[common.count] = a.nodes[i];
      common.weights[common.count++] = a.weights[i];
      sum += a.weights[i];
    }
    if (common.count == b.count) return Merged{s_.points[q], b};
    if (common.count == a.count) return Merged{s_.points[p], a};
    if (common.count == 0 || !(sum > 0.0)) return std::nullopt;
    Vec3d place;
    for (uint32_t i = 0; i < common.count; ++i) {
      common.weights[i] /= sum;
      place += mesh_.nodes[common.nodes[i]] * common.weights[i];
    }
    return Merged{place, common};
  }

  Vec3d NormalWith(uint32_t t, uint32_t p, uint32_t q, const Vec3d& place) const {
    std::array<Vec3d, 3> x;
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t id = s_.triangles[t][k];
      x[k] = id == p || id == q ? place : s_.points[id];
    }
    return Cross(x[1] - x[0], x[2] - x[0]);
  }

  Vec3d Normal(uint32_t t) const {
    const auto& [a, b, c] = s_.triangles[t];
    return Cross(s_.points[b] - s_.points[a], s_.points[c] - s_.points[a]);
  }

  // Triangles of two fans, ascending.
  static std::vector<uint32_t> TrianglesAround(const std::vector<uint32_t>& fan_p,
                                               const std::vector<uint32_t>& fan_q) {
    std::vector<uint32_t> around;
    for (const uint32_t h : fan_p) around.push_back(h / 3);
    for (const uint32_t h : fan_q) around.push_back(h / 3);
    std::sort(around.begin(), around.end());
    around.erase(std::unique(around.begin(), around.end()), around.end());
    return around;
  }

  // Whether the tets of all triangles contain the carrier's nodes.
  bool IsCarriedAround(const std::vector<uint32_t>& triangles, const Carrier& carrier) const {
    return std::ranges::all_of(triangles, [&](uint32_t t) {
      const auto& tet = mesh_.tets[s_.tets[t]];
      return std::all_of(
          carrier.nodes.begin(), carrier.nodes.begin() + carrier.count,
          [&tet](uint32_t node) { return std::find(tet.begin(), tet.end(), node) != tet.end(); });
    });
  }

  // Whether no remaining triangle flips.
  bool KeepsSides(const std::vector<uint32_t>& triangles, uint32_t p, uint32_t q,
                  const Vec3d& place) const {
    return std::ranges::all_of(triangles, [&](uint32_t t) {
      const auto& ids = s_.triangles[t];
      const bool has_p = std::find(ids.begin(), ids.end(), p) != ids.end();
      const bool has_q = std::find(ids.begin(), ids.end(), q) != ids.end();
      if (has_p && has_q) return true;
      return Dot(Normal(t), NormalWith(t, p, q, place)) > 0.0;
    });
  }

  // Accepts the change of area and vector area if the sum of all stays within the budget.
  bool Spend(const std::vector<uint32_t>& triangles, uint32_t p, uint32_t q, const Vec3d& place) {
    double area = 0.0;
    Vec3d vector_area;
    for (const uint32_t t : triangles) {
      const Vec3d before = Normal(t) * 0.5;
      const Vec3d after = NormalWith(t, p, q, place) * 0.5;  // zero if it has both points
      area += Length(after) - Length(before);
      vector_area += after - before;
    }
    area += area_change_;
    vector_area += vector_change_;
    if (std::abs(area) > budget_ || Length(vector_area) > budget_) return false;
    area_change_ = area;
    vector_change_ = vector_area;
    return true;
  }

  // Removes the triangle at half-edge `h` and joins the half-edges beyond its other two edges.
  void TakeOut(uint32_t h) {
    const uint32_t a = s_.opposite[NextHalfEdge(h)];
    const uint32_t b = s_.opposite[PreviousHalfEdge(h)];
    if (a != kNoHalfEdge) s_.opposite[a] = b;
    if (b != kNoHalfEdge) s_.opposite[b] = a;
    alive_[h / 3] = false;
  }

  // Collapses the edge of `h` onto its end.
  bool Collapse(uint32_t h) {
    const uint32_t q = From(h);
    const uint32_t p = To(h);
    const std::vector<uint32_t> fan_q = Fan(h);
    const std::vector<uint32_t> fan_p = Fan(NextHalfEdge(h));
    if (!KeepsTopology(h, fan_q, fan_p)) return false;
    const std::optional<Merged> merged = Merge(p, q);
    if (!merged) return false;
    const Vec3d& place = merged->place;
    const double moved = std::max(moved_[p] + Length(place - s_.points[p]),
                                  moved_[q] + Length(place - s_.points[q]));
    const std::vector<uint32_t> around = TrianglesAround(fan_p, fan_q);
    if (moved > kReachOfMerging * length_ || !IsCarriedAround(around, merged->carrier) ||
        !KeepsSides(around, p, q, place) || !Spend(around, p, q, place)) {
      return false;
    }
    for (const uint32_t at : fan_q) s_.triangles[at / 3][at % 3] = p;
    moved_[p] = moved;
    s_.points[p] = place;
    s_.carriers[p] = merged->carrier;
    const uint32_t across = s_.opposite[h];
    TakeOut(h);
    if (across != kNoHalfEdge) TakeOut(across);
    return true;
  }

  void Compact() {
    std::vector<uint32_t> number(s_.triangles.size(), kNoHalfEdge);
    uint32_t count = 0;
    for (uint32_t t = 0; t < s_.triangles.size(); ++t) {
      if (alive_[t]) number[t] = count++;
    }
    for (uint32_t t = 0; t < s_.triangles.size(); ++t) {
      const uint32_t to = number[t];
      if (to == kNoHalfEdge) continue;
      s_.triangles[to] = s_.triangles[t];
      s_.tets[to] = s_.tets[t];
      s_.sources[to] = s_.sources[t];
      for (uint32_t k = 0; k < 3; ++k) {
        const uint32_t across = s_.opposite[3 * t + k];
        s_.opposite[3 * to + k] =
            across == kNoHalfEdge ? kNoHalfEdge : 3 * number[across / 3] + across % 3;
      }
    }
    s_.triangles.resize(count);
    s_.tets.resize(count);
    s_.sources.resize(count);
    s_.opposite.resize(3 * size_t{count});
  }

  const TetMesh& mesh_;
  const double length_;
  CutSurface& s_;
  std::vector<bool> alive_;
  std::vector<double> moved_;  // most that a point merged into this one has moved [m]
  double budget_ = 0.0;        // most that area and vector area may change [m^2]
  double area_change_ = 0.0;
  Vec3d vector_change_;
};

}  // namespace

size_t CollapseShortEdges(const TetMesh& mesh, double length, uint32_t first_new,
                          CutSurface* surface) {
  return Collapser(mesh, length, surface).Run(first_new);
}

}  // namespace plush::tools
