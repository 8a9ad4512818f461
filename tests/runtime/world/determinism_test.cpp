// SPDX-License-Identifier: MIT
// The same simulation gives the same bits, whichever threads run the jobs.
#include "plush/format/tet_block.h"

#include "base/id_layout.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/crowds/crowd_scene.h"
#include "runtime/world/threaded_jobs.h"
#include "runtime/world/waiting_threads.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace determinism_test {

struct Outcome {
  uint64_t hash = 0;
  StepStats stats;
  WorldMeasures measures;
  uint64_t events = 0;  ///< hash of all contact events
};

// Bodies of two assets in many poses fall on two planes. Some are pinned, some removed.
Outcome Simulate(const JobSystem& jobs) {
  static const ShapeAsset* const box = new ShapeAsset(TetBox(3, 2, 2, 0.1, 0.09, 1));
  static const ShapeAsset* const bar = new ShapeAsset(TetBox(1, 5, 1, 0.08, 0.05, 2), {3e5, 0.3});
  WorldDesc desc;
  desc.jobs = jobs;
  World world(desc);
  Random random(3);
  AddPlane(&world, {});
  AddPlane(&world, {{1.0f, 1.0f, 0.0f}, -1.0f}, 0.2f);
  AddCollider(&world, SphereAt({2.1f, 0.05f, 0.1f}, 0.1f));
  AddCollider(&world, CapsuleAt({{5.1f, 0.1f, 0.1f}, {0.5f, 0.0f, 0.0f, 1.0f}}, 0.3f, 0.05f));
  AddCollider(&world, BoxAt({{7.2f, 0.0f, 0.1f}, {0.1f, 0.2f, 0.3f, 1.0f}}, {0.2f, 0.1f, 0.05f}));
  std::vector<BodyId> ids;
  for (int i = 0; i < 11; ++i) {
    BodyDesc body;
    body.pose = {{static_cast<float>(i), 0.3f, 0.0f}, ToQuat(random.Rotation())};
    body.velocity = ToVec3(random.Vector(2.0));
    const std::vector<uint32_t> pins = {1, 2, 3};
    if (i == 4) body.pinned_nodes = pins;
    if (i == 6) body.material.young = 5.0e4f;
    ids.push_back(AddBody(&world, i % 2 == 0 ? box->asset() : bar->asset(), body));
  }
  for (int step = 0; step < 40; ++step) {
    if (step == 20) REQUIRE(world.RemoveBody(ids[3]).ok());
    StepWorld(&world, 0.01f);
  }
  return {world.StateHash(), world.stats(), MeasuresOf(world)};
}

// Crowds whose bodies fall on planes, leave their lanes for a while and come back. Some have more
// pins, some are the only ones with their pins, some are damped, some removed. Two time steps.
Outcome SimulateCrowds(const JobSystem& jobs) {
  static const ShapeAsset* const box = new ShapeAsset(CrowdBox(1));
  static const ShapeAsset* const bar = new ShapeAsset(TetBox(1, 5, 1, 0.08, 0.05, 2), {3e5, 0.3});
  WorldDesc desc;
  desc.jobs = jobs;
  World world(desc);
  Random random(5);
  AddPlane(&world, {});
  std::vector<BodyId> ids;
  for (int i = 0; i < 60; ++i) {
    const ShapeAsset& shape = i % 5 == 4 ? *bar : *box;
    const double height = i % 3 == 0 ? 5.0 : random.Uniform(0.3, 1.0);
    Member member = RandomMember(shape, {static_cast<float>(i), static_cast<float>(height), 0.0f},
                                 1.0, &random);
    const auto region = NodesOfRegion(shape.asset(), "low");
    if (i > 20 && i % 7 == 0) member.pins = RandomPins(shape.num_nodes(), 1 + i % 20, &random);
    if (i > 20 && i % 7 == 1) member.pins.assign(region.begin(), region.end());
    if (i == 50) member.pins = RandomPins(shape.num_nodes(), 23, &random);
    ids.push_back(member.AddTo(&world, shape.asset()));
    if (i % 20 != 17) continue;
    BodyDesc damped;
    damped.pose = {{static_cast<float>(i), 2.0f, 2.0f}, {}};
    damped.material.damping = 0.02f;
    AddBody(&world, shape.asset(), damped);
  }
  REQUIRE(world.PrepareTimeStep(0.007f).ok());
  bool crowds = true;  // in every step
  for (int step = 0; step < 60; ++step) {
    if (step == 10) REQUIRE(world.RemoveBody(ids[3]).ok());
    if (step == 30) AddPlane(&world, {{1.0f, 1.0f, 0.0f}, -1.0f}, 0.2f);
    // With the other step size, too, bodies leave their lanes in most steps.
    StepWorld(&world, step % 2 == 0 ? 0.01f : 0.007f);
    crowds = crowds && HadCrowds(world);
  }
  CHECK(crowds);
  return {world.StateHash(), world.stats(), MeasuresOf(world)};
}

