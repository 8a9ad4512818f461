// SPDX-License-Identifier: MIT
// A World takes memory only from its allocator and only in documented calls. It survives when the
// allocator fails.
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/tet_fixtures.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace allocation_test {

constexpr float kDt = 0.01f;

// Counts allocations from the heap and from the world's allocator over some steps.
struct StepCosts {
  uint64_t heap = 0, requests = 0;
};

StepCosts CountSteps(World* world, const CountingMemory& memory, int steps, float dt) {
  const uint64_t heap = HeapAllocations(), requests = memory.requests();
  uint32_t flags = 0;
  for (int step = 0; step < steps; ++step) flags |= StepWorld(world, dt);
  const StepCosts costs = {HeapAllocations() - heap, memory.requests() - requests};
  CHECK(flags == kStepOk);
  return costs;
}

// Makes every kind of call that allocates: bodies of two kinds, planes, another time step, steps in
// contact. Returns whether all of them succeeded.
bool UseWorld(World* world, const ShapeAsset& shape) {
  bool ok = true;
  BodyDesc low = {.pose = {.position = {0.0f, 0.05f, 0.0f}}, .velocity = {0.0f, -2.0f, 0.0f}};
  BodyId first, second;
  ColliderId plane;
  ok = world->AddBody(shape.asset(), low, &first).ok() && ok;
  ok = world->AddCollider({}, &plane).ok() && ok;
  ok = world->Step(kDt).ok() && ok;
  const std::vector<uint32_t> pins = {0, 1, 2};
  BodyDesc pinned = {.material = {.young = 2.0e5f}, .pinned_nodes = pins};
  ok = world->AddBody(shape.asset(), pinned, &second).ok() && ok;
  ok = world->AddCollider({.plane = {{1.0f, 1.0f, 0.0f}, -1.0f}}, &plane).ok() && ok;
  ok = world->AddCollider(SphereAt({}, 0.1f), &plane).ok() && ok;
  ok = world->PrepareTimeStep(0.5f * kDt).ok() && ok;
  for (int step = 0; step < 4; ++step) ok = world->Step(step < 2 ? kDt : 0.5f * kDt).ok() && ok;
  ok = world->RemoveBody(first).ok() && ok;
  ok = world->Step(kDt).ok() && ok;
  return ok;
}

TEST_CASE("Skinning and measuring take no memory") {
  CountingMemory memory;
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1));
  World world({.allocator = memory.allocator()});
  const BodyId id = AddBody(&world, shape.asset());
  std::vector<Vec3> positions(shape.asset().visual().positions.size()), normals = positions;
  std::vector<Vec3> nodes(shape.num_nodes());
  BodyMoments moments;
  Pose pose;
  const uint64_t heap = HeapAllocations(), requests = memory.requests();
  bool ok = world.Skin(id, 1.0f, TargetOf(positions, normals)).ok();
  ok = world.NodePositions(id, 1.0f, nodes).ok() && world.SetNodePositions(id, nodes).ok() && ok;
  ok = world.NodeVelocities(id, nodes).ok() && world.SetNodeVelocities(id, nodes).ok() && ok;
  ok = world.ElasticForces(id, nodes).ok() && world.Moments(id, &moments).ok() && ok;
  ok = world.BestFitPose(id, &pose).ok() && world.StateHash() != 0 && ok;
  const uint64_t after = HeapAllocations();
  CHECK(ok);
  CHECK(after == heap);
  CHECK(memory.requests() == requests);
}

TEST_CASE("A prepared time step takes no memory, an unprepared one is reported once") {
  CountingMemory memory;
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, double(kDt));
  World world({.allocator = memory.allocator()});
  AddBody(&world, shape.asset());
  AddBody(&world, shape.asset());
  REQUIRE(world.PrepareTimeStep(1.0f / 60).ok());
  CHECK(CountSteps(&world, memory, 3, kDt).requests == 0);
  CHECK(CountSteps(&world, memory, 3, 1.0f / 60).requests == 0);
  CHECK(StepWorld(&world, 0.02f) == kStepPreparedTimeStep);
  const StepCosts costs = CountSteps(&world, memory, 3, 0.02f);
  CHECK(costs.requests == 0);
  CHECK(costs.heap == 0);
  CHECK(CountSteps(&world, memory, 3, kDt).requests == 0);
}

TEST_CASE("The default allocator is the C++ heap") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1));
  World world;
  const uint64_t before = HeapAllocations();
  AddBody(&world, shape.asset());
  CHECK(HeapAllocations() > before);
  StepWorld(&world, kDt);
  const uint64_t heap = HeapAllocations();
  for (int step = 0; step < 10; ++step) StepWorld(&world, kDt);
  CHECK(HeapAllocations() == heap);
}

