// SPDX-License-Identifier: MIT
#include "intersection/triangle_pairs.h"

#include "base/vector_math.h"
#include "intersection/exact_signs.h"

#include <algorithm>
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

// Signs of the triangle's corners' sides.
std::array<int, 3> SidesOf(const Corners& points, const Corners& triangle, int shift) {
  return {SideOf(points[0], triangle, shift), SideOf(points[1], triangle, shift),
          SideOf(points[2], triangle, shift)};
}

bool HasArea(const Corners& corners) {
  return FirstCrossSign(corners[0], corners[1], corners[0], corners[2]) != 0;
}

bool Same(const std::array<int, 3>& sides) { return sides[0] == sides[1] && sides[1] == sides[2]; }

}  // namespace

bool SegmentOf(const PairSigns& signs, Segment* segment) {
  const auto& sign = signs.edges;
  int starts = 0, ends = 0;
  const auto note = [&](Surface edge_of, size_t corner, bool start) {
    (start ? segment->start : segment->end) = {edge_of, static_cast<uint8_t>(corner)};
    ++(start ? starts : ends);
  };
  for (size_t i = 0; i < 3; ++i) {
    const size_t next = (i + 1) % 3;
    // An edge of `moved` that goes to the front of `fixed` leads into the segment's start. An edge
    // of `fixed` that goes to the front of `moved` leads out of its end.
    if (signs.moved[i] != signs.moved[next] && Same(sign[i]))
      note(Surface::kMoved, i, signs.moved[next] > 0);
    if (signs.fixed[i] != signs.fixed[next] && Same({sign[0][i], sign[1][i], sign[2][i]}))
      note(Surface::kFixed, i, signs.fixed[next] < 0);
  }
  return starts == 1 && ends == 1;
}

bool Intersect(const Corners& moved, const Corners& fixed, Segment* segment) {
  PairSigns signs;
  signs.moved = SidesOf(moved, fixed, 1);
  if (Same(signs.moved) && HasArea(fixed)) return false;
  signs.fixed = SidesOf(fixed, moved, -1);
  if (Same(signs.fixed) && HasArea(moved)) return false;
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j)
      signs.edges[i][j] = EdgeSign(moved[i], moved[(i + 1) % 3], fixed[j], fixed[(j + 1) % 3]);
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
  TrianglePair pair = {moved.index, fixed.index, {}, {}, {}, {}};
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
