// SPDX-License-Identifier: MIT
// Motion for the eye: curves of a body's free end, which plot_motion.py draws.
#pragma once

#include "bench/swinging_arm.h"
#include "reference/trajectory.h"

#include <string>
#include <utility>

namespace plush::bench {

/// The folder that --curves names, or none.
class CurveFolder {
 public:
  explicit CurveFolder(std::string path) : path_(std::move(path)) {}

  /// Writes the way of the node that is farthest from the pins, once for each case, as
  /// FOLDER/case.csv with "/" as "_". The columns are time [s], and for the reference, [Kug]'s step
  /// and the default step the horizontal way from below the pins, towards where the body started,
  /// and the height above the pins [m]. Writes nothing without a folder. Says on stderr if it
  /// cannot.
  void Write(const std::string& case_name, const SwingingArm& arm, float dt,
             const reference::Trajectory& right, const reference::Trajectory& kug,
             const reference::Trajectory& measured) const;

 private:
  std::string path_;
};

}  // namespace plush::bench
