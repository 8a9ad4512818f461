// SPDX-License-Identifier: MIT
// Exact intersection tests of segments and triangles, made of exact orientation signs only.
// The signs are those of CGAL (orientation_signs.cpp).
#include "mesh/exact_predicates.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

// An axis along which the triangle's plane does not project to a line; -1 if the corners are
// collinear. Tries the largest component of the normal first: there, plain arithmetic nearly always
// finds the sign.
int ProjectionAxis(const Triangle3& t) {
  const Vec3d n = Cross(t[1] - t[0], t[2] - t[0]);
  const Vec3d size = {std::abs(n.x), std::abs(n.y), std::abs(n.z)};
  const int first = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
  for (int i = 0; i < 3; ++i) {
    const int axis = (first + i) % 3;
    if (Orient2dSign(t[0], t[1], t[2], axis) != 0) return axis;
  }
  return -1;
}

bool BoxesOverlap(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b) {
  for (int axis = 0; axis < 3; ++axis) {
    if (std::max(p[axis], q[axis]) < std::min(a[axis], b[axis])) return false;
    if (std::max(a[axis], b[axis]) < std::min(p[axis], q[axis])) return false;
  }
  return true;
}

// The segments lie in one plane, which does not project to a line along `axis`.
bool CoplanarSegmentsIntersect(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b,
                               int axis) {
  if (!BoxesOverlap(p, q, a, b)) return false;
  const int a_side = Orient2dSign(p, q, a, axis);
  const int b_side = Orient2dSign(p, q, b, axis);
  if (a_side * b_side > 0) return false;
  const int p_side = Orient2dSign(a, b, p, axis);
  const int q_side = Orient2dSign(a, b, q, axis);
  return p_side * q_side <= 0;
}

bool CoplanarPointInTriangle(const Vec3d& p, const Triangle3& t, int axis) {
  const int s0 = Orient2dSign(t[0], t[1], p, axis);
  const int s1 = Orient2dSign(t[1], t[2], p, axis);
  const int s2 = Orient2dSign(t[2], t[0], p, axis);
  return (s0 >= 0 && s1 >= 0 && s2 >= 0) || (s0 <= 0 && s1 <= 0 && s2 <= 0);
}

bool CoplanarSegmentMeetsTriangle(const Vec3d& p, const Vec3d& q, const Triangle3& t) {
  const int axis = ProjectionAxis(t);
  if (axis >= 0 && CoplanarPointInTriangle(p, t, axis)) return true;
  for (size_t i = 0; i < 3; ++i) {
    const Vec3d& a = t[i];
    const Vec3d& b = t[(i + 1) % 3];
    const bool meets =
        axis < 0 ? SegmentsIntersect(p, q, a, b) : CoplanarSegmentsIntersect(p, q, a, b, axis);
    if (meets) return true;
  }
  return false;
}

// p_side and q_side: the sides of t's plane that p and q are on.
bool SegmentMeetsTriangle(const Vec3d& p, const Vec3d& q, const Triangle3& t, int p_side,
                          int q_side) {
  if (p_side * q_side > 0) return false;
  if (p_side == 0 && q_side == 0) return CoplanarSegmentMeetsTriangle(p, q, t);
  const int s0 = Orient3dSign(p, q, t[0], t[1]);
  const int s1 = Orient3dSign(p, q, t[1], t[2]);
  if (s0 * s1 < 0) return false;
  const int s2 = Orient3dSign(p, q, t[2], t[0]);
  return s0 * s2 >= 0 && s1 * s2 >= 0;
}

std::array<int, 3> PlaneSides(const Triangle3& plane, const Triangle3& t) {
  return {Orient3dSign(plane[0], plane[1], plane[2], t[0]),
          Orient3dSign(plane[0], plane[1], plane[2], t[1]),
          Orient3dSign(plane[0], plane[1], plane[2], t[2])};
}

