// SPDX-License-Identifier: MIT
// Bodies thrown at colliders of every shape, thin and small ones too, and colliders thrown at
// bodies: nothing passes.
//
// - PLUSH_TEST_FULL=1 throws 1e4 times at each.
// - PLUSH_THROW_SEED=N takes the throw of that seed alone.
// - PLUSH_THROW_FIRST=N and PLUSH_THROW_COUNT=M take M throws from seed N on.
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "skip.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <numbers>
#include <numeric>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace fast_motion_test {

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

// The throws to take: of `few` a tenth by day, or all, and those that once failed.
struct Throws {
  explicit Throws(uint32_t few, std::initializer_list<uint32_t> failed = {}) {
    constexpr uint32_t kAll = 10000;
    const char* only = std::getenv("PLUSH_THROW_SEED");
    is_one = only != nullptr;
    if (is_one) {
      seeds = {static_cast<uint32_t>(std::atoi(only))};
      return;
    }
    const auto number = [](const char* name, uint32_t otherwise) {
      const char* text = std::getenv(name);
      return text != nullptr ? static_cast<uint32_t>(std::atoi(text)) : otherwise;
    };
    seeds.resize(number("PLUSH_THROW_COUNT", tests::SweepCount(few, kAll)));
    std::iota(seeds.begin(), seeds.end(), number("PLUSH_THROW_FIRST", 1));
    const bool are_asked_for =
        std::getenv("PLUSH_THROW_FIRST") != nullptr || std::getenv("PLUSH_THROW_COUNT") != nullptr;
    if (!tests::FullTests() && !are_asked_for) seeds.insert(seeds.end(), failed);
  }
  uint32_t count() const { return static_cast<uint32_t>(seeds.size()); }

  std::vector<uint32_t> seeds;
  bool is_one;
};

// A wide collider of any shape, whose side towards -x is at a pose's origin.
struct Wall {
  Wall(const Pose& at, Random* random) {
    const double thickness = random->Uniform(0.01, 0.6);
    const uint32_t cells = 1 + random->Below(12);
    const auto half = static_cast<float>(0.5 * thickness);
    const Eigen::Matrix3d turn = RotationOf(at.rotation);
    const auto along = [&](double x) { return ToVec3(ToEigen(at.position) + turn.col(0) * x); };
    switch (random->Below(7)) {
      case 0:
        name = "plane";
        desc.plane.normal = {-1.0f, 0.0f, 0.0f};
        desc.pose = at;
        break;
      case 1:
        name = "sphere";
        desc = SphereAt(along(7.0), 7.0f);
        break;
      case 2:
        name = "capsule";
        desc = CapsuleAt({along(4.0), at.rotation}, 30.0f, 4.0f);
        break;
      case 3:
        name = "box";
        desc = BoxAt({along(0.5 * thickness), at.rotation}, {half, 30.0f, 30.0f});
        break;
      case 4:
        name = "hull";
        corners = BoxCorners({half, 30.0f, 30.0f});
        desc = HullAt({along(0.5 * thickness), at.rotation}, corners);
        break;
      case 5: {
        name = "height field";
        heights.assign(size_t{cells + 1} * (cells + 1), 0.0f);
        const Eigen::Matrix3d upright =
            turn * Eigen::AngleAxisd(0.5 * std::numbers::pi, Eigen::Vector3d::UnitZ());
        desc.type = ShapeType::kHeightField;
        desc.height_field = {heights, cells + 1, cells + 1, 60.0f / static_cast<float>(cells)};
        desc.pose.rotation = ToQuat(upright);
        desc.pose.position =
            ToVec3(ToEigen(at.position) - upright * Eigen::Vector3d(30.0, 0.0, 30.0));
        break;
      }
      default:
        name = "mesh";
        mesh = std::make_unique<StaticSubject>(
            plush::tests::MakeGridBox({0.0, -30.0, -30.0}, {thickness, 30.0, 30.0}, 1 + cells / 4));
        desc.type = ShapeType::kMesh;
        desc.mesh = {&mesh->asset(), 1.0f};
        desc.pose = at;
    }
  }

  ColliderDesc desc;
  const char* name = "";
  std::vector<Vec3> corners;
  std::vector<float> heights;
  std::unique_ptr<StaticSubject> mesh;
};

// A place inside a solid, in its coordinates. Random points of a hull may leave its origin outside.
Eigen::Vector3d PlaceInside(const std::vector<Vec3>& hull) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const Vec3& point : hull) sum += ToEigen(point) / static_cast<double>(hull.size());
  return sum;
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

