// SPDX-License-Identifier: MIT
// What a body did to colliders in a step: sums of its contacts' impulses, for reactions and events.
#pragma once

#include "plush/types.h"

#include <cstdint>

namespace plush {

struct Body;
struct StepSettings;

/// A collider that a body pressed on in its last step, or a sensor that it overlapped.
struct Touch {
  uint64_t collider = 0;  ///< ColliderId::value
  bool is_sensor = false;
  bool is_reported = false;  ///< whether the game knows of it from an event
  Vec3 force;                ///< on the collider, mean over the step [N], world
  Vec3 torque;               ///< about its pose's position, which may move [N m]
  // For events. A body that does not step keeps those of its last step.
  Vec3 point;                   ///< [m], world
  Vec3 normal;                  ///< unit, out of the collider
  float impulse = 0.0f;         ///< along the normals [N s]
  float approach_speed = 0.0f;  ///< [m/s]
  uint32_t triangle = UINT32_MAX;
  uint32_t other_triangle = UINT32_MAX;  ///< of a mesh
};

/// Sums over the contacts of a body with a collider and the substeps so far, in the body's
/// coordinates. Arms are from LocalCollider::end at the end of the substep.
struct TouchSums {
  Vec3 impulse;                 ///< on the body [kg m/s]
  Vec3 moment;                  ///< [kg m^2/s]
  float pressing = 0.0f;        ///< sum of the impulses' normal parts [kg m/s]
  Vec3 weighted_arm;            ///< sum of arms times these [kg m^2/s]
  Vec3 weighted_normal;         ///< the same of normals [kg m/s]
  float approach_speed = 0.0f;  ///< greatest along the normal before a substep [m/s]
  float strongest = 0.0f;       ///< greatest normal impulse of a point in a substep [kg m/s]
  uint32_t point = 0;           ///< id of that point
  uint32_t face = kNoTriangle;  ///< of a mesh, that holds it
};

/// Starts the sums of a step.
void StartTouches(Body* body);

/// Adds the impulses of the contacts, which a substep of `h` seconds has solved. Notes their arms.
void AddTouches(float h, Body* body);

/// Adds a `share` of the impulses that restitution gave the contacts. The arms are still those of
/// AddTouches.
void AddReboundTouches(float share, Body* body);

/// Writes the step's touches with colliders to body->found. The colliders must be placed as at the
/// step's end.
void FinishTouches(const StepSettings& settings, Body* body);

/// Adds the sensors that the body overlaps at the end of the step to body->found, and sorts it by
/// slots. Returns whether there was room for all.
bool FindSensors(const StepSettings& settings, Body* body);

}  // namespace plush
