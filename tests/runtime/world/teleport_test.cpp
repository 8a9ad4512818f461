// SPDX-License-Identifier: MIT
// Teleport and ResetBody: rigid moves of a body as it is, and new beginnings.
#include "plush/collision.h"

#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace teleport_test {

constexpr float kDt = 0.01f;

// A rigid motion x -> R x + t.
struct Motion {
  Eigen::Matrix3d R;
  Eigen::Vector3d t;
};

// What takes the body's best fit to `pose`.
Motion MotionTo(const World& world, BodyId id, const Pose& pose) {
  Pose fit;
  REQUIRE(world.BestFitPose(id, &fit).ok());
  const Eigen::Matrix3d R = RotationOf(pose.rotation) * RotationOf(fit.rotation).transpose();
  return {R, ToEigen(pose.position) - R * ToEigen(fit.position)};
}

Points Moved(const Motion& motion, const Points& x) { return (motion.R * x).colwise() + motion.t; }

Points XOf(const World& world, BodyId id, const ShapeAsset& shape) {
  return ToEigen(PositionsOf(world, id, shape.num_nodes()));
}
Points VOf(const World& world, BodyId id, const ShapeAsset& shape) {
  return ToEigen(VelocitiesOf(world, id, shape.num_nodes()));
}

// Largest change of a distance between two nodes.
double ShapeChange(const Points& a, const Points& b) {
  double most = 0.0;
  for (Eigen::Index i = 0; i < a.cols(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      most =
          std::fmax(most, std::fabs((a.col(i) - a.col(j)).norm() - (b.col(i) - b.col(j)).norm()));
    }
  }
  return most;
}

std::vector<BodyId> AddWobbling(World* world, const ShapeAsset& shape, int count, float scale,
                                std::span<const uint32_t> pins) {
  std::vector<BodyId> ids;
  Random random(3);
  for (int i = 0; i < count; ++i) {
    BodyDesc desc;
    desc.pose = {{4.0f * static_cast<float>(i), 1.0f, 0.0f}, ToQuat(random.Rotation())};
    desc.scale = scale;
    desc.pinned_nodes = pins;
    ids.push_back(AddBody(world, shape.asset(), desc));
    const Points v = random.Vectors(shape.num_nodes(), 2.0 * double(scale));
    REQUIRE(world->SetNodeVelocities(ids.back(), ToVec3s(v)).ok());
  }
  for (int step = 0; step < 10; ++step) StepWorld(world, kDt);
  return ids;
}

std::vector<Vec3> Wild(const ShapeAsset& shape) {
  std::vector<Vec3> v(shape.num_nodes());
  for (size_t i = 0; i < v.size(); ++i) v[i].y = i % 2 == 0 ? 3.0e38f : -3.0e38f;
  return v;
}

