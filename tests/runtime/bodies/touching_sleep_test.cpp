// SPDX-License-Identifier: MIT
// Bodies that touch each other sleep and wake together.
#include "runtime/attachments/attachment_scene.h"
#include "runtime/bodies/touching_cubes.h"
#include "runtime/colliders/solid_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace touching_sleep_test {

constexpr float kDt = TouchingCubes::kDt;
constexpr float kSize = TouchingCubes::kSize;

using Cubes = TouchingCubes;

TEST_CASE("Bodies that touch fall asleep together, wake together, and when one goes") {
  Cubes cubes;
  AddPlane(&cubes.world, {});
  for (int k = 0; k < 3; ++k) cubes.Add({0, 0.001f + 0.201f * float(k), 0});
  const BodyId far = cubes.Add({2, 0, 0});
  cubes.Step(400);
  REQUIRE(cubes.world.stats().asleep == 4);
  const size_t contacts = cubes.Contacts().size();
  CHECK(contacts > 0);
  cubes.Step(10);
  CHECK(cubes.Contacts().size() == contacts);
  SECTION("a poke") {
    const std::vector<Vec3> impulses(cubes.shape.num_nodes(), Vec3{0.0f, 0.0f, 0.005f});
    REQUIRE(cubes.world.AddImpulses(cubes.ids[2], impulses).ok());
    cubes.Step(1);
    CHECK(cubes.world.stats().asleep == 1);
    CHECK(cubes.world.stats().body_pairs == 2);
    CHECK(cubes.world.IsAsleep(far));
  }
  SECTION("a body that falls on them") {
    cubes.Add({0, 0.8f, 0});
    cubes.Step(60);
    CHECK(cubes.world.stats().body_pairs == 3);
    CHECK(cubes.world.stats().asleep == 1);
  }
  SECTION("one that goes") {
    const size_t gone = GENERATE(0u, 1u, 2u);
    REQUIRE(cubes.world.RemoveBody(cubes.ids[gone]).ok());
    CHECK(cubes.Contacts().size() < contacts);
    cubes.Step(100);
    const BodyId top = cubes.ids[gone == 2 ? 1 : 2];
    CHECK(cubes.Lowest(top) < 0.25);
    CHECK(cubes.Lowest(top) > 0.19);
  }
}

TEST_CASE("A fixed body holds others and sleeps apart from them") {
  Cubes cubes;
  const BodyId floor = cubes.Add({0, 0, 0}, 1.0e6f, {.fixed = true});
  const BodyId top = cubes.Add({0.05f, 0.25f, 0});
  cubes.Step(400);
  CHECK(cubes.Lowest(top) == Approx(double(kSize)).margin(1e-3));
  CHECK(cubes.world.IsAsleep(top));
  CHECK(cubes.Lowest(floor) == Approx(0.0).margin(1e-6));
}

TEST_CASE("A fixed body whose pins move carries, lowers, lifts and pushes sleeping ones") {
  // A way in metres per step for 20 steps, and where the cube in its way is when it starts.
  struct Case {
    Vec3 way, from;
  };
  const auto of = GENERATE(Case{{0, -1e-3f, 0}, {0.05f, 0.203f, 0}},     // lowers it
                           Case{{0, 1e-3f, 0}, {0.05f, 0.203f, 0}},      // lifts it
                           Case{{1e-3f, 0, 0}, {0.05f, 0.203f, 0}},      // carries it
                           Case{{2e-3f, 0, 0}, {0.215f, 0.0f, 0.03f}});  // pushes it over the floor
  const bool on_floor = of.from.y == 0.0f;
  INFO("way " << of.way.x << ", " << of.way.y);
  Cubes cubes;
  if (on_floor) AddPlane(&cubes.world, {});
  BodyDesc fixed = {.material = {.friction = 0.8f}, .fixed = true};
  const BodyId floor = cubes.Add({0, 0, 0}, 1.0e6f, fixed), other = cubes.Add(of.from);
  cubes.Step(400);
  REQUIRE(cubes.world.IsAsleep(other));
  const Eigen::Vector3d before = cubes.Centre(other);
  const std::vector<Vec3> start = cubes.Nodes(floor);
  std::vector<uint32_t> nodes(start.size());
  std::vector<Vec3> targets(start.size());
  for (int step = 1; step <= 20; ++step) {
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      nodes[i] = i;
      targets[i] = start[i] + of.way * static_cast<float>(step);
    }
    REQUIRE(cubes.world.MovePins(floor, nodes, targets).ok());
    cubes.Step(1);
  }
  const Eigen::Vector3d speed = ToEigen(of.way) / double(kDt), way = 20 * ToEigen(of.way);
  const BodyMoments moving = MomentsOf(cubes.world, other);
  cubes.Step(100);
  const Eigen::Vector3d moved = cubes.Centre(other) - before;
  if (on_floor) {
    // It was 1.5 cm away, and slides on a little.
    CHECK(moved.x() > way.x() - 0.016);
    CHECK(moved.x() < way.x());
    CHECK(std::hypot(moved.y(), moved.z()) < 2e-3);
    return;
  }
  CHECK((Eigen::Vector3d(moving.linear_momentum) / moving.mass - speed).norm() <
        0.2 * speed.norm());
  CHECK((moved - way).norm() < 2e-3);
}

