// SPDX-License-Identifier: MIT
// Bodies thrown at colliders of every shape, thin and small ones too, and colliders thrown at
// bodies: nothing passes.
//
// - PLUSH_TEST_FULL=1 throws 1e4 times instead of 200.
// - PLUSH_THROW_SEED=N takes the throw of that seed alone.
#include "runtime/world/solid_scene.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

using namespace plush;
using namespace plush::test;

namespace {

constexpr double kSize = double(SolidScene::kSize);

// A solid smaller than a triangle of the body, or thinner; its shape goes to `name`.
ColliderDesc SmallSolid(Random* random, std::vector<Vec3>* points, const char** name) {
  const auto between = [&](double low, double high) {
    return static_cast<float>(random->Uniform(low, high));
  };
  const Pose pose = {{}, ToQuat(random->Rotation())};
  switch (random->Below(5)) {
    case 0:
      *name = "sphere";
      return SphereAt({}, between(0.005, 0.1));
    case 1:
      *name = "capsule";
      return CapsuleAt(pose, between(0.005, 0.3), between(0.003, 0.05));
    case 2:
      *name = "plate";
      return BoxAt(pose, {between(0.02, 0.3), between(0.002, 0.01), between(0.02, 0.3)});
    case 3:
      *name = "box";
      return BoxAt(pose, {between(0.005, 0.1), between(0.005, 0.1), between(0.005, 0.1)});
    default: {
      *name = "hull";
      const double size = random->Uniform(0.02, 0.2), flat = random->Uniform(0.05, 1.0);
      for (uint32_t i = 12 + random->Below(30); i > 0; --i) {
        points->push_back(
            ToVec3(size * Eigen::Vector3d(1.0, flat, 1.0).cwiseProduct(random->Direction())));
      }
      return HullAt(pose, *points);
    }
  }
}

}  // namespace

TEST_CASE("Small and thin solids do not pass through a body's triangles, however fast") {
  const char* only = std::getenv("PLUSH_THROW_SEED");
  const uint32_t first = only != nullptr ? static_cast<uint32_t>(std::atoi(only)) : 1;
  const uint32_t count = only != nullptr ? 1 : tests::FullTests() ? 10000 : 200;
  uint32_t passed = 0, hits = 0, frozen = 0;
  double deepest = 0.0;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    std::vector<Vec3> points;
    const char* name = "";
    ColliderDesc desc = SmallSolid(&random, &points, &name);
    const bool moves = random.Below(2) == 0;
    const double way = kSize * std::exp(random.Uniform(std::log(0.05), std::log(10.0)));
    const double turn = moves ? random.Uniform(0.0, std::numbers::pi / 6) : 0.0;  // per step
    // The body comes from -x, or the solid from +x, at a place inside the body's side.
    const Eigen::Vector3d aim(0.0, random.Uniform(-0.04, 0.04), random.Uniform(-0.04, 0.04));
    BodyDesc start;
    start.pose.rotation = ToQuat(random.Rotation());
    WorldDesc world;
    world.gravity = {};
    if (!moves) start.velocity = {static_cast<float>(way / double(SolidScene::kDt)), 0.0f, 0.0f};
    SolidScene scene(true, start, world);
    const Eigen::Vector3d centre = scene.Centre();
    const Eigen::Vector3d from = centre + aim + Eigen::Vector3d(0.6, 0.0, 0.0);
    desc.pose.position = ToVec3(from);
    const ColliderId id = AddCollider(&scene.world, desc);
    const Eigen::Vector3d axis = random.Direction();
    const int steps = std::min(200, 2 + static_cast<int>(1.0 / way));
    bool has_hit = false;
    for (int step = 1; step <= steps; ++step) {
      if (moves) {
        desc.pose.position = ToVec3(from - Eigen::Vector3d(way * step, 0.0, 0.0));
        desc.pose.rotation = ToQuat(Eigen::AngleAxisd(turn, axis) * RotationOf(desc.pose.rotation));
        REQUIRE(scene.world.MoveCollider(id, desc.pose).ok());
      }
      scene.Step(1);
      has_hit = has_hit || scene.world.stats().contacts > 0;
    }
    // What passed is on the other side, untouched; what hit was stopped or went round.
    const double inside = scene.DepthIn(id);
    const bool is_beyond = (scene.Centre() - ToEigen(desc.pose.position)).x() > 0.0;
    hits += has_hit ? 1 : 0;
    passed += !has_hit && is_beyond ? 1 : 0;
    frozen += (scene.flags & kStepBodyFrozen) != 0 ? 1 : 0;
    deepest = std::max(deepest, inside);
    if ((!has_hit && is_beyond) || inside > 0.01 * kSize || only != nullptr) {
      std::printf("seed %u: %s, %s, way %.3f sizes, turn %.2f: %s, depth %.4f sizes\n", seed, name,
                  moves ? "moves" : "static", way / kSize, turn, has_hit ? "hit" : "NO HIT",
                  inside / kSize);
    }
  }
  std::printf("%u throws: %u hit, %u passed, deepest vertex %.4f sizes\n", count, hits, passed,
              deepest / kSize);
  CHECK(passed == 0);
  CHECK(frozen == 0);
  CHECK(deepest < 0.01 * kSize);
}
