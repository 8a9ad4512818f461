// SPDX-License-Identifier: MIT
// Queries on the surface of one collider at its present pose.
#pragma once

#include "plush/collision.h"

#include "world/world_impl.h"

namespace plush {

/// Places on a collider's surface, nearest first: of a mesh or height field, the first one.
struct ColliderHits {
  SurfacePoint places[2];
  int count = 0;
};

/// The places at which a ray, which must be valid, enters and leaves the collider.
ColliderHits RaycastCollider(const Collider& collider, const Ray& ray);

/// The place of the collider's surface nearest to a point [m]; not valid if there is none. Of a
/// mesh or height field, only within `max_distance` [m] and a little more.
SurfacePoint ClosestOnCollider(const Collider& collider, const Vec3& point, float max_distance);

}  // namespace plush
