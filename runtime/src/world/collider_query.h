// SPDX-License-Identifier: MIT
// Queries on the surface of one collider where it is now: a plane or a convex solid.
#pragma once

#include "plush/collision.h"

#include "world/world_impl.h"

namespace plush {

/// Places on a convex surface, nearest first.
struct ColliderHits {
  SurfacePoint places[2];
  int count = 0;
};

/// Where a ray, which must be valid, enters and leaves the collider.
ColliderHits RaycastCollider(const Collider& collider, const Ray& ray);

/// The place of the collider's surface nearest to a point [m].
SurfacePoint ClosestOnCollider(const Collider& collider, const Vec3& point);

}  // namespace plush