TEST_CASE("Small and thin solids do not pass through a body's triangles, however fast", "[long]") {
  // These stayed in hulls and plates while nodes were held where the body carried them.
  const Throws throws(200, {408, 2219, 3264, 4329, 4517, 4728, 5673, 6184, 7916});
  uint32_t passed = 0, too_deep = 0, frozen = 0;
  double deepest = 0.0;
  for (const uint32_t seed : throws.seeds) {
    Random random(seed);
    std::vector<Vec3> points;
    const char* name = "";
    ColliderDesc desc = SmallSolid(&random, &points, &name);
    const bool moves = random.Below(2) == 0;
    const double way = kSize * std::exp(random.Uniform(std::log(0.05), std::log(10.0)));
    const double turn = moves ? random.Uniform(0.0, std::numbers::pi / 6) : 0.0;  // per step
    // The body comes from -x, or the solid from +x, at a place inside the body's side.
    const Eigen::Vector3d aim(0.0, random.Uniform(-0.04, 0.04), random.Uniform(-0.04, 0.04));
    BodyDesc start = {.pose = {.rotation = ToQuat(random.Rotation())}};
    WorldDesc world = {.gravity = {}};
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
      const Eigen::Vector3d middle =
          ToEigen(desc.pose.position) + RotationOf(desc.pose.rotation) * PlaceInside(points);
      is_inside = is_inside || IsIn(scene, middle);
    }
    const double depth = scene.DepthIn(id);
    const bool has_passed = !has_hit || is_inside;
    passed += has_passed ? 1 : 0;
    frozen += (scene.flags & kStepBodyFrozen) != 0 ? 1 : 0;
    deepest = std::max(deepest, depth);
    too_deep += depth > 0.01 * kSize ? 1 : 0;
    if (has_passed || depth > 0.01 * kSize || throws.is_one) {
      std::printf("seed %u: %s, %s, way %.3f sizes, turn %.2f: %s%s, depth %.4f sizes\n", seed,
                  name, moves ? "moves" : "static", way / kSize, turn, has_hit ? "hit" : "NO HIT",
                  is_inside ? ", INSIDE" : "", depth / kSize);
    }
  }
  std::printf("%u throws: %u passed, %u too deep, deepest vertex after 1 s %.4f sizes\n",
              throws.count(), passed, too_deep, deepest / kSize);
  CHECK(passed == 0);
  // One of 10,000 with AVX-512: seed 4695, a body at a plate that rests, at 6.6 sizes a step, ends
  // 0.018 sizes deep. Other instruction sets round otherwise and may have another one.
  CHECK(too_deep <= throws.count() / 5000);
  CHECK(deepest < 0.03 * kSize);
  CHECK(frozen == 0);
}

TEST_CASE("Nothing passes wide colliders of any shape, still or moving, however fast") {
  // These were left behind by planes, boxes and meshes that hit them fast.
  const Throws throws(70, {482, 1470, 1982, 2494, 3091, 3194, 4618, 5326, 5462, 9183});
  uint32_t missed = 0, too_deep = 0, frozen = 0;
  double deepest = -1.0;
  for (const uint32_t seed : throws.seeds) {
    Random random(seed);
    const bool has_surface = random.Below(2) == 0, moves = random.Below(2) == 0;
    const auto speed = static_cast<float>(ThrowSpeed(&random));
    const Pose pose = TurnedPose({1.0f, 0.1f, 0.1f}, random.Uniform(-0.5, 0.5), {0, 0, 1});
    Wall wall(pose, &random);
    const bool is_round =
        wall.desc.type == ShapeType::kSphere || wall.desc.type == ShapeType::kCapsule;
    BodyDesc start = {.pose = {.rotation = ToQuat(random.Rotation())}};
    if (!moves) start.velocity = {speed, 0.0f, 0.0f};
    WorldDesc world = {.gravity = {}};
    SolidScene scene(has_surface, start, world);
    const ColliderId id = AddCollider(&scene.world, wall.desc);
    const Eigen::Vector3d normal = RotationOf(pose.rotation).col(0);
    Eigen::Vector3d at = ToEigen(pose.position);
    bool has_hit = false;
    // A second after the hit, at the latest.
    const int steps = 100 + static_cast<int>(1.5f / (speed * SolidScene::kDt));
    for (int step = 0; step < steps; ++step) {
      if (moves) {
        wall.desc.pose.position.x -= speed * SolidScene::kDt;
        at.x() -= double(speed * SolidScene::kDt);
        REQUIRE(scene.world.MoveCollider(id, wall.desc.pose).ok());
      }
      scene.Step(1);
      has_hit = has_hit || scene.world.stats().contacts > 0;
    }
    const double depth =
        is_round ? scene.DepthIn(id) : scene.FarthestAlong(normal) - normal.dot(at);
    missed += has_hit ? 0 : 1;
    frozen += (scene.flags & kStepBodyFrozen) != 0 ? 1 : 0;
    too_deep += depth > 0.01 * kSize ? 1 : 0;
    deepest = std::max(deepest, depth);
    if (!has_hit || depth > 0.01 * kSize || throws.is_one) {
      std::printf("seed %u: %s, %s, %.3f sizes a step: %s, depth %.4f sizes\n", seed, wall.name,
                  moves ? "moves" : "static", double(speed * SolidScene::kDt) / kSize,
                  has_hit ? "hit" : "NO HIT", depth / kSize);
    }
  }
  std::printf("%u throws: deepest vertex after 1 s %.4f sizes\n", throws.count(), deepest / kSize);
  CHECK(missed == 0);
  CHECK(too_deep == 0);
  CHECK(frozen == 0);
}

}  // namespace fast_motion_test
