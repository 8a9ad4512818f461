// SPDX-License-Identifier: MIT
// Bodies between two planes.
#include "runtime/contact/plane_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush;
using namespace plush::test;

namespace corner_test {

// A body whose faces x = 0 and y = 0 lie on two planes that meet in the z axis, each 45 degrees
// steep if `down` is -y. The scene is turned by a random rotation; what it answers is turned back.
struct Corner {
  Corner(const tools::TetMesh& mesh, float friction, const Eigen::Vector3d& down, uint32_t seed)
      : shape(mesh, kMaterial), turn(Random(seed).Rotation()), world(DescOf(turn, down)) {
    const double h = std::sqrt(0.5);
    AddPlane(&world, {ToVec3(turn * Eigen::Vector3d(h, h, 0.0)), 0.0f}, friction);
    AddPlane(&world, {ToVec3(turn * Eigen::Vector3d(-h, h, 0.0)), 0.0f}, friction);
    BodyDesc body;
    body.pose.rotation =
        ToQuat(turn * Eigen::AngleAxisd(kQuarter, Eigen::Vector3d::UnitZ()).toRotationMatrix());
    id = AddBody(&world, shape.asset(), body);
  }

  static WorldDesc DescOf(const Eigen::Matrix3d& turn, const Eigen::Vector3d& down) {
    return WorldDesc{.gravity = ToVec3(turn * (kGravity * down)), .sleep = {.speed = 0.0f}};
  }
  Eigen::Vector3d Velocity() const {
    const BodyMoments m = MomentsOf(world, id);
    return turn.transpose() * Eigen::Vector3d(m.linear_momentum) / m.mass;
  }
  Eigen::Vector3d Centre() const {
    return turn.transpose() * Eigen::Vector3d(MomentsOf(world, id).centre);
  }

  static constexpr double kQuarter = 0.78539816339744831;  // pi / 4
  ShapeAsset shape;
  Eigen::Matrix3d turn;
  World world;
  BodyId id;
};

TEST_CASE("A body that falls into a corner comes to rest in it") {
  const double tilt = GENERATE(0.4, 0.785398);
  const float friction = GENERATE(0.0f, 0.4f);
  CAPTURE(tilt, friction);
  const ShapeAsset shape(TetBox(3, 3, 3, 0.1, 0.05, 4), kMaterial);
  const float s = static_cast<float>(std::sin(tilt)), c = static_cast<float>(std::cos(tilt));
  World world;
  AddPlane(&world, {{s, c, 0.0f}, 0.0f}, friction);
  AddPlane(&world, {{-s, c, 0.0f}, 0.0f}, friction);
  const BodyId id = AddBody(&world, shape.asset(), {.pose = {.position = {-0.15f, 0.3f, 0.0f}}});
  for (int step = 0; step < 400; ++step) {  // undamped, without friction it rocks for 300
    REQUIRE((StepWorld(&world, kDt) & kStepBodyFrozen) == 0u);
    REQUIRE(MeasuresOf(world).max_penetration < 1e-3 * SizeOf(shape));
  }
  CHECK(world.stats().contacts > 0);
  CHECK(world.stats().max_speed < 0.01f);
  CHECK(std::fabs(MomentsOf(world, id).centre[0]) < 0.1);
  CHECK(MomentsOf(world, id).volume == Approx(0.027).epsilon(0.02));
}

TEST_CASE("Two planes make a corner that holds a body flush against both") {
  const float friction = GENERATE(0.0f, 0.4f);
  const double lean = GENERATE(0.0, -0.5, 0.5);  // of gravity, in the plane of both normals [rad]
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(friction, lean, seed);
  Corner corner(TetBox(3, 3, 3, 0.1), friction, {std::sin(lean), -std::cos(lean), 0.0}, seed);
  for (int step = 0; step < 100; ++step) {
    StepWorld(&corner.world, kDt);
    REQUIRE(MeasuresOf(corner.world).max_penetration < 1e-5 * SizeOf(corner.shape));
  }
  // Two faces of 16 nodes; those of the edge touch both planes.
  CHECK(corner.world.stats().contacts <= 32);
  CHECK(corner.world.stats().contacts >= (friction == 0.0f ? 32u : 28u));
  CHECK(corner.world.stats().max_speed < 1e-3f);
  const Eigen::Vector3d before = corner.Velocity();
  for (int step = 0; step < 50; ++step) StepWorld(&corner.world, kDt);
  CHECK((corner.Velocity() - before).norm() < 1e-4 * kGravity * 50 * double(kDt));
  // The middle of the box, less about rho g h^2 / 2 E of squash for each plane.
  const Eigen::Vector3d middle(0.0, 0.15 * std::sqrt(2.0), 0.15);
  CHECK((corner.Centre() - middle).norm() < 2e-3);
}

TEST_CASE("Along a corner a body slides with the friction of both planes") {
  const float friction = GENERATE(0.0f, 0.1f, 0.2f, 0.4f);
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(friction, seed);
  // No node in the corner itself: its edge is cut off.
  tools::TetMesh mesh = TetBox(3, 3, 3, 0.1);
  for (tools::Vec3d& node : mesh.nodes) {
    if (node.x < 0.05 && node.y < 0.05) node.x = node.y = 0.03;
  }
  const double along = 3.0;
  Corner corner(mesh, friction, {0.0, -1.0, along / kGravity}, seed);
  for (int step = 0; step < 50; ++step) StepWorld(&corner.world, kDt);
  const Eigen::Vector3d before = corner.Velocity();
  for (int step = 0; step < 50; ++step) StepWorld(&corner.world, kDt);
  const Eigen::Vector3d acceleration = (corner.Velocity() - before) / (50 * double(kDt));
  // Each plane carries m g / sqrt(2).
  const double expected = std::max(along - double(friction) * kGravity * std::sqrt(2.0), 0.0);
  CAPTURE(acceleration.transpose(), expected);
  CHECK(corner.world.stats().contacts == 24);
  CHECK(std::fabs(acceleration.z() - expected) < 2e-3 * along);
  CHECK(acceleration.head(2).norm() < 2e-3 * along);
}

TEST_CASE("Nodes that touch two planes feel the friction of both") {
  const uint32_t seed = GENERATE(1u, 2u);
  const float friction = GENERATE(0.0f, 0.1f, 0.8f);
  CAPTURE(seed, friction);
  // A prism on its edge, which alone touches the planes.
  tools::TetMesh mesh;
  for (const double z : {0.0, 0.3}) {
    mesh.nodes.push_back({0.0, 0.0, z});
    mesh.nodes.push_back({0.1, 0.05, z});
    mesh.nodes.push_back({0.05, 0.1, z});
  }
  mesh.tets = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}};
  Corner corner(mesh, friction, {0.0, -1.0, 0.3}, seed);
  for (int step = 0; step < 20; ++step) StepWorld(&corner.world, kDt);
  CHECK(corner.world.stats().contacts == 4);
  // Each plane carries m g / sqrt(2).
  const double share = std::max(0.3 - double(friction) * std::sqrt(2.0), 0.0);
  CHECK(std::fabs(corner.Velocity().z() - share * kGravity * 20 * double(kDt)) <
        1e-3 * kGravity * 20 * double(kDt));
}

}  // namespace corner_test
