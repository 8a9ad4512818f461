// SPDX-License-Identifier: MIT
// The motions by which `plush tune` judges a body's settings.
#pragma once

#include "plush/asset.h"
#include "plush/solver.h"
#include "plush/types.h"

#include "base/result.h"

#include <array>
#include <vector>

namespace plush::tools {

/// An end of a body is what lies within a tenth of its cage's longest side from there. All motions
/// are under gravity; bodies start at rest.
enum class StandardMotion {
  kDrop,     ///< from 0.3 of its height on a plane with friction 0.5
  kSwing,    ///< held by one end, from where its longest side is level
  kTwist,    ///< held by both ends: one turns by a right angle in half of the time, and stays
  kSqueeze,  ///< the same: it comes nearer by a quarter of the length
};

inline constexpr std::array<const char*, 4> kMotionNames = {"drop", "swing", "twist", "squeeze"};

struct MotionSettings {
  BodySolver solver;
  double damping = 0.0;  ///< [s]
  double frame = 0.0;    ///< time between two records [s]
  int steps = 1;         ///< equal time steps in a frame, >= 1
  int frames = 0;        ///< >= 1
};

struct MotionRecord {
  std::vector<Vec3> positions;  ///< of the cage's nodes after each frame [m] (num_nodes x frames),
                                ///< frame by frame; empty: the body went to infinity
  double frame_us = 0.0;        ///< processor time of a frame's steps: median [us]
};

/// Moves the body by itself, on this thread. Errors: kLimit (memory, or a material and time step
/// whose matrix has no factor).
Result<MotionRecord> RunMotion(const Asset& asset, StandardMotion motion,
                               const MotionSettings& settings);

}  // namespace plush::tools
