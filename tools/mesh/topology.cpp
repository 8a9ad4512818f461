// SPDX-License-Identifier: MIT
#include "mesh/topology.h"

#include "mesh/disjoint_sets.h"

#include <algorithm>

namespace plush::tools {
namespace {

using Triangle = std::array<uint32_t, 3>;

// A side of a triangle, ready for sorting by edge, then triangle.
struct HalfEdge {
  uint64_t edge = 0;  // a << 32 | b
  uint32_t triangle = 0;
  bool forward = false;

  bool operator<(const HalfEdge& other) const {
    return edge != other.edge ? edge < other.edge : triangle < other.triangle;
  }
};

std::vector<HalfEdge> SortedHalfEdges(std::span<const Triangle> triangles) {
  std::vector<HalfEdge> half_edges;
  half_edges.reserve(3 * triangles.size());
  for (uint32_t t = 0; t < triangles.size(); ++t) {
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t p = triangles[t][k];
      const uint32_t q = triangles[t][(k + 1) % 3];
      const uint64_t edge = (uint64_t{std::min(p, q)} << 32) | std::max(p, q);
      half_edges.push_back({edge, t, p < q});
    }
  }
  std::sort(half_edges.begin(), half_edges.end());
  return half_edges;
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

SurfaceTopology BuildTopology(std::span<const Triangle> triangles, uint32_t num_points) {
  SurfaceTopology topology;
  const std::vector<HalfEdge> half_edges = SortedHalfEdges(triangles);
  topology.uses.reserve(half_edges.size());
  for (size_t i = 0; i < half_edges.size(); ++i) {
    const HalfEdge& half = half_edges[i];
    if (i == 0 || half.edge != half_edges[i - 1].edge) {
      topology.edges.push_back({static_cast<uint32_t>(half.edge >> 32),
                                static_cast<uint32_t>(half.edge), static_cast<uint32_t>(i), 0});
    }
    ++topology.edges.back().num_uses;
    topology.uses.push_back({half.triangle, half.forward});
  }
  FindComponents(triangles, num_points, &topology);
  return topology;
}

bool IsOrientable(const SurfaceTopology& topology) {
  // Every triangle stands twice, as it came and turned (t and t + n). An edge ties the sides that
  // agree; a triangle tied to its own turned self cannot be oriented.
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
