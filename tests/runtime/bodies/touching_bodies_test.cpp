// SPDX-License-Identifier: MIT
// Bodies that touch each other.
#include "runtime/attachments/attachment_scene.h"
#include "runtime/bodies/touching_cubes.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/state/state_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace touching_bodies_test {

constexpr float kDt = TouchingCubes::kDt;
constexpr float kSize = TouchingCubes::kSize;

using Cubes = TouchingCubes;

TEST_CASE("A cube falls on another one and rests on it with its whole weight") {
  Cubes cubes(Cubes::Awake());
  AddPlane(&cubes.world, {});
  const BodyId low = cubes.Add({0, 0.002f, 0}), high = cubes.Add({0.02f, 0.25f, 0.01f});
  cubes.Step(300);
  CHECK(cubes.world.stats().body_pairs == 1);
  CHECK(cubes.world.stats().max_speed < 1e-3f);
  CHECK((cubes.flags & kStepContactsDropped) == 0);
  // It rests at the depth that keeps the contact.
  CHECK(cubes.Lowest(high) > double(kSize) - 5e-3);
  CHECK(cubes.Lowest(high) < double(kSize) + 1e-4);
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
  for (const BodyContactPoint& contact : cubes.Contacts()) {
    CHECK(contact.bodies[0] == low);
    CHECK(contact.bodies[1] == high);
    CHECK(std::fabs(contact.gap) < 2e-3f * kSize);
    CHECK(contact.normal.y < -0.99f);
    force += ToEigen(contact.force);
  }
  CHECK(-force.y() == Approx(cubes.Mass(high) * 9.81).epsilon(0.01));
  CHECK(std::hypot(force.x(), force.z()) < 0.01 * cubes.Mass(high) * 9.81);
  const Asset* const assets[] = {&cubes.shape.asset()};
  CHECK(World().LoadState(SavedState(cubes.world), assets).code == StatusCode::kMismatch);
}

// Each tet's patch has a region: more than fitted into memory that did not grow with the surface,
// so that searches gave up.
TEST_CASE("A slab of many tets that falls tilted on another one rests on it", "[long]") {
  const ShapeAsset shape(
      SurfaceBytes(TetBox(32, 2, 32, 0.03), {.parts = 1, .depth = 0.0, .num_shells = 0}));
  World world(Cubes::WithPairs(64));
  BodyDesc low, high;
  low.fixed = true;
  low.scale = 1.5f;
  low.pose.position = {-0.24f, 0.0f, -0.24f};
  high.pose = TurnedPose({0.0f, 0.15f, 0.0f}, 0.05, Eigen::Vector3d(1.0, 0.0, 1.0).normalized());
  high.material.young = 1.0e6f;
  high.material.damping = 0.02f;
  AddBody(&world, shape.asset(), low);
  const BodyId id = AddBody(&world, shape.asset(), high);
  for (int step = 0; step < 80; ++step) StepWorld(&world, kDt);
  CHECK(MomentsOf(world, id).centre[1] == Approx(0.09 + 0.03).margin(3e-3));
}

TEST_CASE("Without pairs, and against their filters, bodies pass through each other") {
  const bool has_pairs = GENERATE(false, true);
  Cubes cubes(Cubes::WithPairs(has_pairs ? 8 : 0));
  AddPlane(&cubes.world, {});
  BodyDesc own = {.filter = {.group = has_pairs ? -1 : 0}};
  cubes.Add({0, 0, 0}, 1.0e6f, own);
  const BodyId high = cubes.Add({0, 0.25f, 0}, 1.0e6f, own);
  cubes.Step(100);
  CHECK(cubes.Lowest(high) < 0.01);
  CHECK(cubes.world.stats().body_pairs == 0);
}

