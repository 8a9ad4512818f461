// SPDX-License-Identifier: MIT
// Points in which edges pierce triangles, as many at once as vectors have lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plush {

/// Edges of one surface and triangles of another one, by the places of their corners' x, y, z among
/// floats; and the points [m].
struct PiercingColumns {
  static constexpr size_t kMost = 128;
  uint32_t edges[2][kMost] = {}, triangles[3][kMost] = {};
  float points[3][kMost];
};

/// Sets the first `count` points; the bits of PierceAt (triangle_pairs.h). Takes whole vectors: up
/// to the next multiple of 16, edges and triangles must be valid places, too, and points change.
void PiercePoints(const float* of_edges, const float* of_triangles, size_t count,
                  PiercingColumns* columns);

}  // namespace plush
