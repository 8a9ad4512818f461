// SPDX-License-Identifier: MIT
// Distances from a point to one deformed body, in its own coordinates.
#pragma once

#include "collision/collision_state.h"
#include "collision/surface_hit.h"

namespace plush {

/// Receives the nearest place on a triangle; returns within what distance the search still has to
/// look [m].
using NearHitCallback = double (*)(void* user, const SurfaceHit& hit);

/// Calls back with the nearest place of each triangle within the distance from `point` that the
/// last call returned (at first max_distance), in no particular order. Only the vertices of
/// triangles that may be near are transformed. Does not allocate.
void ForNear(const CollisionBody& body, const double point[3], double max_distance, void* user,
             NearHitCallback callback);

/// The place of the surface nearest to `point` within max_distance [m]: of several equally
/// near, on the triangle with the lowest index. Returns whether there is one. Does not allocate.
bool ClosestPoint(const CollisionBody& body, const double point[3], double max_distance,
                  SurfaceHit* out_hit);

/// `towards` of DescribeHit for a place that ForNear found: from there to the point.
void VectorToPoint(const CollisionBody& body, const SurfaceHit& hit, const double point[3],
                   double out_vector[3]);

/// Where on a triangle, and how far.
struct TrianglePlace {
  double part[3];    ///< barycentric coordinates, >= 0, sum 1
  double distance2;  ///< squared distance [m^2]
};

/// The place of the triangle nearest to the origin. Triangles without area are edges or points.
TrianglePlace NearestToOrigin(const double (&a)[3], const double (&b)[3], const double (&c)[3]);

}  // namespace plush
