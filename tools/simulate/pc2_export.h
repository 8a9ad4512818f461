// SPDX-License-Identifier: MIT
// A run as a point cache .pc2, which Blender's Mesh Cache and Maya's cache modifiers play on a
// mesh.
#pragma once

#include "base/result.h"
#include "simulate/scene_world.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Records the positions of all render vertices after every `stride`-th step and the last one, body
/// after body: in metres, y up, in the order of `--export x.obj`.
class PointCacheRecorder {
 public:
  PointCacheRecorder(uint32_t last_step, uint32_t stride)
      : last_step_(last_step), stride_(stride) {}

  /// Records the state after `steps_done` steps if it is one of the frames.
  void Observe(const SceneWorld& scene_world, uint32_t steps_done);

  /// The bytes of the file: a head of 32 bytes, then x, y, z of every vertex (num_frames x
  /// num_vertices), all little-endian.
  std::vector<std::byte> File() const;

 private:
  uint32_t last_step_;
  uint32_t stride_;
  uint32_t num_frames_ = 0;
  uint32_t num_vertices_ = 0;
  std::vector<std::byte> points_;
};

/// Refuses a cache of more than 1 GiB, and one without vertices. Errors: kLimit, kInvalidInput.
Result<Done> CheckPointCache(const SceneWorld& scene_world, uint32_t steps, uint32_t stride);

}  // namespace plush::tools