TEST_CASE("Wherever memory runs out the world stays usable and leaks nothing") {
  const bool only_once = GENERATE(true, false);
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1, 0.05, 1), {}, double(kDt));
  CountingMemory whole;
  {
    World world({.allocator = whole.allocator()});
    REQUIRE(UseWorld(&world, shape));
  }
  const uint64_t needed = whole.requests();
  CHECK(needed > 50);
  for (uint64_t n = 1; n <= needed; ++n) {
    CAPTURE(n, only_once);
    CountingMemory memory;
    {
      memory.FailAt(n, only_once);
      World world({.allocator = memory.allocator()});
      const bool ok = UseWorld(&world, shape);
      REQUIRE((!ok || only_once));  // a step may have retried a preparation that failed before
      if (n == 1 && !only_once) CHECK(world.num_bodies() == 0);
      // Once memory is back, the world works as if nothing had failed, unless its own object is
      // missing.
      memory.FailNever();
      const bool usable = n > 1;
      BodyDesc body = {.pose = {.position = {0.0f, 0.5f, 0.0f}}};
      BodyId id;
      CHECK(world.AddBody(shape.asset(), body, &id).ok() == usable);
      CHECK(id.valid() == usable);
      ColliderId plane;
      CHECK(world.AddCollider({}, &plane).ok() == usable);
      CHECK(plane.valid() == usable);
      for (int step = 0; step < 3; ++step) CHECK(world.Step(kDt).ok() == usable);
      WorldMeasures measures;
      CHECK(world.Measure(&measures).ok() == usable);
      CHECK(std::isfinite(measures.kinetic_j));
    }
    REQUIRE(memory.blocks_out() == 0);
    REQUIRE(memory.bytes_out() == 0);
    REQUIRE(memory.consistent());
  }
}

// A world with two systems and a plane. Its last step had an unprepared dt.
struct Chain {
  explicit Chain(const ShapeAsset& shape_asset) : shape(shape_asset) {
    WorldDesc desc = {.allocator = memory.allocator(), .idle_systems = 1};
    world.emplace(desc);
    const std::vector<uint32_t> pins = {0, 1};
    AddPlane(&*world, {});
    a = AddBody(&*world, shape.asset(), {.pose = {.position = {0.0f, 0.01f, 0.0f}}});
    b = AddBody(&*world, shape.asset(),
                {.pose = {.position = {1.0f, 0.3f, 0.0f}}, .pinned_nodes = pins});
    for (const float dt : {kDt, 0.017f, 0.012f}) {
      REQUIRE((StepWorld(&*world, dt) & ~kStepPreparedTimeStep) == 0u);
    }
  }

  const ShapeAsset& shape;
  CountingMemory memory;
  std::optional<World> world;
  BodyId a, b;
};

// Every call that allocates. Each returns whether it succeeded.
using Call = bool (*)(Chain*);
constexpr Call kCalls[] = {
    [](Chain* c) { return c->world->Step(0.013f).ok(); },
    [](Chain* c) { return c->world->Step(0.012f).ok(); },
    [](Chain* c) { return c->world->PrepareTimeStep(0.005f).ok(); },
    [](Chain* c) {
      ColliderId plane;
      return c->world->AddCollider({.plane = {{1.0f, 1.0f, 0.0f}, -3.0f}}, &plane).ok();
    },
    [](Chain* c) {
      BodyId id;
      return c->world->AddBody(c->shape.asset(), {}, &id).ok();
    },
    [](Chain* c) { return c->world->SetPinnedNodes(c->a, std::vector<uint32_t>{2}).ok(); },
    [](Chain* c) { return c->world->SetPinnedNodes(c->b, {}).ok(); },
    [](Chain* c) { return c->world->SetMaterial(c->a, {.young = 3.0e5f, .damping = 0.1f}).ok(); },
    [](Chain* c) { return c->world->RemoveBody(c->b).ok(); },
};

