// SPDX-License-Identifier: MIT
// Geometric predicates that are exact for all finite doubles, without tolerances. Thread-safe and
// deterministic. They allocate only in nearly degenerate cases, for multi-precision numbers.
#pragma once

#include "base/vec3.h"

#include <array>

namespace plush::tools {

/// A closed triangle: interior, edges and corners.
using Triangle3 = std::array<Vec3d, 3>;

/// Sign of SixVolume(a, b, c, d): 1 if d is on the side of plane (a, b, c) that the
/// counter-clockwise normal points to, -1 on the other side, 0 in the plane.
int Orient3dSign(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d);

/// Sign of component `dropped_axis` (0..2) of Cross(b - a, c - a): of the area of triangle
/// (a, b, c), projected along that axis.
int Orient2dSign(const Vec3d& a, const Vec3d& b, const Vec3d& c, int dropped_axis);

/// Sign of component `axis` (0..2) of Cross(q - p, b - a).
int CrossComponentSign(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b, int axis);

/// Whether the three points lie on one line (or coincide).
bool AreCollinear(const Vec3d& a, const Vec3d& b, const Vec3d& c);

/// Whether closed segments pq and ab share a point. Either may be a single point.
bool SegmentsIntersect(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b);

/// Whether closed segment pq shares a point with closed triangle `t`. Both may be degenerate.
bool SegmentIntersectsTriangle(const Vec3d& p, const Vec3d& q, const Triangle3& t);

/// Whether the closed triangles share a point. A degenerate triangle is a segment or a point.
bool TrianglesIntersect(const Triangle3& a, const Triangle3& b);

/// Whether triangles (v, a, b) and (v, c, d), both of positive area, share a point besides v.
bool TrianglesIntersectBeyondVertex(const Vec3d& v, const Vec3d& a, const Vec3d& b, const Vec3d& c,
                                    const Vec3d& d);

/// Whether triangles (u, v, a) and (u, v, b), both of positive area, share a point off edge uv.
/// They do only if they are folded onto each other in one plane.
bool TrianglesIntersectBeyondEdge(const Vec3d& u, const Vec3d& v, const Vec3d& a, const Vec3d& b);

}  // namespace plush::tools