// Searches go by 64 pairs at a time. Slanting bars have boxes that all meet, so that the last pairs
// are of bodies that earlier ones have looked at.
TEST_CASE("Of many near pairs, the last one is searched, too") {
  constexpr int kBars = 13;
  WorldDesc desc = Cubes::WithPairs(kBars * (kBars - 1) / 2);
  desc.gravity = {};
  World world(desc);
  const ShapeAsset bar(
      SurfaceBytes(TetBox(1, 1, 20, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  const Eigen::Matrix3d slanting =  // turns z to (1, 1, 1)
      Eigen::AngleAxisd(std::acos(1.0 / std::sqrt(3.0)),
                        Eigen::Vector3d(-1.0, 1.0, 0.0) / std::sqrt(2.0))
          .toRotationMatrix();
  std::vector<BodyId> ids;
  for (int k = 0; k < kBars; ++k) {
    // The last two fly at each other. The first one slides past all, so that it is looked at in
    // each step, with all others.
    const bool is_last = k == kBars - 1, flies = k >= kBars - 2;
    const Eigen::Vector3d at = flies ? Eigen::Vector3d(is_last ? 1.0 : 0.75, 0.5, 0.0)
                                     : Eigen::Vector3d(0.25 * (k / 4), 0.25 * (k % 4), 0.0);
    const double speed = !flies ? 0.0 : is_last ? -1.0 : 1.0;
    BodyDesc body;
    body.pose = {ToVec3(slanting * at), ToQuat(slanting)};
    body.velocity = ToVec3(slanting.col(0) * speed + slanting.col(2) * (k == 0 ? 3.0 : 0.0));
    ids.push_back(AddBody(&world, bar.asset(), body));
  }
  uint32_t most_pairs = 0;
  for (int step = 0; step < 30; ++step) {
    StepWorld(&world, kDt);
    if (step == 0) CHECK(world.stats().pairs_searched == kBars * (kBars - 1) / 2);
    most_pairs = std::max(most_pairs, world.stats().body_pairs);
  }
  CHECK(most_pairs == 1);
  const auto along = [&](int k) {
    const BodyMoments moments = MomentsOf(world, ids[static_cast<size_t>(k)]);
    return slanting.col(0).dot(Eigen::Vector3d(moments.centre));
  };
  CHECK(along(kBars - 1) > along(kBars - 2) + 0.08);
}

TEST_CASE("A body that flies off at any speed leaves the others finite") {
  const float speed = GENERATE(1e6f, 1e12f, 1e25f, 3e37f);
  INFO("speed " << speed);
  WorldDesc desc = Cubes::Awake();
  desc.gravity = {};
  Cubes cubes(desc);
  const BodyId at_rest = cubes.Add({0.3f, 0, 0}), fast = cubes.Add({0, 0, 0});
  const std::vector<Vec3> velocities(cubes.shape.num_nodes(), Vec3{speed, 0.1f * speed, 0});
  REQUIRE(cubes.world.SetNodeVelocities(fast, velocities).ok());
  cubes.Step(20);
  for (const Vec3& x : cubes.Nodes(at_rest)) CHECK(std::isfinite(x.x + x.y + x.z));
}

TEST_CASE("A body that freezes acts as static: what rests on it stays") {
  const bool sleeps = GENERATE(false, true);
  const float speed = GENERATE(3.0e38f, 1.0e27f);  // no finite step follows from them
  CAPTURE(sleeps, speed);
  Cubes cubes(sleeps ? Cubes::WithPairs(64) : Cubes::Awake());
  AddPlane(&cubes.world, {});
  const BodyId low = cubes.Add({0, 0.002f, 0}), high = cubes.Add({0.02f, 0.21f, 0.01f});
  const BodyId far = cubes.Add({3.0f, 0.002f, 0});
  cubes.Step(sleeps ? 50 : 300);
  const std::vector<Vec3> held = cubes.Nodes(low), far_nodes = cubes.Nodes(far);
  const Eigen::Vector3d before = cubes.Centre(high);
  std::vector<Vec3> v(cubes.shape.num_nodes(), Vec3{speed, -speed, speed});
  v[3] = {-speed, speed, speed};
  REQUIRE(cubes.world.SetNodeVelocities(low, v).ok());
  cubes.Step(1);
  REQUIRE(cubes.world.IsFrozen(low));
  CHECK((cubes.flags & kStepBodyFrozen) != 0);
  CHECK_FALSE(cubes.world.IsFrozen(high));
  double most = 0.0;
  for (int step = 0; step < 300; ++step) {
    cubes.Step(1);
    for (const Vec3& x : cubes.Nodes(high)) REQUIRE(std::isfinite(x.x + x.y + x.z));
    most = std::max(most, (cubes.Centre(high) - before).norm());
  }
  // In the step in which the other one freezes, nothing holds it.
  CHECK(most < 1.1 * 9.81 * double(kDt) * double(kDt));
  CHECK(std::memcmp(cubes.Nodes(low).data(), held.data(), held.size() * sizeof(Vec3)) == 0);
  CHECK(cubes.world.IsFrozen(low));
  CHECK_FALSE(cubes.world.IsFrozen(far));
  if (sleeps) {
    CHECK(cubes.world.IsAsleep(high));
    return;
  }
  CHECK(cubes.world.stats().max_speed < 1e-3f);
  Eigen::Vector3d force = Eigen::Vector3d::Zero();
  for (const BodyContactPoint& contact : cubes.Contacts()) force += ToEigen(contact.force);
  CHECK(force.norm() == Approx(cubes.Mass(high) * 9.81).epsilon(0.01));
}

TEST_CASE("The forces on a body's pins hold what rests on it, too") {
  Cubes cubes(Cubes::Awake());
  const std::span<const Vec3> X = cubes.shape.asset().simulation().nodes;
  // All nodes but the middle one: the pins carry most of each contact point.
  std::vector<uint32_t> pins;
  for (uint32_t i = 0; i < X.size(); ++i) {
    if (std::fabs(X[i].x) > 1e-3f || std::fabs(X[i].z) > 1e-3f) pins.push_back(i);
  }
  const BodyId low = cubes.Add({0, 0, 0}, 1.0e6f, {.pinned_nodes = pins, .report_reactions = true});
  const BodyId high = cubes.Add({0.01f, 0.203f, 0.01f});
  cubes.Step(200);
  REQUIRE(cubes.world.stats().body_pairs == 1);
  std::vector<Vec3> forces(X.size());
  REQUIRE(cubes.world.NodeReactions(low, forces).ok());
  double sum = 0.0;
  for (const Vec3& force : forces) sum += double(force.y);
  // They are forces on the targets, which press down.
  CHECK(-sum == Approx((cubes.Mass(low) + cubes.Mass(high)) * 9.81).epsilon(0.01));
}

// What lay on the body that has gone falls: the next search must expect that.
TEST_CASE("A world goes on after a body has gone as one that loads its state", "[long]") {
  const ShapeAsset plate(
      SurfaceBytes(TetBox(8, 2, 8, 0.05), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  const Asset* const assets[] = {&plate.asset()};
  for (int k = 1; k <= 16; ++k) {
    const float above = 2.5e-4f * static_cast<float>(k);  // how high it hangs over a third one [m]
    CAPTURE(above);
    World world(Cubes::Awake()), loaded(Cubes::Awake());
    AddPlane(&world, {});
    BodyDesc fixed, body;
    fixed.fixed = true;
    fixed.pose.position.y = above;
    const BodyId support = AddBody(&world, plate.asset(), fixed);
    body.material.young = 2.0e5f;
    body.pose.position = {0.42f, 0.002f, 0.0f};
    AddBody(&world, plate.asset(), body);
    body.pose.position = {0.12f, 0.101f + above, 0.02f};
    AddBody(&world, plate.asset(), body);
    for (int step = 0; step < 40; ++step) StepWorld(&world, kDt);
    REQUIRE(world.RemoveBody(support).ok());
    REQUIRE(loaded.LoadState(SavedState(world), assets).ok());
    for (int step = 0; step < 3; ++step) {
      StepWorld(&world, kDt);
      StepWorld(&loaded, kDt);
      CHECK(world.StateHash() == loaded.StateHash());
    }
  }
}

// A stiff spring takes the coarse level from the cube that it holds. Others keep theirs.
TEST_CASE("A stack stays at rest if a spring takes hold of a cube below another one", "[long]") {
  const float young = GENERATE(3.0e5f, 1.0e6f, 1.0e7f), stiffness = GENERATE(1.0e-3f, 1.0e5f);
  const int count = GENERATE(2, 3);
  CAPTURE(young, stiffness, count);
  Cubes cubes(Cubes::Awake());
  AddPlane(&cubes.world, {});
  for (int k = 0; k < count; ++k) {
    const auto level = static_cast<float>(k);
    cubes.Add({0.002f * level, 1.001f * kSize * level, 0.0f}, young);
  }
  cubes.Step(200);
  REQUIRE(cubes.world.stats().max_speed < 1e-2f);
  AttachmentDesc spring = {.body = cubes.ids[static_cast<size_t>(count) - 2],
                           .weights = {1.0f, 0.0f, 0.0f, 0.0f}};
  spring.target = cubes.Nodes(spring.body)[0];
  spring.stiffness = stiffness;
  Attach(&cubes.world, spring);
  for (int step = 0; step < 100; ++step) {
    cubes.Step(1);
    CHECK(cubes.world.stats().max_speed < 2e-2f);
  }
}

// It keeps its coarse level: without, it would resist its own turn.
TEST_CASE("A beam on the weakest spring tips over the edge of a body as one without") {
  const float young = GENERATE(1.0e6f, 1.0e7f);
  CAPTURE(young);
  const ShapeAsset beam(
      SurfaceBytes(TetBox(8, 2, 2, 0.05), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  double lowest[2];
  for (const bool has_spring : {false, true}) {
    Cubes cubes(Cubes::Awake());
    BodyDesc fixed, desc;
    fixed.fixed = true;
    cubes.Add({}, 1.0e6f, fixed);
    desc.pose.position = {0.1f, kSize, 0.05f};  // its middle is 0.1 m beside the cube
    desc.material.young = young;
    const BodyId id = AddBody(&cubes.world, beam.asset(), desc);
    AttachmentDesc spring = {.body = id, .weights = {1.0f, 0.0f, 0.0f, 0.0f}, .stiffness = 1.0e-3f};
    if (has_spring) Attach(&cubes.world, spring);
    cubes.Step(30);
    lowest[has_spring ? 1 : 0] = double(kSize);
    for (const Vec3& x : PositionsOf(cubes.world, id, beam.num_nodes())) {
      lowest[has_spring ? 1 : 0] = std::min(lowest[has_spring ? 1 : 0], double(x.y));
    }
  }
  CHECK(lowest[0] < 0.1);
  CHECK(lowest[1] == Approx(lowest[0]).margin(0.01));
}

TEST_CASE("A body that is put beside another one falls: its old contacts with it are gone") {
  for (int steps = 1; steps < 12; ++steps) {
    const bool teleports = steps % 2 == 0;
    CAPTURE(steps, teleports);
    Cubes cubes(Cubes::Awake());
    // Turned, so that its bounding box has empty corners.
    BodyDesc fixed = {.pose = {.rotation = {0.0f, 0.38268343f, 0.0f, 0.9238795f}}, .fixed = true};
    const BodyId low = cubes.Add({0, 0, 0}, 1.0e6f, fixed), high = cubes.Add({0, 0.201f, 0});
    cubes.Step(steps);
    const Eigen::Vector3d corner = cubes.Centre(low) + Eigen::Vector3d(0.21, 0.0, 0.21);
    const Eigen::Vector3d shift = corner - cubes.Centre(high);
    std::vector<Vec3> nodes = cubes.Nodes(high);
    for (Vec3& x : nodes) x += ToVec3(shift);
    if (teleports) {
      Pose pose;
      REQUIRE(cubes.world.BestFitPose(high, &pose).ok());
      pose.position += ToVec3(shift);
      REQUIRE(cubes.world.Teleport(high, pose).ok());
    } else {
      REQUIRE(cubes.world.SetNodePositions(high, nodes).ok());
    }
    REQUIRE(cubes.world.SetNodeVelocities(high, std::vector<Vec3>(nodes.size())).ok());
    cubes.Step(1);
    CHECK(cubes.Contacts().empty());
    const double fallen = -MomentsOf(cubes.world, high).linear_momentum[1] / cubes.Mass(high);
    CHECK(fallen == Approx(9.81 * double(kDt)).epsilon(1e-3));
  }
}

TEST_CASE("Contacts between bodies are reported once a pair") {
  Cubes cubes;
  AddPlane(&cubes.world, {});
  BodyDesc reports = {.report_contacts = true};
  const BodyId low = cubes.Add({0, 0, 0}), high = cubes.Add({0, 0.25f, 0}, 1.0e6f, reports);
  int began = 0, ended = 0;
  double impulse = 0.0;
  for (int step = 0; step < 300; ++step) {
    if (step == 250) REQUIRE(cubes.world.Teleport(high, {.position = {3.0f, 0.3f, 0.0f}}).ok());
    cubes.Step(1);
    for (const ContactEvent& event : cubes.world.contact_events()) {
      if (!event.other_body.valid()) continue;
      CHECK(event.body == low);
      CHECK(event.other_body == high);
      CHECK(!event.collider.valid());
      began += event.type == ContactEventType::kBegan ? 1 : 0;
      ended += event.type == ContactEventType::kEnded ? 1 : 0;
      impulse += double(event.impulse);
      if (event.type == ContactEventType::kBegan) {
        CHECK(event.approach_speed == Approx(0.9).margin(0.25));
        CHECK(event.normal.y < -0.99f);
        CHECK(event.point.y == Approx(0.2f).margin(0.01f));
      }
    }
  }
  CHECK(began == 1);
  CHECK(ended == 1);
  CHECK(impulse > cubes.Mass(high) * 0.9);
}

}  // namespace touching_bodies_test
