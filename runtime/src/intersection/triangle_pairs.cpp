// SPDX-License-Identifier: MIT
#include "intersection/triangle_pairs.h"

#include "base/vector_math.h"
#include "intersection/exact_signs.h"

#include <algorithm>
#include <cmath>
#include <limits>
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

// With u = 2^-24, and norms that sum components: edges and distances err by u each, the normal's
// products and difference by 3 u, the product's terms by 4 u. In all less than 12 u |e| |f| |d|.
RoundedPlane::RoundedPlane(const Corners& corners) : origin_(corners[0]) {
  const Vec3 e = corners[1] - corners[0], f = corners[2] - corners[0];
  constexpr float kRounding = 12.0f * 0.5f * std::numeric_limits<float>::epsilon();
  const auto norm = [](const Vec3& a) { return std::fabs(a.x) + std::fabs(a.y) + std::fabs(a.z); };
  normal_ = Cross(e, f);
  rounding_ = kRounding * norm(e) * norm(f);
}

bool RoundedPlane::IsBeside(const Corners& other) const {
  constexpr float kUnderflow = 1.0e-25f;
  bool is_above = true, is_below = true;
  for (const Vec3& corner : other) {
    const Vec3 d = corner - origin_;
    const float height = Dot(normal_, d);
    const float error = rounding_ * (std::fabs(d.x) + std::fabs(d.y) + std::fabs(d.z)) + kUnderflow;
    is_above &= height > error;
    is_below &= height < -error;
  }
  return is_above | is_below;
}

bool Intersect(const Corners& moved, const Corners& fixed, Segment* segment) {
  const std::array<int, 3> side_moved = SidesOf(moved, fixed, 1);
  if (Same(side_moved) && HasArea(fixed)) return false;
  const std::array<int, 3> side_fixed = SidesOf(fixed, moved, -1);
  if (Same(side_fixed) && HasArea(moved)) return false;

  int sign[3][3];  // of edge i of `moved` and edge j of `fixed`, both in their triangle's direction
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      sign[i][j] = EdgeSign(moved[i], moved[(i + 1) % 3], fixed[j], fixed[(j + 1) % 3]);

  int starts = 0, ends = 0;
  const auto note = [&](Surface edge_of, int corner, bool start) {
    (start ? segment->start : segment->end) = {edge_of, static_cast<uint8_t>(corner)};
    ++(start ? starts : ends);
  };
  for (int i = 0; i < 3; ++i) {
    const int next = (i + 1) % 3;
    // An edge of `moved` that goes to the front of `fixed` leads into the segment's start. An edge
    // of `fixed` that goes to the front of `moved` leads out of its end.
    if (side_moved[i] != side_moved[next] && sign[i][0] == sign[i][1] && sign[i][1] == sign[i][2])
      note(Surface::kMoved, i, side_moved[next] > 0);
    if (side_fixed[i] != side_fixed[next] && sign[0][i] == sign[1][i] && sign[1][i] == sign[2][i])
      note(Surface::kFixed, i, side_fixed[next] < 0);
  }
  return starts == 1 && ends == 1;
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
