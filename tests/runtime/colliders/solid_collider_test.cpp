// SPDX-License-Identifier: MIT
// Bodies on, under and between spheres, capsules and boxes, at rest and fast, still and moving.
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace plush;
using namespace plush::test;

namespace solid_collider_test {

constexpr double kPi = std::numbers::pi;

TEST_CASE("A body comes to rest on each shape and stays out of it") {
  const bool has_surface = GENERATE(false, true);
  const auto [name, desc] = GENERATE(
      std::make_pair("box", BoxAt({{0.0f, -0.5f, 0.0f}}, {2.0f, 0.5f, 2.0f})),
      std::make_pair("turned box", BoxAt(TurnedPose({0.0f, -0.4f, 0.0f}, 0.5 * kPi, {0, 0, 1}),
                                         {0.4f, 1.0f, 1.0f})),
      std::make_pair("small box", BoxAt({{0.1f, -0.05f, 0.1f}}, {0.05f, 0.05f, 0.05f})),
      std::make_pair("large sphere", SphereAt({0.1f, -2.0f, 0.1f}, 2.0f)),
      std::make_pair("capsule",
                     CapsuleAt(TurnedPose({0.1f, -0.5f, 0.1f}, 0.5 * kPi, {1, 0, 0}), 1.0f, 0.5f)));
  CAPTURE(name, has_surface);
  // Nodes alone touch: such a cube balances on two of them on a round solid, on one on a small box.
  if (!has_surface && (desc.type != ShapeType::kBox || name == std::string("small box"))) return;
  SolidScene scene(has_surface, BodyAt({0.0f, 0.01f, 0.0f}));
  ColliderDesc rough = desc;
  rough.friction = 1.0f;
  const ColliderId id = AddCollider(&scene.world, rough);
  scene.Step(200);
  CHECK(scene.flags == kStepOk);
  // On a round solid the body rests on a point or a line, and rocks a little for long.
  const double slow = desc.type == ShapeType::kBox ? 1e-3 : 2e-2;
  CHECK(scene.Speed() < slow * double(scene.kSize));
  CHECK(scene.world.stats().contacts > 0);
  CHECK(std::fabs(scene.DepthOfTrianglesIn(id)) < 2e-4 * double(scene.kSize));
  for (int step = 0; step < 100; ++step) {
    scene.Step(1);
    CHECK(scene.Speed() < slow * double(scene.kSize));
  }
}

TEST_CASE("On large solids a body slides and stops as on a plane") {
  constexpr float kRadius = 500.0f;  // 0.2 mm lower after the slide
  const bool has_surface = GENERATE(false, true);
  const ColliderDesc solid = GENERATE(
      BoxAt({{0.0f, -1.0f, 0.0f}}, {5.0f, 1.0f, 5.0f}), SphereAt({0.0f, -kRadius, 0.0f}, kRadius),
      CapsuleAt(TurnedPose({0.0f, -kRadius, 0.0f}, 0.5 * kPi, {0, 0, 1}), 5.0f, kRadius));
  CAPTURE(static_cast<int>(solid.type));
  const BodyDesc start = BodyAt({0.0f, 0.0f, 0.0f}, {2.0f, 0.0f, 0.5f});
  SolidScene on_plane(has_surface, start), on_solid(has_surface, start);
  AddCollider(&on_plane.world);
  AddCollider(&on_solid.world, solid);
  const MotionDifference difference = StepBoth(&on_plane, &on_solid, 120);
  CHECK((on_plane.Centre() - Eigen::Vector3d(0.1, 0.1, 0.1)).norm() > 0.3);
  CHECK(on_plane.Speed() < 1e-2);
  CHECK(difference.farthest < (solid.type == ShapeType::kBox ? 1e-3 : 5e-3));
}

// The floor's tiles have a width at which the front of the cube and its middle row of vertices come
// to borders at different times.
TEST_CASE("A body slides over solids side by side as over one", "[long]") {
  const bool has_surface = GENERATE(false, true), is_hull = GENERATE(false, true);
  // The space between tiles, and how much higher every second one is.
  const auto [space, step] = GENERATE(std::make_pair(0.0f, 0.0f), std::make_pair(1.0e-3f, 0.0f),
                                      std::make_pair(-1.0e-3f, 0.0f), std::make_pair(0.0f, 1e-5f));
  const double turn = GENERATE(0.0, 0.3);
  CAPTURE(has_surface, is_hull, space, step, turn);
  constexpr float kWidth = 0.13f;
  const Vec3 half = {0.5f * (kWidth - space), 0.25f, 1.0f};
  const std::vector<Vec3> corners = BoxCorners(half);
  BodyDesc start = BodyAt({}, {3.0f, 0.0f, 0.1f});
  start.pose.rotation = TurnOf(turn, {0, 1, 0});
  SolidScene on_plane(has_surface, start), on_tiles(has_surface, start);
  AddCollider(&on_plane.world);
  for (int i = -2; i < 12; ++i) {
    const float top = i % 2 == 0 ? 0.0f : step;
    const Pose pose = {{kWidth * static_cast<float>(i), top - half.y, 0.0f}};
    AddCollider(&on_tiles.world, is_hull ? HullAt(pose, corners) : BoxAt(pose, half));
  }
  const MotionDifference difference = StepBoth(&on_plane, &on_tiles, 100);
  CHECK((on_plane.Centre() - Eigen::Vector3d(0.1, 0.1, 0.1)).norm() > 0.7);
  CHECK(difference.farthest < 2e-3);
}

TEST_CASE("A body slides over a plate that lies flush in a plane") {
  const bool has_surface = GENERATE(false, true);
  const float top = GENERATE(0.0f, 1.0e-6f, -1.0e-6f);
  CAPTURE(has_surface, top);
  const BodyDesc start = BodyAt({}, {3.0f, 0.0f, 0.1f});
  SolidScene on_plane(has_surface, start), on_plate(has_surface, start);
  for (SolidScene* scene : {&on_plane, &on_plate}) AddCollider(&scene->world);
  AddCollider(&on_plate.world, BoxAt({{0.47f, top - 0.1f, 0.1f}}, {0.13f, 0.1f, 0.15f}));
  const MotionDifference difference = StepBoth(&on_plane, &on_plate, 100);
  CHECK(difference.farthest < 2e-3);
}

// Its lower side is as flush with the floor as the top of a tile, but would press the body down.
TEST_CASE("A wall that stands on a floor stops a body, and does not press it down") {
  const bool has_surface = GENERATE(false, true);
  const float bottom = GENERATE(0.0f, 1.0e-5f, -1.0e-5f);
  const int kind = GENERATE(0, 1, 2);
  const Vec3 half = {0.5f, 0.5f, 2.0f};
  const Pose pose = {{0.95f, half.y + bottom, 0.0f}};
  const std::vector<Vec3> corners = BoxCorners(half);
  const StaticSubject mesh(plush::tests::MakeBox({-0.5, -0.5, -2.0}, {0.5, 0.5, 2.0}));
  ColliderDesc smooth = kind == 0   ? BoxAt(pose, half)
                        : kind == 1 ? HullAt(pose, corners)
                                    : MeshOf(mesh, pose);
  smooth.friction = 0.0f;
  CAPTURE(kind, has_surface, bottom);
  WorldDesc world = {.gravity = {3.0f, -9.81f, 0.0f}};
  SolidScene scene(has_surface, BodyAt({}, {3.0f, 0.0f, 0.1f}), world);
  AddCollider(&scene.world, {.friction = 0.1f});
  const ColliderId wall = AddCollider(&scene.world, smooth);
  double most = 0.0;
  for (int step = 0; step < 200; ++step) {
    scene.Step(1);
    Reaction reaction;
    REQUIRE(scene.world.ColliderReaction(wall, &reaction).ok());
    most = std::max(most, std::fabs(double(reaction.force.y)) - 0.1 * double(reaction.force.x));
    CHECK(scene.FarthestAlong({1, 0, 0}) < 0.45 + 1e-3);
  }
  CHECK(most < 0.2 * 9.81 * MomentsOf(scene.world, scene.body).mass);
  CHECK(scene.FarthestAlong({1, 0, 0}) > 0.45 - 1e-3);
  CHECK(scene.Speed() < 1e-2);
}

TEST_CASE("Scaled bodies rest on solids, also far from the origin") {
  const float scale = GENERATE(0.2f, 1.0f, 5.0f), far = GENERATE(0.0f, 3.0e4f);
  CAPTURE(scale, far);
  const Vec3 middle = {far, -0.5f * far, 0.25f * far};
  BodyDesc desc = BodyAt(middle);
  desc.scale = scale;
  desc.material = {.young = 2.0e5f * scale, .poisson = 0.4f, .density = 1000.0f, .damping = 0.05f};
  SolidScene scene(true, desc);
  const ColliderId id = AddCollider(
      &scene.world, BoxAt({middle - Vec3{0.0f, scale + 0.01f, 0.0f}}, {scale, scale, scale}));
  scene.Step(300);
  CHECK(scene.flags == kStepOk);
  CHECK(scene.Speed() < 1e-3 * double(scale));
  CHECK(scene.world.stats().contacts > 0);
  const double grid = double(far) * 2.4e-7;  // of float positions there
  CHECK(std::fabs(double(MeasuresOf(scene.world).max_penetration)) < 1e-4 * double(scale) + grid);
  CHECK(std::fabs(scene.DepthIn(id)) < 1e-4 * double(scale) + grid);
}

TEST_CASE("A load does not slide off a platform that drives in circles", "[long]") {
  const bool has_surface = GENERATE(false, true), by_velocity = GENERATE(false, true);
  const float far = GENERATE(0.0f, 3.0e3f);
  CAPTURE(has_surface, by_velocity, far);
  constexpr double kRadius = 1.5;  // [m]
  const double dt = double(SolidScene::kDt);
  const Eigen::Vector3d axis(double(far), -0.1, -double(far));
  const auto pose_at = [&](double angle) -> Pose {
    const Quat rotation = TurnOf(angle, {0, 1, 0});
    return {ToVec3(axis + RotationOf(rotation) * Eigen::Vector3d(kRadius, 0.0, 0.0)), rotation};
  };
  SolidScene scene(has_surface, BodyAt(pose_at(0.0).position + Vec3{-0.1f, 0.1f, -0.1f}));
  ColliderDesc bed = BoxAt(pose_at(0.0), {0.5f, 0.1f, 0.5f});
  bed.friction = 1.0f;
  const ColliderId id = AddCollider(&scene.world, bed);
  const auto place = [&]() -> Eigen::Vector3d {
    const Pose pose = DescOf(scene.world, id).pose;
    return RotationOf(pose.rotation).transpose() * (scene.Centre() - ToEigen(pose.position));
  };
  scene.Step(50);
  const Eigen::Vector3d before = place();
  double angle = 0.0;
  for (int step = 1; step <= 400; ++step) {
    const double turn = 2.0 * dt * std::min(0.01 * step, 1.0);
    angle += turn;
    const Pose to = pose_at(angle);
    if (by_velocity) {
      const Vec3 way = to.position - DescOf(scene.world, id).pose.position;
      const Vec3 spin = {0.0f, static_cast<float>(2.0 * std::tan(0.5 * turn) / dt), 0.0f};
      const Vec3 velocity = way * (1.0f / SolidScene::kDt);
      REQUIRE(scene.world.SetColliderVelocity(id, velocity, spin).ok());
    } else {
      REQUIRE(scene.world.MoveCollider(id, to).ok());
    }
    scene.Step(1);
  }
  CHECK((place() - before).norm() < 0.005 * kRadius);  // it slid by 0.1 m and more
}

TEST_CASE("A foot kicks a body away") {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    SolidScene scene(seed % 2 == 0, BodyAt({-0.1f, 0.0f, -0.1f}));
    AddCollider(&scene.world);
    const Pose pose = {{-1.0f, 0.15f, static_cast<float>(random.Uniform(-0.05, 0.05))}};
    const ColliderId foot = AddCollider(&scene.world, CapsuleAt(pose, 0.1f, 0.08f));
    scene.Step(20);
    const float speed = static_cast<float>(random.Uniform(2.0, 15.0));
    scene.KickAway(foot, speed, 0.02 * double(scene.kSize));
    // It leaves with about the speed of the foot: nothing is restituted.
    const double left = Eigen::Vector3d(MomentsOf(scene.world, scene.body).linear_momentum).x() /
                        MomentsOf(scene.world, scene.body).mass;
    CHECK(left > 0.5 * double(speed));
    CHECK(left < 1.5 * double(speed));
  }
}

