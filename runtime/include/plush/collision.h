// SPDX-License-Identifier: MIT
// Queries on the collision surfaces of bodies and on colliders, and their answers.
//
//   plush::SurfacePoint hit;
//   if (world.Raycast({.origin = eye, .direction = aim}, {}, &hit).ok() && hit.valid()) {
//     status = world.AddImpulse(hit, push);
//   }
#pragma once

#include "plush/types.h"

#include <cstdint>
#include <limits>

namespace plush {

/// A half-line in the world, or a piece of one.
struct Ray {
  Vec3 origin = {};                                        ///< [m]
  Vec3 direction = {0.0f, -1.0f, 0.0f};                    ///< of any length but zero
  float max_distance = std::numeric_limits<float>::max();  ///< its length [m], 0 to infinity
};

/// What a query of the world looks for.
enum QueryTargets : uint32_t {
  kQueryBodies = 1u << 0,
  kQueryColliders = 1u << 1,  ///< sensors, too. A ray finds the first place only of a height field
                              ///< or mesh
};

/// What a query of the world may find. It never finds disabled bodies.
struct QueryFilter {
  uint32_t mask = ~0u;              ///< those whose Filter::category has one of these bits
  BodyId ignore = {};               ///< this body not; may be null or stale
  uint32_t targets = kQueryBodies;  ///< of QueryTargets
  ColliderId ignore_collider = {};  ///< this collider not; may be null or stale
};

/// A point on the collision surface of a body, or on a collider: then only the collider, the
/// position, the normal, the distance and `front` are set.
struct SurfacePoint {
  BodyId body = {};                 ///< null if not valid() or on a collider
  uint32_t triangle = kNoTriangle;  ///< of CollisionView, or of a mesh; of a height field, see
                                    ///< HeightFieldShape
  uint32_t patch = 0;               ///< of CollisionView
  uint32_t tet = 0;                 ///< of SimulationView; carries the point
  uint32_t nodes[4] = {};           ///< of that tet, ascending
  Vec4 weights = {};       ///< of the point for these nodes, sum 1: shares of a force at the point
  Vec3 barycentrics = {};  ///< of the point in the triangle, >= 0, sum 1
  Vec3 position = {};      ///< in the world [m]
  Vec3 normal = {};        ///< unit normal, out of the collider, or of the deformed triangle,
                           ///< outwards unless its tet is inside out. If the triangle has no area:
                           ///< against the ray, or towards the queried point, or up (+y) if that
                           ///< point is here
  float distance = 0.0f;   ///< along the ray, or from the queried point [m], >= 0
  bool front = false;      ///< whether the ray or the queried point comes from the side that
                           ///< `normal` points to
  ColliderId collider = {};  ///< null if not valid() or on a body

  bool valid() const { return triangle != kNoTriangle || collider.valid(); }
};

/// A patch of the collision surface as its tet deforms it [Civ 5.5.3.5].
struct DeformedPatch {
  Vec3 vector_area = {};  ///< sum of normals times areas [m^2]: exact
  Vec3 centroid = {};     ///< mean weighted by rest areas [m]: exact; equals the mean weighted by
                          ///< deformed areas if the patch is flat
  float area = 0.0f;      ///< at rest [m^2]; never below the length of vector_area if the tet only
                          ///< turns
};

}  // namespace plush
