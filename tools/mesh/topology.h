// SPDX-License-Identifier: MIT
// Edges and components of a triangle surface.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// One triangle at an edge.
struct EdgeUse {
  uint32_t triangle = 0;
  bool forward = false;  ///< the triangle runs along the edge from its lower to its higher point
};

/// An edge between points a < b and its triangles.
struct SurfaceEdge {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t first_use = 0;  ///< into SurfaceTopology::uses
  uint32_t num_uses = 0;   ///< 1 at a border, 2 on a closed manifold
};

/// Who meets whom.
struct SurfaceTopology {
  std::vector<SurfaceEdge> edges;               ///< ascending by (a, b)
  std::vector<EdgeUse> uses;                    ///< by edge, ascending by triangle within
  std::vector<uint32_t> component_of_triangle;  ///< triangles that share a point share a component
  uint32_t num_components = 0;                  ///< numbered by their first triangle

  std::span<const EdgeUse> UsesOf(const SurfaceEdge& edge) const {
    return {uses.data() + edge.first_use, edge.num_uses};
  }
};

/// Builds the topology in O(n log n). Preconditions: indices below num_points, three different
/// corners per triangle.
SurfaceTopology BuildTopology(std::span<const std::array<uint32_t, 3>> triangles,
                              uint32_t num_points);

/// Whether the triangles could be turned so that every two at an edge of two agree on the outside:
/// a Moebius strip cannot.
bool IsOrientable(const SurfaceTopology& topology);

}  // namespace plush::tools
