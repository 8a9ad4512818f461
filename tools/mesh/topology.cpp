// SPDX-License-Identifier: MIT
// Finds edges, components and opposite half-edges of triangle surfaces by sorting.
// Triangles around a crowded edge are paired by angle, so that touching solids stay apart.
#include "mesh/topology.h"

#include "mesh/disjoint_sets.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

using Triangle = std::array<uint32_t, 3>;

// A half-edge and the two points of its edge.
struct EdgeEntry {
  uint32_t low = 0;
  uint32_t high = 0;
  uint32_t half_edge = 0;
  bool forward = false;  // from low to high
};

// One of several triangles around an edge.
struct Spoke {
  double angle = 0.0;  // around the edge, seen from low to high; any ascending measure
  uint32_t half_edge = 0;
  bool forward = false;
};

// A measure from 0 to 4 that ascends with the angle of (x, y), without trigonometry.
double DiamondAngle(double x, double y) {
  const double size = std::abs(x) + std::abs(y);
  if (!(size > 0.0)) return 0.0;
  if (y >= 0.0) return x >= 0.0 ? y / size : 1.0 - x / size;
  return x < 0.0 ? 2.0 - y / size : 3.0 + x / size;
}

// A vector perpendicular to `axis`.
Vec3d Across(const Vec3d& axis) {
  const Vec3d size = {std::abs(axis.x), std::abs(axis.y), std::abs(axis.z)};
  if (size.x <= size.y && size.x <= size.z) return Cross(axis, {1.0, 0.0, 0.0});
  return size.y <= size.z ? Cross(axis, {0.0, 1.0, 0.0}) : Cross(axis, {0.0, 0.0, 1.0});
}

// Pairs the triangles around an edge. By ascending angle, solid begins at a backward triangle and
// ends at a forward one, so they are matched like brackets. A triangle stays unmatched only if the
// edge has no partner for it.
void PairAround(std::span<const Vec3d> points, std::span<const Triangle> triangles,
                std::span<const EdgeEntry> uses, std::vector<uint32_t>* opposite) {
  const Vec3d& base = points[uses[0].low];
  const Vec3d axis = points[uses[0].high] - base;
  const double length = Length(axis);
  if (!(length > 0.0)) return;
  const Vec3d u = Across(axis / length);
  const Vec3d v = Cross(axis / length, u);
  std::vector<Spoke> spokes;
  for (const EdgeEntry& use : uses) {
    const uint32_t apex = triangles[use.half_edge / 3][PreviousHalfEdge(use.half_edge) % 3];
    const Vec3d radial = points[apex] - base;
    spokes.push_back({DiamondAngle(Dot(radial, u), Dot(radial, v)), use.half_edge, use.forward});
  }
  std::sort(spokes.begin(), spokes.end(), [](const Spoke& a, const Spoke& b) {
    return a.angle != b.angle ? a.angle < b.angle : a.half_edge < b.half_edge;
  });
  std::vector<uint32_t> open;  // backward triangles still without a partner
  for (size_t i = 0; i < 2 * spokes.size(); ++i) {
    const Spoke& spoke = spokes[i % spokes.size()];
    if ((*opposite)[spoke.half_edge] != kNoHalfEdge) continue;
    if (!spoke.forward) {
      if (i < spokes.size()) open.push_back(spoke.half_edge);
    } else if (!open.empty()) {
      (*opposite)[spoke.half_edge] = open.back();
      (*opposite)[open.back()] = spoke.half_edge;
      open.pop_back();
    }
  }
}