// Half of them fall on the solids. The others start deep inside, where several may press on them
// from all sides. PLUSH_TEST_FULL=1 takes 120 of them.
TEST_CASE("Random bodies among random solids stay finite and bounded") {
  int touching = 0;
  double fastest_fall = 0.0, fastest_inside = 0.0;
  const uint32_t count = tests::SweepCount(40u, 120u);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    Random random(seed);
    const auto exponential = [&](double low, double high) {
      return static_cast<float>(std::exp(random.Uniform(std::log(low), std::log(high))));
    };
    const bool has_surface = random.Below(2) == 0;
    const float dt = exponential(0.001, 0.033), young = exponential(1e4, 1e8);
    const float friction = static_cast<float>(random.Uniform(0.0, 2.0));
    const bool falls = seed % 2 == 0;
    BodyDesc desc = BodyAt(ToVec3(random.Vector(0.2)), ToVec3(random.Vector(3.0)));
    if (falls) {
      desc.pose.position.y += 1.5f;
      desc.velocity.y = -10.0f;
    }
    desc.pose.rotation = ToQuat(random.Rotation());
    desc.angular_velocity = ToVec3(random.Vector(10.0));
    desc.material = {.young = young,
                     .poisson = static_cast<float>(random.Uniform(0.0, 0.45)),
                     .density = 1000.0f,
                     .damping = random.Below(2) == 0 ? 0.0f : exponential(0.001, 0.1)};
    const std::vector<uint32_t> pins = random.Nodes(27, 0.2);
    if (random.Below(3) == 0 && !falls) desc.pinned_nodes = pins;
    CAPTURE(seed, has_surface, dt, young, friction, desc.pinned_nodes.size());
    SolidScene scene(has_surface, desc);
    AddCollider(&scene.world, {.plane = {.offset = -0.3f}});
    for (uint32_t k = 0; k < 4; ++k) {
      const Pose pose = {ToVec3(random.Vector(0.3)), ToQuat(random.Rotation())};
      const auto length = [&] { return exponential(0.02, 0.4); };
      ColliderDesc solid = k % 3 == 0   ? SphereAt(pose.position, length())
                           : k % 3 == 1 ? CapsuleAt(pose, length(), length())
                                        : BoxAt(pose, {length(), length(), length()});
      solid.friction = friction;
      if (k >= 2) solid.velocity = ToVec3(random.Vector(1.0));
      if (k >= 2) solid.angular_velocity = ToVec3(random.Vector(3.0));
      AddCollider(&scene.world, solid);
    }
    double fastest = 0.0;
    bool has_touched = false;
    for (int step = 0; step < 60; ++step) {
      scene.flags |= StepWorld(&scene.world, dt);
      fastest = std::max(fastest, double(scene.world.stats().max_speed));
      has_touched = has_touched || scene.world.stats().contacts > 0;
    }
    touching += has_touched ? 1 : 0;
    CHECK((scene.flags & kStepBodyFrozen) == 0);
    double& most = falls ? fastest_fall : fastest_inside;
    most = std::max(most, fastest);
    CHECK(fastest < (falls ? 40.0 : 300.0));
  }
  std::printf("%u bodies among solids, seeds from 1: falling ones reach %.3g m/s, others %.3g\n",
              count, fastest_fall, fastest_inside);
  CHECK(touching >= static_cast<int>(count) / 2);
}

