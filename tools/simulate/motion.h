// SPDX-License-Identifier: MIT
// Motions by key frames: what scenes say about pins and colliders that move.
#pragma once

#include "plush/types.h"

#include <vector>

namespace plush::tools {

struct MotionKey {
  double time = 0.0;  ///< [s]
  Pose pose;
};

/// Poses over time. Between two keys the position goes on a straight line and the rotation turns on
/// the shortest way, both at constant speed. Before the first key and after the last one the motion
/// rests.
struct Motion {
  std::vector<MotionKey> keys;  ///< by ascending time

  /// The pose at `time` [s]; there must be a key.
  Pose At(double time) const;
};

/// Whether the poses are equal bit by bit.
bool Equal(const Pose& a, const Pose& b);

/// `pose` moved by `offset` [m].
Pose Moved(const Pose& pose, const Vec3& offset);

}  // namespace plush::tools