TEST_CASE("After any failed allocation of any call every other call works", "[long]") {
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1, 0.05, 1), {}, double(kDt));
  size_t failures = 0;
  for (size_t i = 0; i + 1 < std::size(kCalls); ++i) {  // RemoveBody never fails
    for (size_t j = 0; j < std::size(kCalls); ++j) {
      const bool removes = j + 1 == std::size(kCalls);  // removes the body that some calls need
      bool failed = true;
      for (uint64_t n = 1; failed; ++n) {
        CAPTURE(i, j, n);
        Chain chain(shape);
        chain.memory.FailAt(n, false);
        failed = !kCalls[i](&chain);
        failures += failed ? 1 : 0;
        chain.memory.FailNever();
        REQUIRE(kCalls[j](&chain));
        REQUIRE((StepWorld(&*chain.world, 0.012f) & ~kStepPreparedTimeStep) == 0u);
        REQUIRE((kCalls[i](&chain) || removes));
        REQUIRE((StepWorld(&*chain.world, 0.014f) & ~kStepPreparedTimeStep) == 0u);
        REQUIRE(std::isfinite(MeasuresOf(*chain.world).kinetic_j));
        chain.world.reset();
        REQUIRE(chain.memory.blocks_out() == 0);
        REQUIRE(chain.memory.consistent());
      }
    }
  }
  CHECK(failures > 500);
}

TEST_CASE("A new dt in every step takes no more memory after the third") {
  CountingMemory memory;
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, double(kDt));
  World world({.allocator = memory.allocator()});
  const std::vector<uint32_t> pins = {0, 1};
  for (int i = 0; i < 7; ++i) AddBody(&world, shape.asset());
  AddBody(&world, shape.asset(), {.pinned_nodes = pins});  // shares factors
  REQUIRE(world.PrepareTimeStep(0.02f).ok());
  uint64_t held = 0;
  for (int step = 0; step < 1000; ++step) {
    const float dt = 0.005f + 1.0e-6f * static_cast<float>(step);
    REQUIRE(StepWorld(&world, dt) == kStepPreparedTimeStep);
    if (step == 2) held = memory.bytes_out();
    if (step > 2) REQUIRE(memory.bytes_out() == held);
  }
  // Prepared factors are still there.
  CHECK(StepWorld(&world, kDt) == kStepOk);
  CHECK(StepWorld(&world, 0.02f) == kStepOk);
  CHECK(memory.bytes_out() == held);
}

TEST_CASE("Preparing a time step does not change the bodies' time step") {
  // SetPinnedNodes must make factors for the last step's dt. It once made them for the prepared
  // one.
  CountingMemory memory;
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, double(kDt));
  World world({.allocator = memory.allocator()});
  const BodyId id = AddBody(&world, shape.asset());
  CHECK(StepWorld(&world, 0.012f) == kStepPreparedTimeStep);
  REQUIRE(world.PrepareTimeStep(0.02f).ok());
  REQUIRE(world.SetPinnedNodes(id, std::vector<uint32_t>{0, 1}).ok());
  CHECK(StepWorld(&world, 0.012f) == kStepOk);
  CHECK(StepWorld(&world, 0.02f) == kStepOk);
}

TEST_CASE("A failed call changes nothing") {
  CountingMemory memory;
  const ShapeAsset shape(TetBox(1, 1, 1, 0.1, 0.05, 1), {}, double(kDt));
  World world({.allocator = memory.allocator()});
  BodyDesc body = {.pose = {.position = {0.0f, 0.01f, 0.0f}}};
  AddPlane(&world, {});
  AddBody(&world, shape.asset(), body);
  AddBody(&world, shape.asset(), body);
  for (int step = 0; step < 30; ++step) StepWorld(&world, kDt);
  REQUIRE(world.stats().contacts > 0);
  for (uint64_t n = 1; n < 40; ++n) {
    const uint64_t hash = world.StateHash();
    const size_t blocks = memory.blocks_out();
    memory.FailAt(n, true);
    ColliderId plane = {5};
    const Status added = world.AddCollider({.plane = {{0.0f, 1.0f, 0.0f}, -5.0f}}, &plane);
    memory.FailNever();
    if (added.ok()) break;
    CAPTURE(n);
    REQUIRE(added.code == StatusCode::kOutOfMemory);
    CHECK_FALSE(plane.valid());
    CHECK(world.num_colliders() == 1);
    CHECK(world.StateHash() == hash);
    CHECK(memory.blocks_out() == blocks);  // some may be larger
    CHECK(StepWorld(&world, kDt) == kStepOk);
    CHECK(MeasuresOf(world).max_penetration < 1e-4f);
    BodyId id;
    memory.FailAt(n, true);
    const Status status = world.AddBody(shape.asset(), body, &id);
    memory.FailNever();
    CHECK(id.valid() == status.ok());
    if (id.valid()) REQUIRE(world.RemoveBody(id).ok());
    CHECK(world.num_bodies() == 2);
  }
}

}  // namespace allocation_test
