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

// Whether a point is in a tet of the body.
bool IsIn(const SolidScene& scene, const Eigen::Vector3d& point) {
  const std::vector<Vec3> x = PositionsOf(scene.world, scene.body, scene.shape.num_nodes());
  return std::ranges::any_of(scene.shape.asset().collision().tets, [&](const CdgTet& tet) {
    Eigen::Matrix4d corners = Eigen::Matrix4d::Ones();
    for (int k = 0; k < 4; ++k) corners.col(k).head<3>() = ToEigen(x[tet.nodes[k]]);
    return (corners.inverse() * point.homogeneous()).minCoeff() > 0.01;
  });
}

}  // namespace

TEST_CASE("Small and thin solids do not pass through a body's triangles, however fast", "[long]") {
  const char* only = std::getenv("PLUSH_THROW_SEED");
  const uint32_t first = only != nullptr ? static_cast<uint32_t>(std::atoi(only)) : 1;
  const uint32_t count = only != nullptr ? 1 : tests::FullTests() ? 10000 : 200;
  uint32_t passed = 0, too_deep = 0, frozen = 0;
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
    const double speed = way / double(SolidScene::kDt);
    const Eigen::Vector3d before = moves ? Eigen::Vector3d::Zero() : Eigen::Vector3d(speed, 0, 0);
    bool has_hit = false, is_inside = false;
    for (int step = 1; step <= steps + 100; ++step) {
      if (moves && step <= steps) {
        desc.pose.position = ToVec3(from - Eigen::Vector3d(way * step, 0.0, 0.0));
        desc.pose.rotation = ToQuat(Eigen::AngleAxisd(turn, axis) * RotationOf(desc.pose.rotation));
        REQUIRE(scene.world.MoveCollider(id, desc.pose).ok());
      }
      scene.Step(1);
      const BodyMoments moments = MomentsOf(scene.world, scene.body);
      const Eigen::Vector3d now = Eigen::Vector3d(moments.linear_momentum) / moments.mass;
      has_hit = has_hit || (now - before).norm() > 1e-3 * speed;
      is_inside = is_inside || IsIn(scene, ToEigen(desc.pose.position));
    }
    const double depth = scene.DepthIn(id);
    const bool has_passed = !has_hit || is_inside;
    passed += has_passed ? 1 : 0;
    frozen += (scene.flags & kStepBodyFrozen) != 0 ? 1 : 0;
    deepest = std::max(deepest, depth);
    too_deep += depth > 0.01 * kSize ? 1 : 0;
    if (has_passed || depth > 0.01 * kSize || only != nullptr) {
      std::printf("seed %u: %s, %s, way %.3f sizes, turn %.2f: %s%s, depth %.4f sizes\n", seed,
                  name, moves ? "moves" : "static", way / kSize, turn, has_hit ? "hit" : "NO HIT",
                  is_inside ? ", INSIDE" : "", depth / kSize);
    }
  }
  std::printf("%u throws: %u passed, %u too deep, deepest vertex after 1 s %.4f sizes\n", count,
              passed, too_deep, deepest / kSize);
  // Few still end inside the body, on the far side of the triangle that they passed.
  CHECK(passed <= std::max(1u, count / 40));
  CHECK(too_deep <= std::max(1u, count / 100));
  CHECK(deepest < 0.1 * kSize);
  CHECK(frozen == 0);
}
