// SPDX-License-Identifier: MIT
// Distances from a point to one deformed body, in its own coordinates.
#pragma once

#include "collision/collision_state.h"
#include "collision/surface_hit.h"

namespace plush {

/// Receives the nearest place on a triangle. Returns the new search distance [m].
using NearHitCallback = double (*)(void* user, const SurfaceHit& hit);

/// Calls back with the nearest place of each triangle within the search distance of `point`, which
/// is first max_distance and then the last call's result. The order is arbitrary. Transforms only
/// the vertices of triangles that may be near. Does not allocate.
void ForNear(const CollisionBody& body, const double point[3], double max_distance, void* user,
             NearHitCallback callback);

/// Finds the surface's nearest place within max_distance [m] of `point`; if several are equally
/// near, the one on the triangle with the lowest index. Returns whether there is one. Does not
/// allocate.
bool ClosestPoint(const CollisionBody& body, const double point[3], double max_distance,
                  SurfaceHit* out_hit);

/// Vector from a place found by ForNear to the point: the `towards` of DescribeHit.
void VectorToPoint(const CollisionBody& body, const SurfaceHit& hit, const double point[3],
                   double out_vector[3]);

/// A place on a triangle, and its distance.
struct TrianglePlace {
  double part[3];    ///< barycentric coordinates, >= 0, sum 1
  double distance2;  ///< squared distance [m^2]
};

/// The place of the triangle nearest to the origin. A triangle without area is treated as its
/// edges.
TrianglePlace NearestToOrigin(const double (&a)[3], const double (&b)[3], const double (&c)[3]);

}  // namespace plush
