// SPDX-License-Identifier: MIT
// Spheres, capsules and boxes as one convex solid.
#pragma once

#include "plush/types.h"

#include "colliders/convex_distance.h"
#include "colliders/easiest_plane.h"

#include <limits>

namespace plush {

/// All points within `radius` of a box: a sphere if the box is a point, a capsule if it is a
/// segment.
struct RoundedBox {
  Vec3 half_extents;    ///< of the box [m], >= 0
  float radius = 0.0f;  ///< [m], >= 0

  /// Half of its bounding box [m].
  Vec3 Reach() const {
    return {half_extents.x + radius, half_extents.y + radius, half_extents.z + radius};
  }
};

/// The tangent plane for `point`, in the solid's coordinates. Inside, the nearest face's; on the
/// axis of a sphere or capsule, the one along the first axis of those that are equally near.
Tangent TangentAt(const RoundedBox& solid, const Vec3& point);

/// Finds the first place inside the solid of a point that moves straight from `from`, outside, to
/// `to`. `hit` gets the tangent plane at that place, with the gap of `to`. Returns whether there is
/// one.
bool FindEntry(const RoundedBox& solid, const Vec3& from, const Vec3& to, Tangent* hit);

/// The easiest plane of a face. A round solid has none.
SolidFace FindEasierFace(const RoundedBox& solid, EasiestPlane easiest);

/// The point of the triangle (3 x 1) with the least signed distance; may be any if none has one
/// below `limit`.
TrianglePoint FindDeepest(const RoundedBox& solid, const Vec3* corners,
                          float limit = std::numeric_limits<float>::infinity());

/// The same, near `last` if there are several, or nearly so, as along a capsule.
TrianglePoint FollowDeepest(const RoundedBox& solid, const Vec3* corners,
                            const TrianglePoint& last);

/// The plane between the solid and a triangle (3 x 1, counter-clockwise seen from outside its body)
/// at the triangle's deepest point, with its gap. Where the solid has an edge or corner, many
/// planes are tangent. This is the one most parallel to the triangle: an edge presses on a surface
/// against the surface's normal, not along one of the faces that meet there.
Tangent PlaneBetween(const RoundedBox& solid, const Vec3* corners, const TrianglePoint& deepest);

}  // namespace plush
