// SPDX-License-Identifier: MIT
// Keeps chosen frames of a running scene, as joints for an animated skin.
#pragma once

#include "plush/types.h"

#include "base/result.h"
#include "simulate/scene_world.h"

#include <cstdint>
#include <vector>

namespace plush::tools {

/// The frames of one body.
struct BodyAnimation {
  std::vector<Vec3> nodes;      ///< world positions [m] (num_frames x num_nodes)
  std::vector<Quat> rotations;  ///< best fit, unit, sign-continuous from frame to frame
                                ///< (num_frames x 1)
};

/// Recorded frames of all bodies.
struct Animation {
  std::vector<float> times;           ///< [s], ascending from 0 (num_frames x 1)
  std::vector<BodyAnimation> bodies;  ///< in the order of SceneWorld::bodies
};

/// Records every `stride`-th step and the last one.
class AnimationRecorder {
 public:
  /// `last_step` is the number of steps of the run, `stride` >= 1, `dt` in seconds.
  AnimationRecorder(uint32_t last_step, uint32_t stride, double dt)
      : last_step_(last_step), stride_(stride), dt_(dt) {}

  /// Records the state after `steps_done` steps if it is one of the frames.
  void Observe(const SceneWorld& scene_world, uint32_t steps_done);

  const Animation& animation() const { return animation_; }

 private:
  uint32_t last_step_;
  uint32_t stride_;
  double dt_;
  Animation animation_;
};

/// Steps between two frames at about `fps` frames per second, at least 1.
uint32_t FrameStride(double dt, double fps);

/// Refuses an animation whose node positions would take more than 1 GiB. Errors: kLimit.
Result<Done> CheckAnimationSize(const SceneWorld& scene_world, uint32_t steps, uint32_t stride);

}  // namespace plush::tools
