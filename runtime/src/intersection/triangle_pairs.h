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

namespace plush {

/// Corners [m], counterclockwise as seen from outside; finite.
using Corners = std::array<Vec3, 3>;

enum class Surface : uint8_t { kMoved, kFixed };

/// Where a segment ends: edge `corner`, from that corner to the next, of one triangle pierces the
/// other triangle.
struct SegmentEnd {
  Surface edge_of = Surface::kMoved;
  uint8_t corner = 0;
};

/// The segment in which two triangles intersect, along normal(moved) x normal(fixed).
struct Segment {
  SegmentEnd start, end;
};

/// Whether two triangles intersect whose `signs` are these bits, 1 for positive. Sets `segment` if
/// they do.
/// - 0 to 2: sides of the moved one's corners, of the other's plane; 3 to 5: of the fixed one's.
/// - 6 + 3 i + j: edge i of the moved one and edge j of the fixed one.
bool SegmentOf(uint32_t signs, Segment* segment);

/// Whether two triangles intersect. Sets `segment` if they do.
bool Intersect(const Corners& moved, const Corners& fixed, Segment* segment);

/// Change of the triangle's surface's winding number along edge pq of the other surface: 1 into the
/// triangle's back, -1 to its front, 0 if the edge does not pierce it. The same signs as Intersect.
int CrossingOf(Surface edge_of, const Vec3& p, const Vec3& q, const Corners& triangle);

/// Where edge pq meets the triangle's plane [m]. Swapped ends can change the last bits.
Vec3 PierceAt(const Vec3& p, const Vec3& q, const Corners& triangle);

/// An edge of one surface and the triangle of the other that it pierces. The edge's number is the
/// same in both of its triangles.
struct Piercing {
  Surface edge_of = Surface::kMoved;
  uint32_t edge = 0;
  uint32_t triangle = 0;

  friend auto operator<=>(const Piercing&, const Piercing&) = default;
};

/// Triangles of two surfaces that intersect, and the ends of their segment.
struct TrianglePair {
  uint32_t moved = 0;
  uint32_t fixed = 0;
  Piercing start, end;
  Vec3 from, to;                             ///< [m]; ends with equal keys have equal bits
  uint8_t start_corner = 0, end_corner = 0;  ///< from which the edges go in the own triangle
};

/// A triangle, for MakePair.
struct PlacedTriangle {
  uint32_t index = 0;
  Corners corners;
  uint32_t edges[3] = {};  ///< 3 t + k names the edge from corner k of triangle t; of two such
                           ///< names for one edge always the same one. Those of the segment's ends
};

/// The pair of two triangles that intersect in `segment`.
TrianglePair MakePair(const PlacedTriangle& moved, const PlacedTriangle& fixed,
                      const Segment& segment);

}  // namespace plush