bool AllOnOneSide(const std::array<int, 3>& sides) {
  return sides[0] != 0 && sides[0] == sides[1] && sides[0] == sides[2];
}

bool AnyEdgeMeets(const Triangle3& edges_of, const Triangle3& t, const std::array<int, 3>& sides) {
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3;
    if (SegmentMeetsTriangle(edges_of[i], edges_of[j], t, sides[i], sides[j])) return true;
  }
  return false;
}

// Whether Dot(m, x) is positive despite rounding. Each difference and product is off by at most one
// rounding; the bound covers eight.
bool CertainlyPositive(const Vec3d& m, const Vec3d& x) {
  constexpr double kBound = 8.0 * 2.2204460492503131e-16;
  const double size = std::abs(m.x * x.x) + std::abs(m.y * x.y) + std::abs(m.z * x.z);
  // Below 1e-280, underflow may have cost the products their relative accuracy.
  return Dot(m, x) > kBound * size && size > 1e-280;
}

// Whether the plane that halves the angle between two triangles certainly separates them, except
// for their common vertex. A quick "no" for neighbours in a flat face, which are coplanar.
bool BisectorSeparates(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  const Vec3d e = a + b;
  const Vec3d f = c + d;
  const double e_length = Length(e);
  const double f_length = Length(f);
  if (!(e_length > 0.0) || !(f_length > 0.0)) return false;
  const Vec3d m = e / e_length - f / f_length;
  return CertainlyPositive(m, a) && CertainlyPositive(m, b) && CertainlyPositive(m, -c) &&
         CertainlyPositive(m, -d);
}

}  // namespace

bool AreCollinear(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  return ProjectionAxis({a, b, c}) < 0;
}

bool SegmentsIntersect(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b) {
  if (!BoxesOverlap(p, q, a, b)) return false;
  if (Orient3dSign(p, q, a, b) != 0) return false;
  for (const Triangle3& t : {Triangle3{p, q, a}, Triangle3{p, q, b}, Triangle3{p, a, b}}) {
    const int axis = ProjectionAxis(t);
    if (axis >= 0) return CoplanarSegmentsIntersect(p, q, a, b, axis);
  }
  // All on one line: there, segments with overlapping boxes overlap.
  return true;
}

bool SegmentIntersectsTriangle(const Vec3d& p, const Vec3d& q, const Triangle3& t) {
  return SegmentMeetsTriangle(p, q, t, Orient3dSign(t[0], t[1], t[2], p),
                              Orient3dSign(t[0], t[1], t[2], q));
}

bool TrianglesIntersect(const Triangle3& a, const Triangle3& b) {
  const std::array<int, 3> b_sides = PlaneSides(a, b);
  if (AllOnOneSide(b_sides)) return false;
  const std::array<int, 3> a_sides = PlaneSides(b, a);
  if (AllOnOneSide(a_sides)) return false;
  // If two triangles meet, an edge of one meets the other.
  return AnyEdgeMeets(b, a, b_sides) || AnyEdgeMeets(a, b, a_sides);
}

bool TrianglesIntersectBeyondVertex(const Vec3d& v, const Vec3d& a, const Vec3d& b, const Vec3d& c,
                                    const Vec3d& d) {
  if (BisectorSeparates(a - v, b - v, c - v, d - v)) return false;
  // Move a shared point along the ray from v through it: it stays in both triangles until it
  // reaches the edge opposite v in one of them.
  return SegmentIntersectsTriangle(a, b, {v, c, d}) || SegmentIntersectsTriangle(c, d, {v, a, b});
}

bool TrianglesIntersectBeyondEdge(const Vec3d& u, const Vec3d& v, const Vec3d& a, const Vec3d& b) {
  // In different planes, they share only the edge.
  if (Orient3dSign(u, v, a, b) != 0) return false;
  const int axis = ProjectionAxis({u, v, a});
  return axis >= 0 && Orient2dSign(u, v, a, axis) == Orient2dSign(u, v, b, axis);
}

}  // namespace plush::tools
