// SPDX-License-Identifier: MIT
#include "intersection/triangle_pairs.h"

#include "base/vector_math.h"
#include "intersection/exact_signs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace plush {
namespace {

// Side of a point, 1 or -1. `shift`: 1 if the point moves, -1 if the triangle does.
int SideOf(const Vec3& point, const Corners& triangle, int shift) {
  if (const int side = OrientSign(triangle[0], triangle[1], triangle[2], point)) return side;
  const int normal = FirstCrossSign(triangle[0], triangle[1], triangle[0], triangle[2]);
  return normal == 0 ? 1 : shift * normal;
}

// Sign of the volume of moved edge pq and fixed edge ab. Parallel edges are on one plane, however
// one moves: then no edge of the two triangles asks this with ends on both sides.
int EdgeSign(const Vec3& p, const Vec3& q, const Vec3& a, const Vec3& b) {
  if (const int sign = OrientSign(p, q, a, b)) return sign;
  return FirstCrossSign(p, q, a, b);
}

// The sides of corners as bits, 1 for positive.
uint32_t SidesOf(const Corners& points, const Corners& triangle, int shift) {
  uint32_t sides = 0;
  for (size_t k = 0; k < 3; ++k) sides |= SideOf(points[k], triangle, shift) > 0 ? 1u << k : 0u;
  return sides;
}

bool HasArea(const Corners& corners) {
  return FirstCrossSign(corners[0], corners[1], corners[0], corners[2]) != 0;
}

bool Same(uint32_t sides) { return sides == 0 || sides == 7; }

}  // namespace

bool SegmentOf(uint32_t signs, Segment* segment) {
  // Bits 0 to 2: edges of the moved one. 3 to 5: of the fixed one. They change sides of the
  // plane...
  const uint32_t next = (signs >> 1 & 0b011011u) | (signs << 2 & 0b100100u);
  const uint32_t cross = (signs ^ next) & 0b111111u;
  // ... and all edges of the other triangle are on the same side of them.
  const uint32_t rows = signs ^ signs >> 1, columns = signs ^ signs >> 3;
  const uint32_t row = (rows | rows >> 1) >> 6, column = (columns | columns >> 3) >> 6;
  const uint32_t apart = (row & 1u) | (row >> 2 & 2u) | (row >> 4 & 4u) | (column & 0b111u) << 3;
  const uint32_t pierce = cross & ~apart;
  // An edge of `moved` that goes to the front of `fixed` leads into the segment's start. An edge of
  // `fixed` that goes to the front of `moved` leads out of its end.
  const uint32_t starts = pierce & (next ^ 0b111000u), ends = pierce & ~starts;
  // A population count would be a call without instructions for it.
  const auto is_one = [](uint32_t bits) { return bits != 0 && (bits & (bits - 1)) == 0; };
  if (!is_one(starts) || !is_one(ends)) return false;
  const auto end_at = [](uint32_t bit) -> SegmentEnd {
    const int edge = std::countr_zero(bit);
    if (edge < 3) return {Surface::kMoved, static_cast<uint8_t>(edge)};
    return {Surface::kFixed, static_cast<uint8_t>(edge - 3)};
  };
  *segment = {end_at(starts), end_at(ends)};
  return true;
}

bool Intersect(const Corners& moved, const Corners& fixed, Segment* segment) {
  const uint32_t of_moved = SidesOf(moved, fixed, 1);
  if (Same(of_moved) && HasArea(fixed)) return false;
  const uint32_t of_fixed = SidesOf(fixed, moved, -1);
  if (Same(of_fixed) && HasArea(moved)) return false;
  uint32_t signs = of_moved | of_fixed << 3;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j)
      if (EdgeSign(moved[i], moved[(i + 1) % 3], fixed[j], fixed[(j + 1) % 3]) > 0)
        signs |= 1u << (6 + 3 * i + j);
  return SegmentOf(signs, segment);
}

int CrossingOf(Surface edge_of, const Vec3& p, const Vec3& q, const Corners& triangle) {
  const bool moved = edge_of == Surface::kMoved;
  const int side = SideOf(q, triangle, moved ? 1 : -1);
  if (SideOf(p, triangle, moved ? 1 : -1) == side) return 0;
  int sum = 0;
  for (size_t k = 0; k < 3; ++k) {
    const Vec3 &a = triangle[k], &b = triangle[(k + 1) % 3];
    sum += moved ? EdgeSign(p, q, a, b) : EdgeSign(a, b, p, q);
  }
  return sum == 3 || sum == -3 ? -side : 0;
}

Vec3 PierceAt(const Vec3& p, const Vec3& q, const Corners& triangle) {
  const Vec3 normal = Cross(triangle[1] - triangle[0], triangle[2] - triangle[0]);
  const float before = Dot(normal, p - triangle[0]), after = Dot(normal, q - triangle[0]);
  const float whole = before - after;
  // Ends on the plane leave 0 / 0; any point of the edge then lies on it.
  const float part = whole == 0.0f ? 0.0f : std::clamp(before / whole, 0.0f, 1.0f);
  return p + part * (q - p);
}

TrianglePair MakePair(const PlacedTriangle& moved, const PlacedTriangle& fixed,
                      const Segment& segment) {
  TrianglePair pair = {moved.index,          fixed.index,       {}, {}, {}, {},
                       segment.start.corner, segment.end.corner};
  const auto place = [&](const SegmentEnd& end, Piercing* key, Vec3* point) {
    const bool of_moved = end.edge_of == Surface::kMoved;
    const PlacedTriangle& at = of_moved ? moved : fixed;
    const PlacedTriangle& pierced = of_moved ? fixed : moved;
    *key = {end.edge_of, at.edges[end.corner], pierced.index};
    Vec3 p = at.corners[end.corner], q = at.corners[(end.corner + 1) % 3];
    // The neighbour's direction, if the edge is named after the neighbour.
    if (key->edge != 3 * at.index + end.corner) std::swap(p, q);
    *point = PierceAt(p, q, pierced.corners);
  };
  place(segment.start, &pair.start, &pair.from);
  place(segment.end, &pair.end, &pair.to);
  return pair;
}

}  // namespace plush
