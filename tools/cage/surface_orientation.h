// SPDX-License-Identifier: MIT
// Neighbouring triangles made to agree on the outside.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Pieces of a surface: triangles joined across edges of exactly two triangles.
struct OrientedPieces {
  std::vector<uint32_t> piece_of_triangle;  ///< numbered by first triangle (num_triangles x 1)
  uint32_t num_pieces = 0;
};

/// Turns triangles so that the two at every edge of exactly two agree, as far as the piece can be
/// oriented at all; of the two ways the one that turns fewer triangles (the first one's at a tie).
/// Corners lie below `num_points` and differ within a triangle. O(t log t), deterministic.
OrientedPieces OrientPieces(uint32_t num_points, std::vector<std::array<uint32_t, 3>>* triangles);

/// Whether every edge is passed as often forwards as backwards.
bool IsClosed(uint32_t num_points, const std::vector<std::array<uint32_t, 3>>& triangles);

}  // namespace plush::tools
