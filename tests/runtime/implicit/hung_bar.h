// SPDX-License-Identifier: MIT
// Bars that hang by one side, and bars that fall, for tests of implicit bodies.
#pragma once

#include "plush/solver.h"

#include "reference/trajectory.h"
#include "runtime/colliders/plane_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace plush::test {

/// Bodies never sleep.
inline WorldDesc Awake(const Vec3& gravity = WorldDesc().gravity) {
  return WorldDesc{.gravity = gravity, .sleep = {.speed = 0.0f}};
}

/// A body that hangs by its nodes at x < 0.05 m.
struct HungBar {
  static constexpr float kDt = 0.01f;

  HungBar(const tools::TetMesh& mesh, const tools::Material& material)
      : shape(mesh, material, double(kDt)) {
    const std::vector<Vec3> rest = shape.rest();
    for (uint32_t i = 0; i < rest.size(); ++i) {
      if (rest[i].x < 0.05f) pins.push_back(i);
    }
    REQUIRE(pins.size() > 3);
  }

  BodyId AddTo(World* world, const BodySolver& solver) const {
    return AddBody(world, shape.asset(), {.pinned_nodes = pins, .solver = &solver});
  }
  /// `most`: the most linear iterations of a step, or null.
  reference::Trajectory Steps(const BodySolver& solver, int steps, uint32_t* most = nullptr) const {
    World world(Awake());
    const BodyId id = AddTo(&world, solver);
    reference::Trajectory out(ToEigen(shape.rest()));
    for (int step = 0; step < steps; ++step) {
      REQUIRE(StepWorld(&world, kDt) == kStepOk);
      out.Add(ToEigen(PositionsOf(world, id, shape.num_nodes())));
      if (most != nullptr) *most = std::max(*most, world.stats().linear_iterations);
    }
    return out;
  }

  ShapeAsset shape;
  std::vector<uint32_t> pins;
};

/// A bar that falls askew on a plane, which it reaches soon, for 20 steps. `desc` has all but the
/// pose.
inline reference::Trajectory FallAskew(const ShapeAsset& shape, BodyDesc desc,
                                       float friction = 0.5f) {
  WorldDesc of_world = Awake();
  of_world.contact.iterations = 64;
  of_world.contact.sweeps = 256;
  World world(of_world);
  AddPlane(&world, {}, friction);
  desc.pose = {{0.0f, 0.03f, 0.0f}, TurnOf(0.2, {0.0, 0.0, 1.0})};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  reference::Trajectory out(ToEigen(PositionsOf(world, id, shape.num_nodes())));
  bool has_touched = false;
  for (int step = 0; step < 20; ++step) {
    REQUIRE(StepWorld(&world, HungBar::kDt) == kStepOk);
    has_touched = has_touched || world.stats().contacts > 0;
    out.Add(ToEigen(PositionsOf(world, id, shape.num_nodes())));
  }
  CHECK(has_touched);
  return out;
}

}  // namespace plush::test
