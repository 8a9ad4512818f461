// SPDX-License-Identifier: MIT
#include "intersection/triangle_pairs.h"

#include "base/vector_math.h"
#include "intersection/exact_signs.h"

#include <algorithm>

namespace plush {
namespace {

using Corners = std::array<Vec3, 3>;

Corners CornersOf(const TriangleSurface& surface, const std::array<uint32_t, 3>& triangle) {
  return {surface.positions[triangle[0]], surface.positions[triangle[1]],
          surface.positions[triangle[2]]};
}

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

bool Intersect(const TriangleSurface& moved_surface, uint32_t moved,
               const TriangleSurface& fixed_surface, uint32_t fixed, TrianglePair* pair) {
  const std::array<uint32_t, 3>& a = moved_surface.triangles[moved];
  const std::array<uint32_t, 3>& b = fixed_surface.triangles[fixed];
  const Corners at_a = CornersOf(moved_surface, a), at_b = CornersOf(fixed_surface, b);
  const std::array<int, 3> side_a = SidesOf(at_a, at_b, 1);
  if (Same(side_a) && HasArea(at_b)) return false;
  const std::array<int, 3> side_b = SidesOf(at_b, at_a, -1);
  if (Same(side_b) && HasArea(at_a)) return false;

  int sign[3][3];  // of edge i of `moved` and edge j of `fixed`, both in their triangle's direction
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      sign[i][j] = EdgeSign(at_a[i], at_a[(i + 1) % 3], at_b[j], at_b[(j + 1) % 3]);

  int starts = 0, ends = 0;
  const auto note = [&](Surface edge_of, uint32_t p, uint32_t q, uint32_t triangle, bool start) {
    (start ? pair->start : pair->end) = {edge_of, std::min(p, q), std::max(p, q), triangle};
    ++(start ? starts : ends);
  };
  for (int i = 0; i < 3; ++i) {
    const int next = (i + 1) % 3;
    // An edge of `moved` that goes to the front of `fixed` leads into the segment's start. An edge
    // of `fixed` that goes to the front of `moved` leads out of its end.
    if (side_a[i] != side_a[next] && sign[i][0] == sign[i][1] && sign[i][1] == sign[i][2])
      note(Surface::kMoved, a[i], a[next], fixed, side_a[next] > 0);
    if (side_b[i] != side_b[next] && sign[0][i] == sign[1][i] && sign[1][i] == sign[2][i])
      note(Surface::kFixed, b[i], b[next], moved, side_b[next] < 0);
  }
  pair->moved = moved;
  pair->fixed = fixed;
  return starts == 1 && ends == 1;
}

Vec3 PointOf(const Piercing& piercing, const TriangleSurface& moved, const TriangleSurface& fixed) {
  const bool of_moved = piercing.edge_of == Surface::kMoved;
  const TriangleSurface& edges = of_moved ? moved : fixed;
  const TriangleSurface& triangles = of_moved ? fixed : moved;
  const Corners at = CornersOf(triangles, triangles.triangles[piercing.triangle]);
  const Vec3 p = edges.positions[piercing.low], q = edges.positions[piercing.high];
  const Vec3 normal = Cross(at[1] - at[0], at[2] - at[0]);
  const float low = Dot(normal, p - at[0]), high = Dot(normal, q - at[0]);
  const float whole = low - high;
  // Ends on the plane leave 0 / 0; any point of the edge then lies on it.
  const float part = whole == 0.0f ? 0.0f : std::clamp(low / whole, 0.0f, 1.0f);
  return p + part * (q - p);
}

}  // namespace plush