TEST_CASE("A teleported body goes on as before, at another place") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const int count = GENERATE(1, 8);  // alone, in a crowd
  const bool pinned = GENERATE(false, true);
  const float scale = seed == 2 ? 2.5f : 1.0f;
  CAPTURE(seed, count, pinned);
  const ShapeAsset shape = CrowdBox(seed);
  const std::span<const uint32_t> pins =
      pinned ? shape.asset().region(0).nodes : std::span<const uint32_t>();
  World stays({.gravity = {}}), moves({.gravity = {}});
  const BodyId a = AddWobbling(&stays, shape, count, scale, pins).back();
  const BodyId b = AddWobbling(&moves, shape, count, scale, pins).back();
  Random random(seed);
  Pose pose;
  REQUIRE(stays.BestFitPose(a, &pose).ok());
  const Eigen::AngleAxisd turn(2.5, random.Direction());
  pose = {ToVec3(random.Vector(5.0)), ToQuat(turn.toRotationMatrix() * RotationOf(pose.rotation))};
  const Motion motion = MotionTo(stays, a, pose);
  REQUIRE(moves.Teleport(b, pose).ok());
  const double s = double(scale);
  CHECK(ShapeChange(XOf(stays, a, shape), XOf(moves, b, shape)) < 3e-6 * s);
  CHECK((XOf(moves, b, shape) - Moved(motion, XOf(stays, a, shape))).cwiseAbs().maxCoeff() <
        1e-5 * s);
  CHECK((VOf(moves, b, shape) - motion.R * VOf(stays, a, shape)).cwiseAbs().maxCoeff() < 1e-5 * s);
  Pose fit;
  REQUIRE(moves.BestFitPose(b, &fit).ok());
  CHECK(AngleBetween(RotationOf(fit.rotation), RotationOf(pose.rotation)) < 1e-5);
  CHECK((ToEigen(fit.position) - ToEigen(pose.position)).norm() < 1e-5 * s);
  for (int step = 0; step < 20; ++step) {
    StepWorld(&stays, kDt);
    StepWorld(&moves, kDt);
    REQUIRE((XOf(moves, b, shape) - Moved(motion, XOf(stays, a, shape))).cwiseAbs().maxCoeff() <
            1e-4 * s);
  }
  if (pinned) {
    const Points x = XOf(moves, b, shape), expected = Moved(motion, XOf(stays, a, shape));
    for (const uint32_t pin : pins) CHECK((x.col(pin) - expected.col(pin)).norm() < 1e-5 * s);
  }
}

TEST_CASE("Many teleports and one back leave the shape as it was") {
  const ShapeAsset shape = CrowdBox(4);
  World world({.gravity = {}});
  const BodyId id = AddWobbling(&world, shape, 1, 1.0f, {}).back();
  Pose home;
  REQUIRE(world.BestFitPose(id, &home).ok());
  const Points x = XOf(world, id, shape), v = VOf(world, id, shape);
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    const double far = i % 10 == 0 ? 9.0e8 : 100.0;
    REQUIRE(world.Teleport(id, {ToVec3(random.Vector(far)), ToQuat(random.Rotation())}).ok());
  }
  REQUIRE(world.Teleport(id, home).ok());
  CHECK(ShapeChange(XOf(world, id, shape), x) < 5e-6);
  CHECK((XOf(world, id, shape) - x).cwiseAbs().maxCoeff() < 1e-4);
  CHECK((VOf(world, id, shape) - v).cwiseAbs().maxCoeff() < 2e-3);
}

TEST_CASE("A teleport forgets contacts, wakes, and moves what queries find") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {1.0e5, 0.4, 1000.0, 0.05}, double(kDt));
  World world;
  ColliderId floor;
  REQUIRE(world.AddCollider({}, &floor).ok());
  const BodyId id = AddBody(&world, shape.asset());
  int steps = 0;
  while (!world.IsAsleep(id) && ++steps < 2000) StepWorld(&world, kDt);
  REQUIRE(world.IsAsleep(id));
  CHECK(world.stats().contacts > 0);
  SurfacePoint hit;
  const Ray down = {.origin = {0.1f, 9.0f, 0.1f}}, there = {.origin = {50.1f, 9.0f, 0.1f}};
  REQUIRE(world.Raycast(down, {}, &hit).ok());
  CHECK(hit.valid());
  CHECK(DrawnContacts(world) > 0);
  REQUIRE(world.Teleport(id, {{50.0f, 2.0f, 0.0f}, {}}).ok());
  CHECK_FALSE(world.IsAsleep(id));
  CHECK(DrawnContacts(world) == 0);
  REQUIRE(world.Raycast(down, {}, &hit).ok());
  CHECK_FALSE(hit.valid());
  REQUIRE(world.Raycast(there, {}, &hit).ok());
  CHECK(hit.valid());
  CHECK(hit.position.y == Approx(2.2f).margin(5e-3));
  StepWorld(&world, kDt);
  CHECK(world.stats().contacts == 0);
  for (const Vec3& v : VelocitiesOf(world, id, shape.num_nodes())) {
    CHECK(v.y == Approx(-9.81f * kDt).margin(0.03));
  }
}

