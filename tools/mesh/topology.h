// SPDX-License-Identifier: MIT
// Topology of a triangle surface: edges, components, opposite half-edges.
#pragma once

#include "base/vec3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// The opposite of a half-edge at an open border.
inline constexpr uint32_t kNoHalfEdge = UINT32_MAX;

/// The half-edge after `h` around its triangle.
constexpr uint32_t NextHalfEdge(uint32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
/// The half-edge before `h` around its triangle.
constexpr uint32_t PreviousHalfEdge(uint32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }

/// The opposite of each half-edge (3 num_triangles x 1); kNoHalfEdge at borders. O(n log n),
/// deterministic.
/// - Half-edge 3 t + k runs from corner k of triangle t to the next corner.
/// - Opposite half-edges run along one edge in opposite directions.
/// - If more than two meet at an edge, two with solid between them are opposite: solids that touch
///   along an edge keep separate surfaces.
/// - A border is a half-edge that finds no partner.
std::vector<uint32_t> PairHalfEdges(std::span<const Vec3d> points,
                                    std::span<const std::array<uint32_t, 3>> triangles);

/// One triangle at an edge.
struct EdgeUse {
  uint32_t triangle = 0;
  bool forward = false;  ///< the triangle runs along the edge from its lower to its higher point
};

/// An edge between points a < b, and its triangles.
struct SurfaceEdge {
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t first_use = 0;  ///< into SurfaceTopology::uses
  uint32_t num_uses = 0;   ///< 1 at a border, 2 on a closed manifold
};

struct SurfaceTopology {
  std::vector<SurfaceEdge> edges;               ///< ascending by (a, b)
  std::vector<EdgeUse> uses;                    ///< by edge; ascending by triangle within
  std::vector<uint32_t> component_of_triangle;  ///< the same for triangles with a common point
  uint32_t num_components = 0;                  ///< in the order of their first triangles

  std::span<const EdgeUse> UsesOf(const SurfaceEdge& edge) const {
    return {uses.data() + edge.first_use, edge.num_uses};
  }
};

/// Builds the topology. O(n log n). Preconditions: indices below num_points, three different
/// corners per triangle.
SurfaceTopology BuildTopology(std::span<const std::array<uint32_t, 3>> triangles,
                              uint32_t num_points);

/// Whether triangles can be turned so that the two at each edge agree on the outside. A Moebius
/// strip's cannot.
bool IsOrientable(const SurfaceTopology& topology);

}  // namespace plush::tools