TEST_CASE("What rests on a fixed body wakes when a call takes it away") {
  const int call = GENERATE(0, 1, 2, 3);
  CAPTURE(call);
  Cubes cubes;
  const BodyId floor = cubes.Add({0, 0, 0}, 1.0e6f, {.fixed = true});
  const BodyId top = cubes.Add({0.05f, 0.203f, 0});
  cubes.Step(300);
  REQUIRE(cubes.world.IsAsleep(top));
  Pose away = {.position = {3, 0, 0}};
  const Status changed = call == 0   ? cubes.world.SetEnabled(floor, false)
                         : call == 1 ? cubes.world.Teleport(floor, away)
                         : call == 2 ? cubes.world.ResetBody(floor, away)
                                     : cubes.world.SetFilter(floor, {.mask = 0});
  REQUIRE(changed.ok());
  cubes.Step(20);
  CHECK(cubes.Lowest(top) < 0.15);
}

TEST_CASE("A fixed body that a call puts into a sleeping one wakes it") {
  const int call = GENERATE(0, 1, 2, 3, 4, 5);
  CAPTURE(call);
  Cubes cubes;
  AddPlane(&cubes.world, {});
  BodyDesc fixed = {.fixed = true};
  const Vec3 there = {0.15f, 0.0f, 0.0f}, away = {2.0f, 0.0f, 0.0f};
  BodyId wall;
  if (call > 0) wall = cubes.Add(call < 4 ? away : there, 1.0e6f, fixed);
  if (call == 4) REQUIRE(cubes.world.SetEnabled(wall, false).ok());
  if (call == 5) REQUIRE(cubes.world.SetFilter(wall, {.mask = 0}).ok());
  const BodyId other = cubes.Add({0, 0.001f, 0});
  cubes.Step(300);
  REQUIRE(cubes.world.IsAsleep(other));
  if (call == 0) cubes.Add(there, 1.0e6f, fixed);
  if (call == 1) REQUIRE(cubes.world.Teleport(wall, {there}).ok());
  if (call == 2) REQUIRE(cubes.world.ResetBody(wall, {there}).ok());
  if (call == 3) {
    std::vector<Vec3> x = cubes.Nodes(wall);
    for (Vec3& at : x) at = at + there - away;
    REQUIRE(cubes.world.SetNodePositions(wall, x).ok());
  }
  if (call == 4) REQUIRE(cubes.world.SetEnabled(wall, true).ok());
  if (call == 5) REQUIRE(cubes.world.SetFilter(wall, {}).ok());
  const double before = cubes.Centre(other).x();
  cubes.Step(300);
  CHECK(cubes.Centre(other).x() < before - 0.04);
  CHECK(cubes.world.IsAsleep(other));
}

TEST_CASE("A fixed body that the game moves to where it is in each frame lets others sleep") {
  Cubes cubes;
  const BodyId floor = cubes.Add({0, 0, 0}, 1.0e6f, {.fixed = true});
  const BodyId top = cubes.Add({0.05f, 0.203f, 0});
  const std::vector<Vec3> targets = cubes.Nodes(floor);
  std::vector<uint32_t> nodes(targets.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) nodes[i] = i;
  for (int step = 0; step < 300; ++step) {
    REQUIRE(cubes.world.MovePins(floor, nodes, targets).ok());
    cubes.Step(1);
  }
  CHECK(cubes.world.IsAsleep(top));
}