// All half-edges by lower point, higher point, number. Sorts in one bucket per lower point.
std::vector<EdgeEntry> SortedEntries(size_t num_points, std::span<const Triangle> triangles) {
  const auto entry_of = [&triangles](uint32_t h) {
    const uint32_t from = triangles[h / 3][h % 3];
    const uint32_t to = triangles[h / 3][NextHalfEdge(h) % 3];
    return EdgeEntry{std::min(from, to), std::max(from, to), h, from < to};
  };
  const auto num_half_edges = static_cast<uint32_t>(3 * triangles.size());
  std::vector<uint32_t> starts(num_points + 1, 0);
  for (uint32_t h = 0; h < num_half_edges; ++h) ++starts[entry_of(h).low + 1];
  for (size_t p = 0; p < num_points; ++p) starts[p + 1] += starts[p];
  std::vector<uint32_t> next(starts.begin(), starts.end() - 1);
  std::vector<EdgeEntry> entries(num_half_edges);
  for (uint32_t h = 0; h < num_half_edges; ++h) {
    const EdgeEntry entry = entry_of(h);
    entries[next[entry.low]++] = entry;
  }
  for (size_t p = 0; p < num_points; ++p) {
    std::sort(entries.begin() + starts[p], entries.begin() + starts[p + 1],
              [](const EdgeEntry& a, const EdgeEntry& b) {
                return a.high != b.high ? a.high < b.high : a.half_edge < b.half_edge;
              });
  }
  return entries;
}

void FindComponents(std::span<const Triangle> triangles, uint32_t num_points,
                    SurfaceTopology* topology) {
  DisjointSets sets(num_points);
  for (const Triangle& t : triangles) {
    sets.Join(t[0], t[1]);
    sets.Join(t[0], t[2]);
  }
  std::vector<uint32_t> component_of_set(num_points, UINT32_MAX);
  topology->component_of_triangle.reserve(triangles.size());
  for (const Triangle& t : triangles) {
    uint32_t& component = component_of_set[sets.Find(t[0])];
    if (component == UINT32_MAX) component = topology->num_components++;
    topology->component_of_triangle.push_back(component);
  }
}

}  // namespace

std::vector<uint32_t> PairHalfEdges(std::span<const Vec3d> points,
                                    std::span<const Triangle> triangles) {
  const std::vector<EdgeEntry> entries = SortedEntries(points.size(), triangles);
  std::vector<uint32_t> opposite(entries.size(), kNoHalfEdge);
  for (size_t begin = 0; begin < entries.size();) {
    size_t end = begin + 1;
    while (end < entries.size() && entries[end].low == entries[begin].low &&
           entries[end].high == entries[begin].high) {
      ++end;
    }
    if (end - begin == 2 && entries[begin].forward != entries[begin + 1].forward) {
      opposite[entries[begin].half_edge] = entries[begin + 1].half_edge;
      opposite[entries[begin + 1].half_edge] = entries[begin].half_edge;
    } else if (end - begin > 2) {
      PairAround(points, triangles, {entries.data() + begin, end - begin}, &opposite);
    }
    begin = end;
  }
  return opposite;
}

SurfaceTopology BuildTopology(std::span<const Triangle> triangles, uint32_t num_points) {
  SurfaceTopology topology;
  const std::vector<EdgeEntry> entries = SortedEntries(num_points, triangles);
  topology.uses.reserve(entries.size());
  topology.edges.reserve(entries.size() / 2);
  for (const EdgeEntry& entry : entries) {
    if (topology.edges.empty() || topology.edges.back().a != entry.low ||
        topology.edges.back().b != entry.high) {
      topology.edges.push_back(
          {entry.low, entry.high, static_cast<uint32_t>(topology.uses.size()), 0});
    }
    ++topology.edges.back().num_uses;
    topology.uses.push_back({entry.half_edge / 3, entry.forward});
  }
  FindComponents(triangles, num_points, &topology);
  return topology;
}

bool IsOrientable(const SurfaceTopology& topology) {
  // Number t is triangle t as it is, t + n is the same triangle turned. Each edge joins the
  // versions that agree. If t and t + n end up in one set, the surface cannot be oriented.
  const auto n = static_cast<uint32_t>(topology.component_of_triangle.size());
  DisjointSets sets(2 * n);
  for (const SurfaceEdge& edge : topology.edges) {
    if (edge.num_uses != 2) continue;
    const auto uses = topology.UsesOf(edge);
    const bool agree = uses[0].forward != uses[1].forward;
    sets.Join(uses[0].triangle, uses[1].triangle + (agree ? 0 : n));
    sets.Join(uses[0].triangle + n, uses[1].triangle + (agree ? n : 0));
  }
  for (uint32_t t = 0; t < n; ++t) {
    if (sets.Find(t) == sets.Find(t + n)) return false;
  }
  return true;
}

}  // namespace plush::tools