TEST_CASE("A teleport and a reset forget targets of pins") {
  const ShapeAsset shape = CrowdBox(4);
  const bool reset = GENERATE(false, true);
  const int what = GENERATE(0, 1);  // by region, by nodes
  CAPTURE(reset, what);
  World world;
  const std::span<const uint32_t> pins = shape.asset().region(0).nodes;
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  REQUIRE(world.MovePins(id, 0, {{0.01f, 0.0f, 0.0f}, {}}).ok());
  StepWorld(&world, kDt);
  if (what == 0) {
    REQUIRE(world.MovePins(id, 0, {{0.02f, 0.0f, 0.0f}, {}}).ok());
  } else {
    const std::vector<Vec3> to(pins.size(), Vec3{1, 1, 1});
    REQUIRE(world.MovePins(id, pins, to).ok());
  }
  const Pose pose = {{3.0f, 4.0f, 5.0f}, {0.0f, 0.6f, 0.0f, 0.8f}};
  REQUIRE((reset ? world.ResetBody(id, pose) : world.Teleport(id, pose)).ok());
  const Points x = XOf(world, id, shape);
  StepWorld(&world, kDt);
  for (const uint32_t pin : pins)
    CHECK((XOf(world, id, shape).col(pin) - x.col(pin)).norm() == 0.0);
  // From there, targets count again.
  REQUIRE(world.MovePins(id, 0, {{3.0f, 4.001f, 5.0f}, pose.rotation}).ok());
  StepWorld(&world, kDt);
  const Eigen::Matrix3d R = RotationOf(pose.rotation);
  const Points rest = ToEigen(shape.rest());
  for (const uint32_t pin : pins) {
    CHECK(
        (XOf(world, id, shape).col(pin) - R * rest.col(pin) - Eigen::Vector3d(3, 4.001, 5)).norm() <
        1e-5);
  }
}

TEST_CASE("A target set before new positions is reached from them") {
  const ShapeAsset shape = CrowdBox(4);
  World world;
  const std::span<const uint32_t> pins = shape.asset().region(0).nodes;
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins});
  const Pose target = {{8.0f, 0.003f, 0.0f}, {}};
  REQUIRE(world.MovePins(id, 0, target).ok());
  const Points rest = ToEigen(shape.rest());
  const Points shifted = rest.colwise() + Eigen::Vector3d(8.0, 0.0, 0.0);
  REQUIRE(world.SetNodePositions(id, ToVec3s(shifted)).ok());
  StepWorld(&world, kDt);
  for (const uint32_t pin : pins) {
    CHECK((XOf(world, id, shape).col(pin) - rest.col(pin) - ToEigen(target.position)).norm() <
          2e-6);
  }
}

TEST_CASE("A reset body is a new one, bit for bit") {
  const int count = GENERATE(1, 8);
  const float scale = GENERATE(1.0f, 0.7f);
  const bool pinned = GENERATE(false, true);
  const float before = GENERATE(0.01f, 0.004f);  // time step of what came before
  CAPTURE(count, scale, pinned, before);
  const ShapeAsset shape = CrowdBox(5);
  const Pose pose = {{1.0f, 2.0f, 3.0f}, {0.5f, -0.5f, 0.5f, 0.5f}};
  BodyDesc desc = {.pose = pose, .scale = scale};
  if (pinned) desc.pinned_nodes = shape.asset().region(0).nodes;
  World fresh, reset;
  std::vector<BodyId> ids;
  for (int i = 0; i < count; ++i) {
    AddBody(&fresh, shape.asset(), desc);
    BodyDesc other = desc;
    other.pose = {{7.0f + static_cast<float>(i), 0.0f, 0.0f}, {}};
    other.velocity = {100.0f, 1.0f, 2.0f};
    ids.push_back(AddBody(&reset, shape.asset(), other));
  }
  for (int step = 0; step < 30; ++step) StepWorld(&reset, before);
  for (const BodyId id : ids) REQUIRE(reset.ResetBody(id, pose).ok());
  CHECK(reset.StateHash() == fresh.StateHash());
  for (int step = 0; step < 30; ++step) {
    StepWorld(&reset, kDt);
    StepWorld(&fresh, kDt);
    REQUIRE(reset.StateHash() == fresh.StateHash());
  }
}