// Bodies fall asleep in lanes and on a plane, and are woken one by one.
Outcome SimulateSleepers(const JobSystem& jobs) {
  static const ShapeAsset* const box = new ShapeAsset(CrowdBox(1));
  WorldDesc desc;
  desc.jobs = jobs;
  desc.sleep.speed = 0.5f;  // falls asleep soon
  desc.sleep.time = 0.1f;
  World world(desc);
  AddPlane(&world, {});
  std::vector<BodyId> ids;
  for (int i = 0; i < 30; ++i) {
    BodyDesc body;
    body.pose.position = {static_cast<float>(i), i % 3 == 0 ? 0.01f : 3.0f, 0.0f};
    if (i % 3 == 0) body.material.damping = 0.1f;
    const std::vector<uint32_t> pins = {0, 1, 2, 3, 4, 5};
    if (i % 3 != 0) body.pinned_nodes = pins;
    ids.push_back(AddBody(&world, box->asset(), body));
  }
  uint32_t most_asleep = 0;
  for (int step = 0; step < 150; ++step) {
    if (step % 10 == 9) REQUIRE(world.Wake(ids[static_cast<size_t>(step % 30)]).ok());
    StepWorld(&world, 0.01f);
    most_asleep = std::max(most_asleep, world.stats().asleep);
  }
  CHECK(most_asleep > 15);
  return {world.StateHash(), world.stats(), MeasuresOf(world)};
}

