// SPDX-License-Identifier: MIT
// How right a hung body's motion is: against converged implicit Euler of the same mesh, whose
// trajectories take minutes and are kept in files.
#pragma once

#include "plush/world.h"

#include "bench/swinging_arm.h"
#include "reference/trajectory.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace plush::bench {

/// Steps that are compared.
inline constexpr int kMotionSteps = 220;
inline constexpr float kMotionDt = 0.01f;  ///< their length [s]

/// The folder that --references names, or none.
class ReferenceFolder {
 public:
  explicit ReferenceFolder(std::string path) : path_(std::move(path)) {}

  /// The reference's motion of a body that starts to hang, in rest coordinates. Computed if neither
  /// this program nor the folder has it; then it is written to the folder. Without a folder, only
  /// bodies of up to 5000 tets are computed. Null, and the reason on stderr, if there is none.
  const reference::Trajectory* Find(const SwingingArm& arm, float dt,
                                    const std::string& case_name) const;

 private:
  std::string path_;
};

/// Mean rest position of the pinned nodes.
Eigen::Vector3d PinsOf(const SwingingArm& arm, const reference::Trajectory& trajectory);

struct MotionErrors {
  double trajectory = 0.0;      ///< reference::TrajectoryError
  size_t half_swing = 0;        ///< index of the step at the end of the first half swing
  size_t right_half_swing = 0;  ///< the reference's
  double sag = 0.0;  ///< error of the lowest point's depth below the pins, relative to that depth
};

MotionErrors CompareMotion(const SwingingArm& arm, const reference::Trajectory& measured,
                           const reference::Trajectory& right);

/// The next 220 steps of a body, in rest coordinates, or ends the program.
reference::Trajectory FirstSteps(const SwingingArm& arm, float dt, World* world, BodyId id);

/// Positions of a world as columns of rest coordinates: the inverse of the body's first pose.
reference::Points InRest(const BodyDesc& desc, const std::vector<Vec3>& positions);

}  // namespace plush::bench