TEST_CASE("A body sleeps on a box and wakes if the box goes or another collider comes") {
  SolidScene scene(true, BodyAt({-0.1f, 0.0f, -0.1f}));
  const ColliderId ground =
      AddCollider(&scene.world, BoxAt({{0.0f, -0.1f, 0.0f}}, {0.5f, 0.1f, 0.5f}));
  const ColliderId far = AddCollider(&scene.world, SphereAt({5.0f, 0.0f, 0.0f}, 0.3f));
  scene.Step(300);
  REQUIRE(scene.world.IsAsleep(scene.body));
  REQUIRE(scene.world.SetColliderVelocity(far, {0.0f, 1.0f, 0.0f}, {}).ok());
  scene.Step(10);
  CHECK(scene.world.IsAsleep(scene.body));
  SECTION("removed") {
    REQUIRE(scene.world.RemoveCollider(ground).ok());
    CHECK_FALSE(scene.world.IsAsleep(scene.body));
    scene.Step(50);
    CHECK(scene.Centre().y() < -0.5);
  }
  SECTION("moved away") {
    REQUIRE(scene.world.SetColliderPose(ground, {{0.0f, -2.0f, 0.0f}}).ok());
    CHECK_FALSE(scene.world.IsAsleep(scene.body));
  }
  SECTION("reached") {
    REQUIRE(scene.world.SetColliderPose(far, {{1.0f, 0.1f, 0.0f}}).ok());
    REQUIRE(scene.world.SetColliderVelocity(far, {-1.0f, 0.0f, 0.0f}, {}).ok());
    scene.Step(90);
    CHECK_FALSE(scene.world.IsAsleep(scene.body));
    CHECK(scene.Centre().x() < -0.05);
  }
}

