// SPDX-License-Identifier: MIT
// Which half-edge of a triangle surface lies opposite which.
#pragma once

#include "base/vec3.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// No triangle behind this edge: an open border.
inline constexpr uint32_t kNoHalfEdge = UINT32_MAX;

/// The half-edge after `h` around its triangle.
constexpr uint32_t NextHalfEdge(uint32_t h) { return h % 3 == 2 ? h - 2 : h + 1; }
/// The half-edge before `h` around its triangle.
constexpr uint32_t PreviousHalfEdge(uint32_t h) { return h % 3 == 0 ? h + 2 : h - 1; }

/// Opposite half-edges (3 num_triangles x 1), kNoHalfEdge at borders. Half-edge 3 t + k runs from
/// corner k of triangle t to the next. Two are opposite where they run along one edge in opposite
/// directions. Where more than two meet, those are that have material between them: solids that
/// touch along an edge keep their surfaces apart. What is left over (one direction more often than
/// the other) is a border. O(n log n), deterministic.
std::vector<uint32_t> PairHalfEdges(std::span<const Vec3d> points,
                                    std::span<const std::array<uint32_t, 3>> triangles);

}  // namespace plush::tools
