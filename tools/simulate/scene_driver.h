// SPDX-License-Identifier: MIT
// What a scene does to its world between two steps: moves pins, colliders and targets of
// attachments, adds forces.
#pragma once

#include "base/result.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"

#include <vector>

namespace plush::tools {

/// Whether the scene's motions, forces, springs or moving colliders can do work on bodies.
bool SuppliesEnergy(const Scene& scene);

/// Drives a world before each of its steps.
class SceneDriver {
 public:
  /// Both must outlive the driver.
  SceneDriver(const Scene& scene, SceneWorld* scene_world)
      : scene_(scene), scene_world_(*scene_world) {}

  /// Prepares the step from time `begin` to `end` [s]. Pins, colliders and the targets of
  /// attachments get the poses that their motions have at `end` as targets, unless they rest
  /// meanwhile: a target would keep bodies awake. Adds the forces that act in this step. Errors:
  /// kUsage (a pose that the World refuses), kLimit (memory).
  Result<Done> Drive(double begin, double end);

 private:
  Result<Done> MovePins(const MovingPins& pins, double end);
  Result<Done> MoveAttachments(double begin, double end);
  Result<Done> MoveConstraints(double begin, double end);

  const Scene& scene_;
  SceneWorld& scene_world_;
  std::vector<Vec3> targets_;  // of the nodes of one MovingPins
};

}  // namespace plush::tools
