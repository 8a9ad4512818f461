// SPDX-License-Identifier: MIT
// Intersection of two triangles of two surfaces, by exact signs [Civ 5.5.1].
//
// Deviation: no decision has a tolerance. Ties are broken as if the moved surface were shifted by
// (e, e^2, e^3) for an arbitrarily small e > 0. A triangle without area has every point on its
// positive side, so nothing pierces it. The signs are exact, so all pairs that ask for one get the
// same answer, in whatever order they name the corners.
#pragma once

#include "plush/types.h"

#include <array>
#include <cstdint>
#include <span>

namespace plush {

/// Vertices [m] and their triangles, counterclockwise as seen from outside. Triangles that meet at
/// an edge share both of its vertices. Coordinates are finite, indices in range.
struct TriangleSurface {
  std::span<const Vec3> positions;
  std::span<const std::array<uint32_t, 3>> triangles;
};

enum class Surface : uint8_t { kMoved, kFixed };

/// An edge of one surface and the triangle of the other that it pierces. low < high are the edge's
/// vertices.
struct Piercing {
  Surface edge_of = Surface::kMoved;
  uint32_t low = 0;
  uint32_t high = 0;
  uint32_t triangle = 0;

  friend auto operator<=>(const Piercing&, const Piercing&) = default;
};

/// The segment in which two triangles intersect, along normal(moved) x normal(fixed).
struct TrianglePair {
  uint32_t moved = 0;
  uint32_t fixed = 0;
  Piercing start;
  Piercing end;
};

/// Whether triangle `moved` of one surface intersects triangle `fixed` of the other. Sets `pair` if
/// they do.
bool Intersect(const TriangleSurface& moved_surface, uint32_t moved,
               const TriangleSurface& fixed_surface, uint32_t fixed, TrianglePair* pair);

/// Where the edge meets the triangle's plane [m]: the same value for both triangles at the edge.
Vec3 PointOf(const Piercing& piercing, const TriangleSurface& moved, const TriangleSurface& fixed);

}  // namespace plush