TEST_CASE("A frozen body is not teleported, and a reset revives it") {
  const ShapeAsset shape = CrowdBox(5);
  const int count = GENERATE(1, 8);
  World world({.gravity = {}}), fresh({.gravity = {}});
  BodyId id, same;
  for (int i = 0; i < count; ++i) {
    id = AddBody(&world, shape.asset());
    same = AddBody(&fresh, shape.asset());
  }
  CHECK_FALSE(world.IsFrozen(id));
  REQUIRE(world.SetNodeVelocities(id, Wild(shape)).ok());
  uint32_t flags = 0;
  for (int step = 0; step < 20; ++step) flags |= StepWorld(&world, kDt);
  REQUIRE((flags & kStepBodyFrozen) != 0);
  CHECK(world.IsFrozen(id));
  const uint64_t hash = world.StateHash();
  CHECK(world.Teleport(id, {}).code == StatusCode::kInvalidArgument);
  CHECK(world.StateHash() == hash);
  REQUIRE(world.ResetBody(id, {}).ok());
  CHECK_FALSE(world.IsFrozen(id));
  CHECK(StateOf(world, id, shape.num_nodes()) == StateOf(fresh, same, shape.num_nodes()));
  for (int step = 0; step < 20; ++step) CHECK(StepWorld(&world, kDt) == kStepOk);
}

TEST_CASE("Fixed scenery is teleported, reset and placed too") {
  const ShapeAsset shape = CrowdBox(5);
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.fixed = true});
  REQUIRE(world.Teleport(id, {{1.0f, 2.0f, 3.0f}, {}}).ok());
  const Points expected = ToEigen(shape.rest()).colwise() + Eigen::Vector3d(1, 2, 3);
  CHECK((XOf(world, id, shape) - expected).cwiseAbs().maxCoeff() < 1e-5);
  StepWorld(&world, kDt);
  CHECK((XOf(world, id, shape) - expected).cwiseAbs().maxCoeff() < 1e-5);
  REQUIRE(world.ResetBody(id, {}).ok());
  StepWorld(&world, kDt);
  CHECK((XOf(world, id, shape) - ToEigen(shape.rest())).cwiseAbs().maxCoeff() < 1e-5);
  REQUIRE(world.SetNodePositions(id, ToVec3s(expected)).ok());
  StepWorld(&world, kDt);
  CHECK((XOf(world, id, shape) - expected).cwiseAbs().maxCoeff() < 1e-5);
}

TEST_CASE("Teleports and resets refuse wrong poses") {
  const ShapeAsset shape = CrowdBox(5);
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const uint64_t hash = world.StateHash();
  const float inf = std::numeric_limits<float>::infinity();
  for (const float wrong : {std::numeric_limits<float>::quiet_NaN(), inf, -inf}) {
    const Pose places[] = {{{wrong, 0, 0}, {}}, {{0, wrong, 0}, {}}, {{0, 0, wrong}, {}}};
    const Pose turns[] = {{{}, {wrong, 0, 0, 1}}, {{}, {0, 0, 0, wrong}}};
    for (const Pose& pose : places) {
      CHECK(world.Teleport(id, pose).section == std::string("pose.position"));
      CHECK(world.ResetBody(id, pose).section == std::string("pose.position"));
    }
    for (const Pose& pose : turns) {
      CHECK(world.Teleport(id, pose).section == std::string("pose.rotation"));
      CHECK(world.ResetBody(id, pose).section == std::string("pose.rotation"));
    }
  }
  CHECK_FALSE(world.Teleport(id, {{1.01f * kMostCoordinate, 0, 0}, {}}).ok());
  CHECK_FALSE(world.ResetBody(id, {{}, {0, 0, 0, 0}}).ok());
  CHECK(world.StateHash() == hash);
}

}  // namespace teleport_test
