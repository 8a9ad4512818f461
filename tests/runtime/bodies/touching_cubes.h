// SPDX-License-Identifier: MIT
// Cubes of 0.2 m in a world where bodies touch each other.
#pragma once

#include "runtime/colliders/solid_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

namespace plush::test {

struct TouchingCubes {
  static constexpr float kDt = 0.01f;
  static constexpr float kSize = 0.2f;  ///< edge [m]

  explicit TouchingCubes(const WorldDesc& desc = WithPairs(64))
      : shape(SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0})),
        world(desc) {}

  static WorldDesc WithPairs(uint32_t pairs) { return WorldDesc{.max_pairs = pairs}; }
  /// Bodies never sleep.
  static WorldDesc Awake() {
    WorldDesc desc = WithPairs(64);
    desc.sleep.speed = 0.0f;
    return desc;
  }

  BodyId Add(const Vec3& position, float young = 1.0e6f, const BodyDesc& of = {}) {
    BodyDesc desc = of;
    desc.pose.position = position;
    desc.material.young = young;
    desc.material.poisson = 0.35f;
    desc.material.damping = 0.02f;
    ids.push_back(AddBody(&world, shape.asset(), desc));
    return ids.back();
  }
  void Step(int steps) {
    for (int k = 0; k < steps; ++k) flags |= StepWorld(&world, kDt);
  }
  std::vector<Vec3> Nodes(BodyId id) const { return PositionsOf(world, id, shape.num_nodes()); }
  double Lowest(BodyId id) const {
    double low = 1e9;
    for (const Vec3& x : Nodes(id)) low = std::min(low, double(x.y));
    return low;
  }
  Eigen::Vector3d Centre(BodyId id) const { return Eigen::Vector3d(MomentsOf(world, id).centre); }
  double Mass(BodyId id) const { return MomentsOf(world, id).mass; }
  std::vector<BodyContactPoint> Contacts() const {
    std::vector<BodyContactPoint> points(1000);
    uint32_t count = 0;
    REQUIRE(world.BodyContacts(points, &count).ok());
    points.resize(count);
    return points;
  }
  /// Takes over a state of other cubes.
  void Load(std::span<const std::byte> state) {
    const Asset* assets[] = {&shape.asset()};
    REQUIRE(world.LoadState(state, assets).ok());
  }

  ShapeAsset shape;
  World world;
  std::vector<BodyId> ids;
  uint32_t flags = 0;  ///< of all steps
};

}  // namespace plush::test
