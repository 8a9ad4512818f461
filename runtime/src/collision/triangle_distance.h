// SPDX-License-Identifier: MIT
// The place of a triangle nearest to a point.
#pragma once

namespace plush {

/// Where on a triangle, and how far.
struct TrianglePlace {
  double part[3];    ///< barycentric coordinates, >= 0, sum 1
  double distance2;  ///< squared distance [m^2]
};

/// The place of the triangle nearest to the origin. Triangles without area are edges or points.
TrianglePlace NearestToOrigin(const double (&a)[3], const double (&b)[3], const double (&c)[3]);

}  // namespace plush
