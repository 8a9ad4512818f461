// SPDX-License-Identifier: MIT
// Geometric predicates with the exact answer for any finite input. Signs are those of real
// arithmetic on the given doubles; no tolerance anywhere. Thread-safe, deterministic, no allocation
// except where a nearly degenerate case needs multi-precision numbers.
#pragma once

#include "base/vec3.h"

#include <array>

namespace plush::tools {

/// A closed triangle: interior, edges and corners.
using Triangle3 = std::array<Vec3d, 3>;

/// Sign of SixVolume(a, b, c, d): 1 where d lies on the side of plane (a, b, c) to which its
/// counter-clockwise normal points, -1 on the other, 0 in the plane.
int Orient3dSign(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d);

/// Sign of the area of triangle (a, b, c) seen with coordinate `dropped_axis` (0..2) left out; the
/// two kept ones are in cyclic order (y z, z x, x y), so that it is the sign of component
/// `dropped_axis` of Cross(b - a, c - a).
int Orient2dSign(const Vec3d& a, const Vec3d& b, const Vec3d& c, int dropped_axis);

/// Sign of component `axis` (0..2) of Cross(q - p, b - a).
int CrossComponentSign(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b, int axis);

/// Whether the three points lie on one line (or coincide).
bool AreCollinear(const Vec3d& a, const Vec3d& b, const Vec3d& c);

/// Whether closed segments pq and ab share a point. Either may be a single point.
bool SegmentsIntersect(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b);

/// Whether closed segment pq shares a point with closed triangle `t`. Segment and triangle may be
/// degenerate: then they are the points they consist of.
bool SegmentIntersectsTriangle(const Vec3d& p, const Vec3d& q, const Triangle3& t);

/// Whether the closed triangles share a point; degenerate ones are the points they consist of.
bool TrianglesIntersect(const Triangle3& a, const Triangle3& b);

/// Whether triangles (v, a, b) and (v, c, d), both of positive area, share a point besides v.
bool TrianglesIntersectBeyondVertex(const Vec3d& v, const Vec3d& a, const Vec3d& b, const Vec3d& c,
                                    const Vec3d& d);

/// Whether triangles (u, v, a) and (u, v, b), both of positive area, share a point off edge uv:
/// they do only where they lie folded onto each other in one plane.
bool TrianglesIntersectBeyondEdge(const Vec3d& u, const Vec3d& v, const Vec3d& a, const Vec3d& b);

}  // namespace plush::tools
