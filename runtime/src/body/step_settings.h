// SPDX-License-Identifier: MIT
// What all bodies share in a step: settings, colliders, and targets of attachments.
#pragma once

#include "plush/body.h"
#include "plush/collider.h"
#include "plush/jobs.h"
#include "plush/pose.h"
#include "plush/splitting_settings.h"
#include "plush/step.h"

#include "colliders/collider_mesh.h"
#include "colliders/solid.h"
#include "collision/near_boxes.h"
#include "touching/contact_problem.h"

#include <cstdint>
#include <span>

namespace plush {

/// An attachment's target in a step, unless it is another body.
struct StepTarget {
  Vec3 from;  ///< at the start, in the world or the collider's coordinates [m]
  Vec3 to;    ///< at the end
  uint32_t collider = kNoCollider;  ///< its slot

  static constexpr uint32_t kNoCollider = UINT32_MAX;
};

/// Bounds of a collider during a step: infinite ones of a half-space.
struct SweptCollider {
  WorldBox box;
  uint32_t slot = 0;
  double farthest = 0.0;  ///< greatest coordinate along x of this one and those before it [m]
};

/// A collider as it moves through a step, in the world.
struct StepCollider {
  bool exists = false;    ///< whether the slot has a collider
  bool is_solid = false;  ///< whether it is a solid or a mesh
  Vec3 normal;            ///< of a half-space at the start of the step; unit, out of it
  double offset = 0.0;    ///< dot(normal, x) on the surface, at the start [m]
  Solid solid;            ///< of a solid
  double centre[3] = {};  ///< of the solid, in the collider's coordinates [m]
  TriangleSource mesh;    ///< of a mesh
  WorldBox swept;         ///< bounds of a solid or mesh during the step
  bool is_sensor = false;
  bool moves = false;     ///< whether the collider moves
  Pose from;              ///< of the collider at the start of the step
  Pose to;                ///< and at its end
  Vec3 shift;             ///< of the pose's position in the step [m]
  Rotation turn;          ///< about it in the step
  Vec3 surface_velocity;  ///< see ColliderDesc
  PlaneShape shape;
  Coefficients coefficients;
  uint64_t id = 0;  ///< ColliderId::value
  uint64_t user_data = 0;
  Filter filter;
};

/// Settings of a step that all bodies share, except `splitting`.
struct StepSettings {
  Vec3 gravity;
  ContactSettings contact;
  SleepSettings sleep;
  SplittingSettings splitting;  ///< of the body or crowd that StepIsland or StepCrowd steps
  std::span<const StepCollider> colliders;  ///< by slot
  // Of colliders but sensors: half-spaces by slot, solids and meshes by box.low[0].
  std::span<const SweptCollider> half_spaces, bounded;
  std::span<const SweptCollider> sensors;  ///< ascending slots
  std::span<const StepTarget> targets;     ///< of attachments, by slot
  MixCoefficients mix_friction = nullptr;
  MixCoefficients mix_restitution = nullptr;
  float dt = 0.0f;                  ///< [s]
  const JobSystem* jobs = nullptr;  ///< shares a large body's rotations, or the bodies of a large
                                    ///< island, between threads, or null
};

}  // namespace plush
