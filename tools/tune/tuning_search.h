// SPDX-License-Identifier: MIT
// Searches the settings of a body for `plush tune`: what they cost, and how wrong the motion is.
#pragma once

#include "plush/asset.h"

#include "bake/tuning.h"
#include "base/result.h"
#include "tune/standard_motion.h"

#include <array>
#include <functional>
#include <optional>
#include <vector>

namespace plush::tools {

/// Settings, and what they gave.
struct Trial {
  Tuning tuning;
  int steps = 1;         ///< per frame: dt times this is the frame
  double cost_us = 0.0;  ///< MotionRecord::frame_us, the most of all motions [us]
  std::array<double, kMotionNames.size()> errors = {};  ///< by motion: see `error`
  double error = 0.0;  ///< root mean square distance of the nodes from those of the converged
                       ///< motion, over all frames, over the diagonal of the cage's box at rest:
                       ///< the most of all motions. Infinite: the body went to infinity
};

/// What is searched.
/// - A frame has 1, 2 or 4 time steps.
/// - Splitting makes 1, 2, 4 or 8 outer iterations; the implicit solver 1, 2 or 4 Newton iterations
///   with 4, 8, 16 or 32 of the linear solver.
/// - Damping is the baked one. For the front also one that is less or more by the time step,
///   which is how much implicit Euler damps by itself.
class TuningSearch {
 public:
  /// Moves the body as the reference: by converged Newton iterations, with eight time steps in a
  /// frame. The asset must outlive the search. Errors: those of RunMotion.
  static Result<TuningSearch> Begin(const Asset& asset, double frame, int frames);

  /// Measures these settings. Errors: those of RunMotion.
  Result<Trial> Try(const Tuning& tuning, int steps) const;

  /// Tries all settings, in a fixed order. Errors: those of RunMotion.
  Result<std::vector<Trial>> TryAll(const std::function<void(const Trial&)>& observe) const;

 private:
  explicit TuningSearch(const Asset& asset) : asset_(&asset) {}

  const Asset* asset_;
  double frame_ = 0.0;
  int frames_ = 0;
  std::array<MotionRecord, kMotionNames.size()> reference_;
};

/// The trials that no other one beats in both cost and error, in ascending order of cost.
std::vector<Trial> FrontOf(std::vector<Trial> trials);

/// The cheapest trial with at most this cost and error.
std::optional<Trial> Choose(const std::vector<Trial>& trials, double most_us, double most_error);

}  // namespace plush::tools
