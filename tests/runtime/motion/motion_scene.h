// SPDX-License-Identifier: MIT
// Bodies that the tests of motion let swing and hang, in the runtime and in the reference.
#pragma once

#include "reference/trajectory.h"
#include "runtime/tet_fixtures.h"

#include <vector>

namespace plush::test {

using reference::Trajectory;

inline constexpr float kMotionDt = 0.01f;

/// What moves: a start, and what holds it.
struct Scene {
  tools::TetMesh mesh;
  std::vector<uint32_t> pins;
  Points start;
  Eigen::Vector3d gravity = {0.0, double(-9.81f), 0.0};
  Eigen::Vector3d swing = {0.0, 0.0, 0.0};  ///< points back to where the swing starts
  int steps = 0;
};

inline constexpr int kDefaultSteps[] = {0, 0};  // outer iterations and volume sweeps
inline constexpr int kKugSteps[] = {1, 2};

/// A beam of 0.4 x 0.1 x 0.1 m along x, clamped at x = 0.
Scene ClampedBeam();
/// A club along x, three times as thick at one end as at the other. It starts level and hangs by
/// the upper edge of an end's face, about which it swings.
Scene HungClub(bool by_thick_end);
/// Four arms of 0.3 x 0.1 x 0.1 m that meet in a cross. It starts level and hangs by an arm's end.
Scene HungCross();
/// A beam that is bent and twisted, and then let go without gravity.
Scene BentBeam();
/// A rope of 0.6 x 0.05 x 0.05 m along x that starts level and hangs by the face at x = 0: it bends
/// far.
Scene HungRope();

/// Converged implicit Euler, without its loss of angular momentum if nothing is pinned.
Trajectory ReferenceOf(const Scene& scene, const ShapeAsset& shape);

/// The runtime's steps, with outer iterations and volume sweeps.
Trajectory RuntimeOf(const Scene& scene, const ShapeAsset& shape,
                     const int (&steps)[2] = kDefaultSteps);

}  // namespace plush::test