TEST_CASE("Far colliders, however many come, move and go, change nothing") {
  constexpr uint32_t kSeed = 3;
  Random random(kSeed);
  const BodyDesc start = BodyAt({-0.1f, 0.02f, -0.1f});
  WorldDesc awake;
  awake.sleep.speed = 0.0f;  // a collider that comes wakes bodies
  SolidScene alone(true, start, awake), among(true, start, awake);
  const auto far = [&] {
    const Eigen::Vector3d at = random.Direction() * random.Uniform(4.0, 40.0);
    return SphereAt(ToVec3(at), static_cast<float>(random.Uniform(0.1, 2.0)));
  };
  std::vector<ColliderId> fars;
  ColliderId hands[2];
  for (SolidScene* scene : {&alone, &among}) {
    for (int k = 0; k < 60 && scene == &among; ++k)
      fars.push_back(AddCollider(&among.world, far()));
    AddCollider(&scene->world, BoxAt({{0.0f, -0.1f, 0.0f}}, {0.5f, 0.1f, 0.5f}));
    hands[scene == &among ? 1 : 0] = AddCollider(&scene->world, SphereAt({2.0f, 0.1f, 0.0f}, 0.1f));
  }
  for (int step = 0; step < 160; ++step) {
    CAPTURE(kSeed, step);
    // All rest at times.
    if (step % 8 < 3) {
      ColliderId& id = fars[random.Below(static_cast<uint32_t>(fars.size()))];
      switch (random.Below(4)) {
        case 0:
          REQUIRE(among.world.RemoveCollider(id).ok());
          id = AddCollider(&among.world, far());
          break;
        case 1:
          REQUIRE(among.world.SetColliderPose(id, far().pose).ok());
          break;
        case 2: {
          Pose pose = DescOf(among.world, id).pose;
          pose.position = pose.position * 1.05f;
          REQUIRE(among.world.MoveCollider(id, pose).ok());
          break;
        }
        default:
          fars.push_back(AddCollider(&among.world, far()));
      }
    }
    if (step >= 60 && step < 100) {
      const Pose pose = {{2.0f - 0.06f * static_cast<float>(step - 59), 0.1f, 0.0f}};
      REQUIRE(alone.world.MoveCollider(hands[0], pose).ok());
      REQUIRE(among.world.MoveCollider(hands[1], pose).ok());
    }
    alone.Step(1);
    among.Step(1);
    REQUIRE(alone.world.StateHash() == among.world.StateHash());
  }
  CHECK(alone.Centre().x() < -0.3);
}

TEST_CASE("Solids with wrong numbers are refused by name") {
  World world;
  const auto section = [&](const ColliderDesc& desc) {
    ColliderId id;
    const Status status = world.AddCollider(desc, &id);
    CHECK_FALSE(id.valid());
    CHECK(status.code == StatusCode::kInvalidArgument);
    return std::string(status.section);
  };
  const float wrong = GENERATE(-1.0f, 0.0f, 1.0e7f, std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN());
  CAPTURE(wrong);
  CHECK(section(SphereAt({}, wrong)) == "sphere.radius");
  CHECK(section(CapsuleAt({}, 1.0f, wrong)) == "capsule.radius");
  CHECK(section(BoxAt({}, {1.0f, wrong, 1.0f})) == "box.half_extents");
  if (wrong != 0.0f) CHECK(section(CapsuleAt({}, wrong, 1.0f)) == "capsule.half_height");
  CHECK(section({.type = static_cast<ShapeType>(7)}) == "type");
}

}  // namespace solid_collider_test
