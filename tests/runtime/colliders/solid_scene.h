// SPDX-License-Identifier: MIT
// A body with a surface among spheres, capsules, boxes and hulls.
#pragma once

#include "runtime/colliders/plane_scene.h"
#include "runtime/collision/surface_fixtures.h"

#include <span>
#include <vector>

namespace plush::test {

BodyDesc BodyAt(const Vec3& position, const Vec3& velocity = {});
Pose TurnedPose(const Vec3& position, double angle, const Eigen::Vector3d& axis);

ColliderDesc SphereAt(const Vec3& position, float radius);
ColliderDesc CapsuleAt(const Pose& pose, float half_height, float radius);
ColliderDesc BoxAt(const Pose& pose, const Vec3& half_extents);
/// `points` must live as long as the description.
ColliderDesc HullAt(const Pose& pose, std::span<const Vec3> points);
/// The corners of a box, about its middle (8 x 1).
std::vector<Vec3> BoxCorners(const Vec3& half_extents);

/// Signed distance of a point in the world from a solid, in double precision [m].
double DistanceFrom(const ColliderDesc& desc, const Eigen::Vector3d& point);

/// A damped cube of 0.2 m with a flat surface, or without: it then touches with its nodes.
struct SolidScene {
  static constexpr float kDt = 0.01f, kSize = 0.2f;

  explicit SolidScene(bool has_surface, const BodyDesc& desc = {}, const WorldDesc& world = {});

  void Step(int steps);
  /// Takes steps. Returns whether the body touched a collider in any.
  bool TouchesIn(int steps);
  /// The vertices of the surface, or the nodes [m].
  std::vector<Eigen::Vector3d> Points() const;
  /// How far they reach along a unit vector from the origin [m].
  double FarthestAlong(const Eigen::Vector3d& direction) const;
  /// Depth of the deepest of them in a solid [m], below 0 outside.
  double DepthIn(ColliderId id) const;
  /// The same for points all over the triangles.
  double DepthOfTrianglesIn(ColliderId id) const;
  double DepthOfTrianglesIn(const ColliderDesc& desc) const;
  /// Moves a collider by 1.2 m along x. Fails the test unless it drives the body before it, never
  /// deeper inside than `most_depth` [m].
  void KickAway(ColliderId foot, float speed, double most_depth);
  double Speed() const;
  Eigen::Vector3d Centre() const { return Eigen::Vector3d(MomentsOf(world, body).centre); }

  ShapeAsset shape;
  World world;
  BodyId body;
  uint32_t flags = 0;  ///< of all steps
};

/// The largest differences of two bodies' motions.
struct MotionDifference {
  double farthest = 0.0;  ///< of their centres [m]
  double fastest = 0.0;   ///< of their speeds along `up` [m/s]
};
MotionDifference StepBoth(SolidScene* a, SolidScene* b, int steps,
                          const Eigen::Vector3d& up = Eigen::Vector3d::UnitY());

/// A speed of 0.1 to 10 of the cube's sizes per step [m/s].
double ThrowSpeed(Random* random);

/// How the cube flies at a collider.
struct Flight {
  bool touches = false;
  double farthest = 0.0;  ///< reached along the collider's x axis, from its position [m]
};
/// Throws the cube along x from (-0.5, 0, 0), without gravity, for 100 steps. Fails the test if it
/// freezes or comes into the collider.
Flight ThrowAt(const ColliderDesc& collider, bool has_surface, const Eigen::Matrix3d& turn,
               double speed);

/// What bodies have together.
struct WorldSums {
  Eigen::Vector3d momentum = Eigen::Vector3d::Zero();  ///< [kg m/s]
  Eigen::Vector3d turn = Eigen::Vector3d::Zero();      ///< angular momentum about the origin
  double energy = 0.0;                                 ///< of the world, without that of height [J]
};
WorldSums SumsOf(const World& world, std::span<const BodyId> ids);

}  // namespace plush::test