TEST_CASE("A body that a spring joins to a frozen one falls asleep") {
  Cubes cubes;
  AddPlane(&cubes.world, {});
  const BodyId other = cubes.Add({0.5f, 0.6f, 0}), body = cubes.Add({0, 0.001f, 0});
  std::vector<Vec3> v(cubes.shape.num_nodes(), Vec3{3.0e38f, 3.0e38f, 0.0f});
  v[0].y = -3.0e38f;
  REQUIRE(cubes.world.SetNodeVelocities(other, v).ok());
  cubes.Step(1);
  REQUIRE(cubes.world.IsFrozen(other));
  AttachmentDesc spring = {.body = body, .other_body = other, .stiffness = 300.0f};
  spring.weights = spring.other_weights = {1.0f, 0.0f, 0.0f, 0.0f};
  Attach(&cubes.world, spring);
  cubes.Step(300);
  REQUIRE_FALSE(cubes.world.IsFrozen(body));
  CHECK(cubes.world.IsAsleep(body));
  CHECK_FALSE(cubes.world.IsAsleep(other));
}

TEST_CASE("Sleeping bodies keep statistics of their state, and none of their motion") {
  Cubes cubes;
  AddPlane(&cubes.world, {});
  const BodySolver solver = ImplicitSolver();
  BodyDesc desc = {.solver = &solver};
  cubes.Add({0, 0.001f, 0});
  cubes.Add({0, 0.202f, 0}, 1.0e6f, desc);
  uint32_t contacts = 0;
  for (int step = 0; step < 500 && cubes.world.stats().asleep < 2; ++step) {
    contacts = cubes.world.stats().contacts;
    cubes.Step(1);
  }
  REQUIRE(cubes.world.stats().asleep == 2);
  cubes.Step(3);
  const StepStats& stats = cubes.world.stats();
  CHECK(stats.contacts == contacts);
  CHECK(stats.body_pairs == 1);
  CHECK(stats.linear_iterations + stats.newton_fallbacks + stats.overshoots == 0);
  CHECK(stats.contacts_unsettled + stats.contacts_dropped + stats.outer_iterations == 0);
}

// In float, gaps 13 m from the large body's origin would tremble by more than it takes to sleep.
TEST_CASE("A small body falls asleep far from the middle of a large one") {
  const bool is_first = GENERATE(false, true);
  const float small = GENERATE(0.01f, 0.2f);  // scales
  CAPTURE(is_first, small);
  Cubes cubes;
  BodyDesc large, other;
  large.fixed = true;
  large.scale = 100.0f;
  other.scale = small;
  if (is_first) cubes.Add({0, 0, 0}, 1.0e6f, large);
  const BodyId id = cubes.Add({19.0f, 20.0f + 0.001f * small, 18.6f}, 1.0e6f, other);
  if (!is_first) cubes.Add({0, 0, 0}, 1.0e6f, large);
  cubes.Step(500);
  CHECK(cubes.world.IsAsleep(id));
  CHECK(cubes.Lowest(id) == Approx(20.0).margin(2e-3 * double(small * kSize)));
}

// Contact points that jumped with each search once kept such a heap awake for ever.
TEST_CASE("A heap of soft bodies comes to rest and sleeps", "[long]") {
  Cubes cubes;
  for (const Vec3& normal :
       {Vec3{0, 1, 0}, Vec3{1, 0.3f, 0}, Vec3{-1, 0.3f, 0}, Vec3{0, 0.3f, 1}, Vec3{0, 0.3f, -1}}) {
    AddPlane(&cubes.world, {normal, normal.y == 1.0f ? 0.0f : -0.25f});
  }
  for (int k = 0; k < 8; ++k) {
    cubes.Add({k % 2 == 0 ? -0.12f : 0.12f, 0.1f + 0.3f * float(k / 2), 0.05f * float(k % 3)},
              2.0e4f, {.pose = {.rotation = {0.3f * float(k % 3), 0.2f, 0.1f * float(k), 1.0f}}});
  }
  cubes.Step(1500);
  CHECK(cubes.world.stats().asleep == 8);
}

}  // namespace touching_sleep_test
