// SPDX-License-Identifier: MIT
// Which collapses keep the topology of a surface.
// Based on:
// Tamal K. Dey, Herbert Edelsbrunner, Sumanta Guha, Dmitry V. Nekhayev. Topology Preserving Edge
// Contraction. 1999
#include "simplify/collapsing_surface.h"

#include "mesh/topology.h"

#include <algorithm>

namespace plush::tools {
namespace {

bool Has(const std::array<uint32_t, 3>& corners, uint32_t point) {
  return corners[0] == point || corners[1] == point || corners[2] == point;
}

// Whether triangles hang together across edges at their common point.
bool IsOneFan(const std::vector<std::array<uint32_t, 3>>& triangles, uint32_t point,
              const std::vector<uint32_t>& around) {
  std::vector<uint32_t> fan = {around[0]};
  const auto share_edge = [&](uint32_t s, uint32_t t) {
    return std::any_of(triangles[s].begin(), triangles[s].end(), [&](uint32_t corner) {
      return corner != point && Has(triangles[t], corner);
    });
  };
  for (size_t next = 0; next < fan.size(); ++next) {
    for (const uint32_t t : around) {
      if (std::find(fan.begin(), fan.end(), t) != fan.end()) continue;
      if (share_edge(fan[next], t)) fan.push_back(t);
    }
  }
  return fan.size() == around.size();
}

}  // namespace

CollapsingSurface::CollapsingSurface(uint32_t num_points,
                                     std::span<const std::array<uint32_t, 3>> triangles)
    : triangles_(triangles.begin(), triangles.end()),
      is_left_(triangles.size(), 1),
      around_(num_points),
      may_go_(num_points, 1),
      num_left_(static_cast<uint32_t>(triangles.size())) {
  for (uint32_t t = 0; t < triangles_.size(); ++t) {
    for (const uint32_t corner : triangles_[t]) around_[corner].push_back(t);
  }
  const SurfaceTopology topology = BuildTopology(triangles, num_points);
  for (const SurfaceEdge& edge : topology.edges) {
    const auto uses = topology.UsesOf(edge);
    if (uses.size() == 1 || (uses.size() == 2 && uses[0].forward != uses[1].forward)) continue;
    for (const EdgeUse& use : uses) {
      for (const uint32_t corner : triangles_[use.triangle]) may_go_[corner] = 0;
    }
  }
  for (uint32_t p = 0; p < num_points; ++p) {
    if (may_go_[p] != 0) may_go_[p] = !around_[p].empty() && IsOneFan(triangles_, p, around_[p]);
  }
}

std::vector<CollapsingSurface::Neighbour> CollapsingSurface::NeighboursOf(uint32_t point) const {
  std::vector<Neighbour> neighbours;
  for (const uint32_t t : around_[point]) {
    for (const uint32_t corner : triangles_[t]) {
      if (corner == point) continue;
      const auto at = std::find_if(neighbours.begin(), neighbours.end(),
                                   [&](const Neighbour& n) { return n.point == corner; });
      if (at == neighbours.end()) {
        neighbours.push_back({corner, 1});
      } else {
        ++at->num_triangles;
      }
    }
  }
  std::sort(neighbours.begin(), neighbours.end(),
            [](const Neighbour& a, const Neighbour& b) { return a.point < b.point; });
  return neighbours;
}

bool CollapsingSurface::CanCollapse(uint32_t from, uint32_t to) const {
  if (may_go_[from] == 0) return false;
  const std::vector<Neighbour> near_from = NeighboursOf(from);
  const std::vector<Neighbour> near_to = NeighboursOf(to);
  const auto of_edge = std::find_if(near_from.begin(), near_from.end(),
                                    [&](const Neighbour& n) { return n.point == to; });
  if (of_edge == near_from.end()) return false;
  const uint32_t num_at_edge = of_edge->num_triangles;
  const bool on_border = std::any_of(near_from.begin(), near_from.end(),
                                     [](const Neighbour& n) { return n.num_triangles == 1; });
  if (on_border && num_at_edge != 1) return false;
  if (around_[from].size() <= num_at_edge) return false;
  // The points beside both ends are those opposite the edge, and no others.
  const auto is_near_to = [&](const Neighbour& n) {
    return std::any_of(near_to.begin(), near_to.end(),
                       [&](const Neighbour& o) { return o.point == n.point; });
  };
  if (std::count_if(near_from.begin(), near_from.end(), is_near_to) != num_at_edge) return false;
  // No triangle that moves is laid on one that is at `to` already.
  for (const uint32_t t : around_[from]) {
    if (Has(triangles_[t], to)) continue;
    for (const uint32_t other : around_[to]) {
      if (Has(triangles_[other], from)) continue;
      const auto common = std::count_if(triangles_[t].begin(), triangles_[t].end(),
                                        [&](uint32_t c) { return Has(triangles_[other], c); });
      if (common == 2) return false;
    }
  }
  return true;
}

void CollapsingSurface::Collapse(uint32_t from, uint32_t to) {
  for (const uint32_t t : around_[from]) {
    if (Has(triangles_[t], to)) {
      is_left_[t] = 0;
      --num_left_;
      for (const uint32_t corner : triangles_[t]) {
        if (corner != from) std::erase(around_[corner], t);
      }
    } else {
      std::replace(triangles_[t].begin(), triangles_[t].end(), from, to);
      around_[to].push_back(t);
    }
  }
  around_[from].clear();
}

}  // namespace plush::tools