// Enough boxes in a heap for several threads to share it. Boxes may bounce on the colliders.
template <int kBodies, int kSteps, bool kBounces = false>
Outcome SimulatePile(const JobSystem& jobs) {
  static const ShapeAsset* const box = new ShapeAsset(
      SurfaceBytes(TetBox(4, 4, 4, 0.05), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  WorldDesc desc;
  desc.jobs = jobs;
  desc.max_pairs = 256;
  World world(desc);
  Random random(7);
  AddPlane(&world, {});
  AddPlane(&world, {{1.0f, 1.0f, 0.0f}, -0.3f}, 0.2f);
  AddCollider(&world, BoxAt({{0.5f, 0.0f, 0.5f}, {0.1f, 0.2f, 0.3f, 1.0f}}, {0.1f, 0.1f, 0.1f}));
  size_t blocks = 0;
  for (int i = 0; i < kBodies; ++i) {
    BodyDesc body;
    body.pose.position = {0.203f * static_cast<float>(i % 3),
                          0.01f + 0.199f * static_cast<float>(i / 9),
                          0.199f * static_cast<float>(i / 3 % 3)};
    body.velocity = ToVec3(random.Vector(1.0));
    body.material.young = i % 4 == 0 ? 1.0e6f : 1.0e5f;
    if (kBounces) body.material.restitution = 0.8f, body.velocity.y -= 2.0f;
    AddBody(&world, box->asset(), body);
    blocks += box->simulation().blocks.size();
  }
  CHECK(blocks >= 600);
  for (int step = 0; step < kSteps; ++step) StepWorld(&world, 0.01f);
  CHECK(world.stats().body_pairs > 20);
  return {world.StateHash(), world.stats(), MeasuresOf(world)};
}

// Boxes that fly at each other, each at several others.
Outcome SimulateSwarm(const JobSystem& jobs) {
  static const ShapeAsset* const box = new ShapeAsset(
      SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  WorldDesc desc;
  desc.jobs = jobs;
  desc.max_pairs = 256;
  World world(desc);
  Random random(13);
  AddPlane(&world, {{0.0f, 1.0f, 0.0f}, -2.0f});
  for (int i = 0; i < 27; ++i) {
    const Eigen::Vector3d at(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
    BodyDesc body;
    body.pose = {ToVec3(0.4 * at + random.Vector(0.05)), ToQuat(random.Rotation())};
    body.velocity = ToVec3(-15.0 * at + random.Vector(5.0));
    AddBody(&world, box->asset(), body);
  }
  uint32_t most_pairs = 0;
  for (int step = 0; step < 6; ++step) {
    StepWorld(&world, 0.01f);
    most_pairs = std::max(most_pairs, world.stats().body_pairs);
  }
  CHECK(most_pairs > 20);
  return {world.StateHash(), world.stats(), MeasuresOf(world)};
}

// Bodies fall on hulls, a mesh, a height field and conveyors, which move, and through sensors.
Outcome SimulateShapes(const JobSystem& jobs) {
  static const ShapeAsset* const box = new ShapeAsset(
      SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  static const ShapeAsset* const bar = new ShapeAsset(TetBox(1, 5, 1, 0.08, 0.05, 2), {3e5, 0.3});
  static const StaticSubject* const torus =
      new StaticSubject(plush::tests::MakeTorus(0.4, 0.15, 16, 10));
  static const std::vector<float>* const heights = [] {
    auto* of = new std::vector<float>;
    for (int i = 0; i < 13 * 9; ++i) {
      of->push_back(0.1f * std::fabs(static_cast<float>(i % 13 % 4 - i / 13 % 3)));
    }
    return of;
  }();
  WorldDesc desc;
  desc.jobs = jobs;
  World world(desc);
  Random random(11);
  std::vector<Vec3> points;
  for (int i = 0; i < 20; ++i) points.push_back(ToVec3(0.3 * random.Direction()));
  ColliderDesc ground;
  ground.type = ShapeType::kHeightField;
  ground.height_field = {*heights, 13, 9, 0.25f};
  ground.pose.position = {-0.5f, -0.2f, -1.0f};
  AddCollider(&world, ground);
  ColliderDesc conveyor = BoxAt({{3.2f, -0.1f, 0.0f}}, {0.7f, 0.1f, 0.6f});
  conveyor.surface_velocity = {0.8f, 0.0f, 0.3f};
  AddCollider(&world, conveyor);
  ColliderDesc hull = HullAt({{5.1f, -0.2f, 0.1f}}, points);
  hull.angular_velocity = {0.0f, 2.0f, 0.3f};
  AddCollider(&world, hull);
  ColliderDesc ring =
      MeshOf(*torus, TurnedPose({7.1f, -0.1f, 0.1f}, 0.2, Eigen::Vector3d::UnitX()));
  ring.velocity = {0.1f, 0.3f, 0.0f};
  AddCollider(&world, ring);
  for (const float x : {0.0f, 3.0f, 5.0f, 7.0f}) {
    ColliderDesc sensor = BoxAt({{x, 0.2f, 0.1f}, {0.1f, 0.0f, 0.2f, 1.0f}}, {0.5f, 0.1f, 0.5f});
    sensor.sensor = true;
    AddCollider(&world, sensor);
  }
  for (int i = 0; i < 16; ++i) {
    BodyDesc body;
    body.pose = {{0.5f * static_cast<float>(i), 0.3f, 0.0f}, ToQuat(random.Rotation())};
    body.velocity = ToVec3(random.Vector(1.0));
    body.report_contacts = i % 3 != 0;
    if (i % 4 == 1) body.material.damping = 0.02f;
    AddBody(&world, i % 2 == 0 ? box->asset() : bar->asset(), body);
  }
  Outcome outcome;
  std::vector<bool> touched(world.num_colliders());
  const auto add = [&outcome](uint64_t number) {
    outcome.events = (outcome.events ^ number) * 0x100000001b3u;
  };
  for (int step = 0; step < 40; ++step) {
    StepWorld(&world, 0.01f);
    for (const ContactEvent& event : world.contact_events()) {
      touched[SlotOf(event.collider.value)] = true;
      add(event.body.value), add(event.collider.value), add(static_cast<uint64_t>(event.type));
      for (const float x : {event.impulse, event.approach_speed, event.point.x, event.normal.y}) {
        add(std::bit_cast<uint32_t>(x));
      }
      add(event.triangle), add(event.other_triangle);
    }
  }
  CHECK(std::ranges::count(touched, true) == 8);
  outcome.hash = world.StateHash();
  outcome.stats = world.stats();
  outcome.measures = MeasuresOf(world);
  return outcome;
}

void CheckJobs(Outcome (*simulate)(const JobSystem&)) {
  const Outcome alone = simulate({});
  CHECK(alone.stats.contacts > 0);
  CHECK(simulate({}).hash == alone.hash);
  const Outcome backwards = simulate(BackwardJobs());
  CHECK(backwards.hash == alone.hash);
  CHECK(backwards.events == alone.events);
  for (const uint32_t num_threads : {1u, 2u, 3u, 4u, 7u}) {
    ThreadedJobs jobs{num_threads};
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Outcome outcome = simulate(jobs.system());
      CAPTURE(num_threads);
      CHECK(outcome.hash == alone.hash);
      CHECK(outcome.events == alone.events);
      CHECK(outcome.measures.kinetic_j == alone.measures.kinetic_j);
      CHECK(outcome.measures.elastic_j == alone.measures.elastic_j);
      CHECK(outcome.measures.gravity_j == alone.measures.gravity_j);
      CHECK(outcome.measures.max_penetration == alone.measures.max_penetration);
      CHECK(outcome.stats.contacts == alone.stats.contacts);
    }
  }
}

TEST_CASE("Every thread count gives the same state") { CheckJobs(Simulate); }

TEST_CASE("Every thread count gives the same state of crowds", "[long]") {
  CheckJobs(SimulateCrowds);
}

TEST_CASE("Every thread count gives the same state of bodies that sleep and wake", "[long]") {
  CheckJobs(SimulateSleepers);
}

TEST_CASE("Every thread count gives the same state of bodies that fly at each other", "[long]") {
  CheckJobs(SimulateSwarm);
}

TEST_CASE("Every thread count gives the same state and events of bodies on shapes of every kind",
          "[long]") {
  CheckJobs(SimulateShapes);
}

TEST_CASE("Every thread count gives the same state of a pile that all threads share", "[long]") {
  CheckJobs(SimulatePile<28, 15>);
  // Its own phases are jobs, beside those of the world.
  static uint32_t runs = 0;
  runs = 0;
  SimulatePile<28, 15>({[](void*, uint32_t count, JobFunction job, void* context) {
                          ++runs;
                          BackwardJobs().run(nullptr, count, job, context);
                        },
                        nullptr});
  CHECK(runs > 15 * 40);
}

TEST_CASE("Every thread count gives the same state of a pile whose groups threads sweep at once",
          "[long]") {
  CheckJobs(SimulatePile<66, 3>);
}

TEST_CASE("Every thread count gives the same state of a pile that bounces", "[long]") {
  CheckJobs(SimulatePile<66, 4, true>);
}

// Jobs that waited for each other would spin or hang: BackwardJobs runs them one after the other.
TEST_CASE("Four times as many threads as cores give the same state of a pile", "[long]") {
  const uint64_t alone = SimulatePile<66, 3>({}).hash;
  CHECK(SimulatePile<66, 3>(BackwardJobs()).hash == alone);
  const uint32_t cores = std::max(std::thread::hardware_concurrency(), 1u);
  WaitingThreads threads(std::min(4 * cores, 256u));
  for (int repeat = 0; repeat < 2; ++repeat) {
    CHECK(SimulatePile<66, 3>(threads.system()).hash == alone);
  }
  CHECK(threads.num_shared() > 1000);
}

TEST_CASE("A large body that all threads share gives the same state") {
  // Has enough blocks for several threads. A second body of that size, damped, prevents this until
  // it is removed.
  const ShapeAsset large(TetBox(13, 13, 13, 0.05, 0.04, 4), {1.0e5, 0.4, 1000.0});
  REQUIRE(large.simulation().blocks.size() >= 512);
  const auto simulate = [&](const JobSystem& jobs) {
    WorldDesc desc;
    desc.jobs = jobs;
    World world(desc);
    AddPlane(&world, {});
    BodyDesc body;
    body.pose.position = {0.0f, 0.02f, 0.0f};
    body.velocity = {0.0f, -2.0f, 0.0f};
    AddBody(&world, large.asset(), body);
    body.pose.position.x = 3.0f;
    body.material.damping = 0.05f;
    const BodyId second = AddBody(&world, large.asset(), body);
    for (int step = 0; step < 2; ++step) StepWorld(&world, 0.01f);
    REQUIRE(world.RemoveBody(second).ok());
    for (int step = 0; step < 3; ++step) StepWorld(&world, 0.01f);
    return world.StateHash();
  };
  const uint64_t alone = simulate({});
  for (const uint32_t num_threads : {1u, 2u, 3u, 4u, 7u}) {
    ThreadedJobs jobs{num_threads};
    CHECK(simulate(jobs.system()) == alone);
  }
}

TEST_CASE("The state hash sees every bit of positions and velocities") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  const std::vector<Vec3> v(x.size(), Vec3{1.0f, 2.0f, 3.0f});
  REQUIRE(world.SetNodePositions(id, x).ok());
  REQUIRE(world.SetNodeVelocities(id, v).ok());
  const uint64_t hash = world.StateHash();
  for (size_t i = 0; i < x.size(); ++i) {
    for (float Vec3::*axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
      std::vector<Vec3> changed = x;
      changed[i].*axis = std::nextafterf(changed[i].*axis, 1.0f);
      REQUIRE(world.SetNodePositions(id, changed).ok());
      CHECK(world.StateHash() != hash);
      REQUIRE(world.SetNodePositions(id, x).ok());
      changed = v;
      changed[i].*axis = std::nextafterf(changed[i].*axis, 9.0f);
      REQUIRE(world.SetNodeVelocities(id, changed).ok());
      CHECK(world.StateHash() != hash);
      REQUIRE(world.SetNodeVelocities(id, v).ok());
    }
  }
  CHECK(world.StateHash() == hash);
  // Order matters: swapping two bodies changes the hash.
  const auto hash_of = [&](float first, float second) {
    World pair;
    for (const float height : {first, second}) {
      BodyDesc body;
      body.pose.position.y = height;
      AddBody(&pair, shape.asset(), body);
    }
    return pair.StateHash();
  };
  CHECK(hash_of(1.0f, 2.0f) != hash_of(2.0f, 1.0f));
  CHECK(hash_of(1.0f, 2.0f) == hash_of(1.0f, 2.0f));
}

}  // namespace determinism_test
