// SPDX-License-Identifier: MIT
// Steps say where bodies overlap at a hole of a surface.
#include "runtime/colliders/solid_scene.h"
#include "runtime/state/state_scene.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;

namespace open_surface_test {

constexpr float kDt = 0.01f, kSize = 0.2f;

ShapeAsset CubeWith(uint32_t holes) {
  return ShapeAsset(SurfaceBytes(TetBox(2, 2, 2, 0.1),
                                 {.parts = 4, .depth = 0.0, .num_shells = 0, .holes = holes}));
}

// Unit vector out of the face that has the hole.
Eigen::Vector3d OutOfHole() {
  const SurfaceBody body(TetBox(2, 2, 2, 0.1),
                         {.parts = 4, .depth = 0.0, .num_shells = 0, .holes = 1});
  const Eigen::Vector3d way = MiddleOfHoles(body) - Eigen::Vector3d::Constant(0.5 * double(kSize));
  Eigen::Index axis = 0;
  REQUIRE(way.cwiseAbs().maxCoeff(&axis) > 0.49 * double(kSize));
  return Eigen::Vector3d::Unit(axis) * (way[axis] > 0.0 ? 1.0 : -1.0);
}

// A fixed cube with a hole in one face, or without, and a closed one that gravity presses onto that
// face, or onto the one across.
struct OnFace {
  static constexpr float kScale = 1.2f;  // of the pressed one: it covers the face

  OnFace(uint32_t holes, bool on_hole)
      : open(CubeWith(holes)),
        closed(CubeWith(0)),
        out(OutOfHole() * (on_hole ? 1.0 : -1.0)),
        world(DescOf(out)) {
    BodyDesc fixed, pressed;
    fixed.fixed = true;
    AddBody(&world, open.asset(), fixed);
    pressed.scale = kScale;
    pressed.material.damping = 0.02f;
    const Eigen::Vector3d middle = Eigen::Vector3d::Constant(0.5 * double(kSize));
    const double apart = 0.5 * double(kSize) * (1.0 + double(kScale)) + 1.0e-3;
    pressed.pose.position = ToVec3(middle + out * apart - middle * double(kScale));
    top = AddBody(&world, closed.asset(), pressed);
  }
  static WorldDesc DescOf(const Eigen::Vector3d& out) {
    return WorldDesc{.gravity = ToVec3(-9.81 * out), .sleep = {.speed = 0.0f}, .max_pairs = 4};
  }

  ShapeAsset open, closed;
  Eigen::Vector3d out;
  World world;
  BodyId top;
};

TEST_CASE("Steps are flagged while a body lies on a hole, also if its contacts hold") {
  OnFace scene(1, true);
  World& world = scene.world;
  bool is_flagged = false;
  uint32_t unsearched = 0;
  for (int step = 0; step < 200; ++step) {
    CAPTURE(step);
    const bool was_flagged = is_flagged;
    is_flagged = (StepWorld(&world, kDt) & kStepSurfacesOpen) != 0;
    REQUIRE((is_flagged || !was_flagged));
    if (is_flagged) CHECK((world.stats().flags & kStepSurfacesOpen) != 0);
    unsearched += is_flagged && world.stats().pairs_searched == 0 ? 1 : 0;
  }
  CHECK(is_flagged);
  CHECK(unsearched > 50);
  // So are those after the world was loaded.
  const std::vector<std::byte> bytes = SavedState(world);
  OnFace other(1, true);
  const Asset* assets[] = {&other.open.asset(), &other.closed.asset()};
  REQUIRE(other.world.LoadState(bytes, assets).ok());
  CHECK(other.world.stats().flags == world.stats().flags);
  CHECK((StepWorld(&other.world, kDt) & kStepSurfacesOpen) != 0);
  CHECK(other.world.stats().pairs_searched == 0);
  REQUIRE(world.Teleport(scene.top, {.position = {5.0f, 5.0f, 5.0f}}).ok());
  CHECK((StepWorld(&world, kDt) & kStepSurfacesOpen) == 0);
}

TEST_CASE("Steps are not flagged away from holes, nor of closed surfaces") {
  const bool is_open = GENERATE(true, false);
  OnFace scene(is_open ? 1 : 0, !is_open);
  for (int step = 0; step < 100; ++step) {
    REQUIRE((StepWorld(&scene.world, kDt) & kStepSurfacesOpen) == 0);
  }
  CHECK(scene.world.stats().body_pairs == 1);
}

TEST_CASE("A body that touches nothing stays where it is inside an open surface") {
  const bool is_open = GENERATE(true, false);
  const ShapeAsset outer = CubeWith(is_open ? 1 : 0), inner = CubeWith(0);
  World world({.gravity = {}, .max_pairs = 4});
  BodyDesc fixed, small;
  fixed.fixed = true;
  AddBody(&world, outer.asset(), fixed);
  small.scale = 0.2f;
  small.pose.position = {0.05f, 0.1f, 0.08f};
  small.material.damping = 0.02f;
  const BodyId id = AddBody(&world, inner.asset(), small);
  const Eigen::Vector3d before(MomentsOf(world, id).centre);
  for (int step = 0; step < 100; ++step) StepWorld(&world, kDt);
  const double way = (Eigen::Vector3d(MomentsOf(world, id).centre) - before).norm();
  if (is_open) {
    CHECK(way < 1e-6);
  } else {
    CHECK(way > 0.01);  // a solid pushes it out
  }
}

}  // namespace open_surface_test
