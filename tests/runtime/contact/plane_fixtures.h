// SPDX-License-Identifier: MIT
// Boxes on planes, for tests of contact.
#pragma once

#include "runtime/collision/surface_fixtures.h"
#include "runtime/dense_reference.h"

#include <cstddef>

namespace plush::test {

inline constexpr float kDt = 0.01f;  // [s]
inline constexpr double kGravity = 9.81;
inline constexpr tools::Material kMaterial = {3.0e5, 0.4, 1000.0};

/// Kinetic, elastic and gravity energy [J].
inline double Energy(const World& world) {
  const WorldMeasures measures = MeasuresOf(world);
  return measures.kinetic_j + measures.elastic_j + measures.gravity_j;
}

struct SlopeDesc {
  double angle = 0.0;  ///< about z [rad]
  float friction = 0.5f;
  double cell = 0.1;         ///< of the box of 4 x 2 x 4 cells [m]
  bool has_surface = false;  ///< the box touches with a flat surface, not with its nodes
  float damping = 0.0f;      ///< [s]
  WorldDesc world = Awake();
  SplittingSettings splitting = {};

  /// Nothing falls asleep: what sleeps would pass for at rest.
  static WorldDesc Awake() { return WorldDesc{.sleep = {.speed = 0.0f}}; }
};

/// A box of kMaterial at rest on a tilted plane through the origin.
struct Slope {
  explicit Slope(const SlopeDesc& desc)
      : shape(ShapeOf(desc)), world(desc.world), height(2.0 * desc.cell) {
    const Eigen::Matrix3d R =
        Eigen::AngleAxisd(desc.angle, Eigen::Vector3d::UnitZ()).toRotationMatrix();
    normal = R.col(1);
    down = -R.col(0);
    AddPlane(&world, {ToVec3(normal), 0.0f}, desc.friction);
    BodyDesc body = {.pose = {.rotation = ToQuat(R)},
                     .material = {.young = static_cast<float>(kMaterial.young),
                                  .poisson = static_cast<float>(kMaterial.poisson),
                                  .density = static_cast<float>(kMaterial.density),
                                  .damping = desc.damping},
                     .splitting = desc.splitting};
    id = AddBody(&world, shape.asset(), body);
  }
  static ShapeAsset ShapeOf(const SlopeDesc& desc) {
    const tools::TetMesh mesh = TetBox(4, 2, 4, desc.cell);
    if (!desc.has_surface) return ShapeAsset(mesh, kMaterial);
    return ShapeAsset(SurfaceBytes(mesh, {.parts = 3, .depth = 0.0, .num_shells = 0}));
  }

  void Step(int count) {
    for (int k = 0; k < count; ++k) StepWorld(&world, kDt);
  }
  Eigen::Vector3d Momentum() const { return Eigen::Vector3d(MomentsOf(world, id).linear_momentum); }
  Eigen::Vector3d Centre() const { return Eigen::Vector3d(MomentsOf(world, id).centre); }
  /// Down the slope [m/s].
  double Speed() const { return Momentum().dot(down) / MomentsOf(world, id).mass; }

  ShapeAsset shape;
  World world;
  BodyId id;
  double height;                 ///< of the box [m]
  Eigen::Vector3d normal, down;  ///< unit
};

}  // namespace plush::test
