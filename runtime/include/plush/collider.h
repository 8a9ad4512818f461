// SPDX-License-Identifier: MIT
// Colliders: solid shapes that bodies touch and cannot move.
#pragma once

#include "plush/body.h"
#include "plush/types.h"

#include <cstdint>

namespace plush {

/// Kinds of shapes.
enum class ShapeType : uint8_t {
  kPlane,
};

/// A solid half-space, in the collider's coordinates: points with dot(p, normal) < offset are
/// inside.
struct PlaneShape {
  Vec3 normal = {0.0f, 1.0f, 0.0f};  ///< points out of the solid; any length but zero
  float offset = 0.0f;               ///< distance of the surface from the pose's position along
                                     ///< the unit normal [m]
};

/// A collider. It moves by its velocities or by World::MoveCollider; nothing else moves it.
struct ColliderDesc {
  ShapeType type = ShapeType::kPlane;
  PlaneShape plane = {};       ///< the shape if `type` is kPlane
  Pose pose = {};              ///< of the shape
  Vec3 velocity = {};          ///< of the pose's position, until changed [m/s]
  Vec3 angular_velocity = {};  ///< about the pose's position, until changed [rad/s]
  float friction = 0.5f;       ///< Coulomb coefficient, >= 0
  Filter filter = {};
  uint64_t user_data = 0;  ///< the world only keeps it
};

}  // namespace plush
