// SPDX-License-Identifier: MIT
#include "mesh/topology.h"

#include "mesh/disjoint_sets.h"

#include <algorithm>

namespace plush::tools {
namespace {

using Triangle = std::array<uint32_t, 3>;

// A side of a triangle at its lower point.
struct Side {
  uint32_t to = 0;  // higher point
  uint32_t triangle = 0;
  bool forward = false;

  bool operator<(const Side& other) const {
    return to != other.to ? to < other.to : triangle < other.triangle;
  }
};

// All sides by lower point, then higher point, then triangle.
struct SortedSides {
  std::vector<uint32_t> starts;  // per lower point, and the end
  std::vector<Side> sides;
};

SortedSides SortSides(std::span<const Triangle> triangles, uint32_t num_points) {
  SortedSides sorted;
  sorted.starts.assign(size_t{num_points} + 1, 0);
  const auto for_each = [&](const auto& visit) {
    for (uint32_t t = 0; t < triangles.size(); ++t) {
      for (size_t k = 0; k < 3; ++k) {
        const uint32_t p = triangles[t][k];
        const uint32_t q = triangles[t][(k + 1) % 3];
        visit(std::min(p, q), Side{std::max(p, q), t, p < q});
      }
    }
  };
  for_each([&](uint32_t from, const Side&) { ++sorted.starts[from + 1]; });
  for (uint32_t p = 0; p < num_points; ++p) sorted.starts[p + 1] += sorted.starts[p];
  sorted.sides.resize(3 * triangles.size());
  std::vector<uint32_t> next(sorted.starts.begin(), sorted.starts.end() - 1);
  for_each([&](uint32_t from, const Side& side) { sorted.sides[next[from]++] = side; });
  for (uint32_t p = 0; p < num_points; ++p) {
    std::sort(sorted.sides.begin() + sorted.starts[p], sorted.sides.begin() + sorted.starts[p + 1]);
  }
  return sorted;
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
  const SortedSides sorted = SortSides(triangles, num_points);
  topology.uses.reserve(sorted.sides.size());
  topology.edges.reserve(sorted.sides.size() / 2);
  for (uint32_t p = 0; p < num_points; ++p) {
    for (uint32_t i = sorted.starts[p]; i < sorted.starts[p + 1]; ++i) {
      const Side& side = sorted.sides[i];
      if (i == sorted.starts[p] || side.to != sorted.sides[i - 1].to) {
        topology.edges.push_back({p, side.to, i, 0});
      }
      ++topology.edges.back().num_uses;
      topology.uses.push_back({side.triangle, side.forward});
    }
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
