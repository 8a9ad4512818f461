// SPDX-License-Identifier: MIT
// What the page of `plush report` holds of a simulation.
#pragma once

#include "plush/types.h"

#include "base/result.h"
#include "page/packed_arrays.h"
#include "simulate/scene_world.h"
#include "simulate/simulation_run.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <vector>

namespace plush::tools {

/// Records the frames of a run: every `stride`-th step and the last one.
class MotionRecorder {
 public:
  /// Refuses frames beyond kMaxMotionBytes. Errors: kLimit.
  static Result<MotionRecorder> Create(const SceneWorld& scene_world, uint32_t steps,
                                       uint32_t most_frames);

  /// Records the state after `steps_done` steps if it is one of the frames.
  void Observe(const SceneWorld& scene_world, uint32_t steps_done);

  /// The run as the page reads it, its arrays added to *arrays. Keys:
  /// - dt [s], steps (of each frame), bodies, lines, contacts, per_step;
  /// - bodies: name, model (from `models`, by SceneWorld::assets), fixed, nodes: positions by
  ///   PackedArrays, node by node, of one node by frame;
  /// - lines: ends of the colliders' lines in the same way (2 num_lines nodes), if their number
  ///   changes those of the first frame; colours 0xRRGGBB by line;
  /// - contacts: starts (num_frames + 1 x 1) and positions of all frames;
  /// - per_step, by step from 1: kinetic_j, elastic_j, gravity_j, contacts, penetration_m, step_ms,
  ///   max_speed_m_s, min_det_f. Of all, only step_ms changes from run to run.
  nlohmann::json Page(const SceneWorld& scene_world, const RunRecord& record, double dt,
                      const std::vector<size_t>& models, PackedArrays* arrays) const;

  size_t num_frames() const { return frame_steps_.size(); }

 private:
  MotionRecorder(uint32_t last_step, uint32_t stride) : last_step_(last_step), stride_(stride) {}
  // The lines' ends of all frames, or of the first one if none moves or their number changes.
  std::vector<Vec3> LineEnds() const;

  uint32_t last_step_;
  uint32_t stride_;
  std::vector<uint32_t> frame_steps_;
  std::vector<std::vector<Vec3>> nodes_;      // of each body (num_frames x num_nodes)
  std::vector<std::vector<Vec3>> line_ends_;  // of each frame, or of the first
  std::vector<uint32_t> line_colours_;        // of the first frame
  std::vector<uint32_t> contact_starts_;      // into contacts_ (num_frames x 1)
  std::vector<Vec3> contacts_;
};

/// Most bytes of a motion's positions before they are packed.
inline constexpr uint64_t kMaxMotionBytes = uint64_t{256} << 20;

}  // namespace plush::tools
