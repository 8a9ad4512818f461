// SPDX-License-Identifier: MIT
// Solids that are smaller than a body's triangles: which ones press on the middle of a triangle.
#include "runtime/colliders/solid_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("A small solid presses into the middle of a large triangle") {
  const auto [name, desc] =
      GENERATE(std::make_pair("ball", SphereAt({0.07f, 0.26f, 0.12f}, 0.02f)),
               std::make_pair("corner", BoxAt(TurnedPose({0.07f, 0.275f, 0.12f}, 0.9, {1, 0, 0.7}),
                                              {0.03f, 0.03f, 0.03f})),
               std::make_pair("tip", CapsuleAt({{0.07f, 0.36f, 0.12f}}, 0.1f, 0.02f)));
  CAPTURE(name);
  BodyDesc still = BodyAt({});
  SolidScene scene(true, still);
  AddCollider(&scene.world);
  const ColliderId id = AddCollider(&scene.world, desc);
  Pose pose = desc.pose;
  double deepest = -1.0;
  for (int step = 0; step < 120; ++step) {
    if (step < 60) pose.position.y -= 0.0015f;
    REQUIRE(scene.world.MoveCollider(id, pose).ok());
    scene.Step(1);
    deepest = std::max(deepest, scene.DepthOfTrianglesIn(id));
  }
  CHECK(scene.flags == kStepOk);
  CHECK(scene.world.stats().contacts > 1);
  CHECK(deepest > -1e-3 * double(scene.kSize));
  CHECK(deepest < 1e-3 * double(scene.kSize));
  CHECK(scene.DepthOfTrianglesIn(id) < 1e-3 * double(scene.kSize));
}

TEST_CASE("Triangles that stick out on both sides of a plate do not touch it") {
  const bool is_hull = GENERATE(false, true);
  SolidScene scene(true, BodyAt({}), {.gravity = {}});
  const Vec3 half = {1.0f, 0.005f, 1.0f};
  const std::vector<Vec3> corners = BoxCorners(half);
  const Pose pose = {{0.0f, 0.15f, 0.0f}};
  const ColliderId id =
      AddCollider(&scene.world, is_hull ? HullAt(pose, corners) : BoxAt(pose, half));
  REQUIRE(scene.DepthIn(id) < 0.0);  // no vertex is in it
  REQUIRE(scene.DepthOfTrianglesIn(id) > 0.004);
  scene.Step(10);
  CHECK(scene.world.stats().contacts == 0);
  CHECK(scene.Speed() < 1e-6);
}
