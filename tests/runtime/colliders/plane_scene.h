// SPDX-License-Identifier: MIT
// A box on a plane, for tests of colliders.
#pragma once

#include "runtime/tet_fixtures.h"

#include <vector>

namespace plush::test {

/// Adds a collider; fails the test if that fails.
ColliderId AddCollider(World* world, const ColliderDesc& desc = {});
ColliderDesc DescOf(const World& world, ColliderId id);

/// Turns by `angle` [rad] about `axis`.
Quat TurnOf(double angle, const Eigen::Vector3d& axis);

/// A damped box of 0.2 m above a plane through the origin.
struct BoxOnPlane {
  static constexpr float kDt = 0.01f;

  explicit BoxOnPlane(const WorldDesc& desc = {}, const ColliderDesc& collider = {},
                      const BodyDesc& body_desc = {.pose = {.position = {0.0f, 0.005f, 0.0f}}});

  void Step(int steps);
  /// Steps until the body sleeps; fails the test if it does not within 2000 steps.
  void FallAsleep();
  std::vector<Vec3> positions() const { return PositionsOf(world, body, shape.num_nodes()); }
  std::vector<Vec3> velocities() const { return VelocitiesOf(world, body, shape.num_nodes()); }
  Eigen::Vector3d MeanPosition() const;
  Eigen::Vector3d MeanVelocity() const;
  /// Height of the lowest node above the collider [m].
  double Gap() const;

  ShapeAsset shape;
  World world;
  ColliderId plane;
  BodyId body;
};

}  // namespace plush::test
