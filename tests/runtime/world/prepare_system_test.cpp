// SPDX-License-Identifier: MIT
// PrepareSystem on the world's own thread; threads_test.cpp runs it beside other calls.
#include "body/system_cache.h"
#include "runtime/tet_fixtures.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <limits>
#include <optional>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace prepare_system_test {

constexpr float kDt = 0.01f;

// A world with counted memory whose lists have grown to their final size.
struct CountedWorld {
  explicit CountedWorld(const Asset& asset, uint32_t idle_systems = WorldDesc{}.idle_systems) {
    WorldDesc desc = {.allocator = memory.allocator(), .idle_systems = idle_systems};
    world.emplace(desc);
    AddAndRemove(asset, {.fixed = true});
  }

  // Adds a body and removes it; returns the number of requests that adding took.
  uint64_t AddAndRemove(const Asset& asset, const BodyDesc& desc) {
    const uint64_t before = memory.requests();
    const BodyId id = AddBody(&*world, asset, desc);
    const uint64_t taken = memory.requests() - before;
    REQUIRE(world->RemoveBody(id).ok());
    return taken;
  }

  CountingMemory memory;
  std::optional<World> world;  // declared after the memory that it uses
};

// Requests of an AddBody that makes neither a system nor factors: that of a second equal body.
uint64_t RequestsOfSecondBody(const Asset& asset, const BodyDesc& desc) {
  CountedWorld counted(asset);
  AddBody(&*counted.world, asset, desc);
  return counted.AddAndRemove(asset, desc);
}

SystemDesc SystemOf(const BodyDesc& desc) {
  return {.material = desc.material, .pinned_nodes = desc.pinned_nodes};
}

BodyDesc Stiff(float young) { return {.material = {.young = young}}; }

TEST_CASE("Adding a body of a prepared system factors nothing") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), {}, double(kDt));
  const std::vector<uint32_t> pins = {1, 5};
  BodyDesc plain, pinned, stiff = Stiff(4.0e5f), damped, heavy;
  pinned.pinned_nodes = pins;
  damped.material.damping = 0.01f;
  heavy.material.density = 2000.0f;
  for (const BodyDesc* desc : {&plain, &pinned, &stiff, &damped, &heavy}) {
    for (const bool more_steps : {false, true}) {
      CAPTURE(desc - &plain, more_steps);
      const uint64_t least = RequestsOfSecondBody(shape.asset(), *desc);
      CountedWorld unprepared(shape.asset()), prepared(shape.asset());
      for (CountedWorld* counted : {&unprepared, &prepared}) {
        for (const float dt : {0.005f, 0.02f}) {
          if (more_steps) REQUIRE(counted->world->PrepareTimeStep(dt).ok());
        }
      }
      REQUIRE(prepared.world->PrepareSystem(shape.asset(), SystemOf(*desc)).ok());
      CHECK(unprepared.AddAndRemove(shape.asset(), *desc) > least);
      CHECK(prepared.AddAndRemove(shape.asset(), *desc) == least);
      AddBody(&*prepared.world, shape.asset(), *desc);
      const uint64_t before = prepared.memory.requests();
      CHECK(StepWorld(&*prepared.world, kDt) == kStepOk);
      if (more_steps) CHECK(StepWorld(&*prepared.world, 0.02f) == kStepOk);
      CHECK(prepared.memory.requests() == before);
    }
  }
}

TEST_CASE("New pins and materials of a prepared system factor nothing") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), {}, double(kDt));
  const std::vector<uint32_t> pins = {1, 5};
  CountedWorld counted(shape.asset());
  World& world = *counted.world;
  const SystemDesc pinned = {.pinned_nodes = pins};
  const SystemDesc stiff = {.material = {.young = 4.0e5f}, .pinned_nodes = pins};
  const BodyId id = AddBody(&world, shape.asset());
  REQUIRE(world.PrepareSystem(shape.asset(), pinned).ok());
  REQUIRE(world.PrepareSystem(shape.asset(), stiff).ok());
  const uint64_t before = counted.memory.requests();
  REQUIRE(world.SetPinnedNodes(id, pins).ok());
  // The pins by node, and the two arrays of a coarse matrix.
  CHECK(counted.memory.requests() == before + 3);
  REQUIRE(world.SetMaterial(id, stiff.material).ok());
  CHECK(counted.memory.requests() == before + 5);
}

TEST_CASE("A prepared system of another scale is another system") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), {}, double(kDt));
  CountedWorld counted(shape.asset());
  REQUIRE(counted.world->PrepareSystem(shape.asset(), {.scale = 2.0f}).ok());
  CHECK(counted.AddAndRemove(shape.asset(), {}) > RequestsOfSecondBody(shape.asset(), {}));
  for (const float scale :
       {0.0f, 0.99f * kLeastScale, 1.01f * kMostScale, std::numeric_limits<float>::quiet_NaN()}) {
    CHECK(counted.world->PrepareSystem(shape.asset(), {.scale = scale}).code ==
          StatusCode::kInvalidArgument);
  }
}

TEST_CASE("Factors that an existing system lacks are prepared too") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), {}, double(kDt));
  std::vector<uint32_t> all(shape.num_nodes());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  // A system that bodies use, but without factors: that of scenery.
  const bool in_use = GENERATE(true, false);
  CAPTURE(in_use);
  const BodyDesc desc = in_use ? BodyDesc{.pinned_nodes = all} : Stiff(4.0e5f);
  const uint64_t least = RequestsOfSecondBody(shape.asset(), desc);
  CountedWorld counted(shape.asset());
  World& world = *counted.world;
  if (in_use) AddBody(&world, shape.asset(), {.fixed = true});
  if (!in_use) counted.AddAndRemove(shape.asset(), desc);
  REQUIRE(world.PrepareTimeStep(0.005f).ok());
  REQUIRE(world.PrepareSystem(shape.asset(), SystemOf(desc)).ok());
  const size_t prepared = counted.memory.bytes_out();
  REQUIRE(world.PrepareSystem(shape.asset(), SystemOf(desc)).ok());
  CHECK(counted.memory.bytes_out() == prepared);
  CHECK(counted.AddAndRemove(shape.asset(), desc) == least);
  AddBody(&world, shape.asset(), desc);
  CHECK(StepWorld(&world, 0.005f) == kStepOk);
}

TEST_CASE("Prepared systems wait for their first body, within a limit") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), {}, double(kDt));
  const uint64_t least = RequestsOfSecondBody(shape.asset(), Stiff(1.0e5f));
  const auto prepare = [&](CountedWorld* counted, float young) {
    REQUIRE(counted->world->PrepareSystem(shape.asset(), SystemOf(Stiff(young))).ok());
  };
  const auto is_prepared = [&](CountedWorld* counted, float young) {
    return counted->AddAndRemove(shape.asset(), Stiff(young)) == least;
  };
  CountedWorld counted(shape.asset(), 2);
  prepare(&counted, 1.0e5f);
  prepare(&counted, 2.0e5f);
  for (int i = 0; i < 5; ++i) {  // systems that come and go do not free them
    CHECK(!is_prepared(&counted, 3.0e5f + 1.0e4f * static_cast<float>(i)));
  }
  CHECK(is_prepared(&counted, 1.0e5f));
  CHECK(is_prepared(&counted, 2.0e5f));
  // A third one frees the first, unless that has been prepared again.
  CountedWorld more(shape.asset(), 2);
  for (const float young : {1.0e5f, 2.0e5f, 1.0e5f, 3.0e5f}) prepare(&more, young);
  CHECK(!is_prepared(&more, 2.0e5f));
  CHECK(is_prepared(&more, 1.0e5f));
  CHECK(is_prepared(&more, 3.0e5f));
  CountedWorld none(shape.asset(), 0);
  const size_t before = none.memory.bytes_out();
  CHECK(none.world->PrepareSystem(shape.asset(), {}).code == StatusCode::kInvalidArgument);
  CHECK(none.memory.bytes_out() == before);
}

TEST_CASE("PrepareSystem that fails changes nothing") {
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1), {}, double(kDt));
  const std::vector<uint32_t> pins = {1, 5};
  const SystemDesc desc = {.material = {.young = 3.0e5f}, .pinned_nodes = pins};
  const bool exists = GENERATE(false, true);  // whether it lacks only factors of one time step
  CAPTURE(exists);
  int failures = 0;
  for (uint64_t n = 1;; ++n) {
    CountedWorld counted(shape.asset());
    World& world = *counted.world;
    if (exists) REQUIRE(world.PrepareSystem(shape.asset(), desc).ok());
    REQUIRE(world.PrepareTimeStep(0.005f).ok());
    const size_t before = counted.memory.bytes_out(), blocks = counted.memory.blocks_out();
    counted.memory.FailAt(n, true);
    const Status status = world.PrepareSystem(shape.asset(), desc);
    counted.memory.FailNever();
    if (status.ok()) break;
    ++failures;
    CHECK(status.code == StatusCode::kOutOfMemory);
    CHECK(counted.memory.bytes_out() == before);
    CHECK(counted.memory.blocks_out() == blocks);
    REQUIRE(world.PrepareSystem(shape.asset(), desc).ok());
    CHECK(counted.memory.consistent());
  }
  CHECK(failures > 8);
}

TEST_CASE("PrepareSystem checks what it gets") {
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1), {}, double(kDt));
  CountedWorld counted(shape.asset());
  World& world = *counted.world;
  const size_t before = counted.memory.bytes_out();
  const std::vector<uint32_t> wrong = {0, static_cast<uint32_t>(shape.num_nodes())};
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const SystemDesc refused[] = {{.pinned_nodes = wrong},
                                {.material = {.young = 0.0f}},
                                {.material = {.young = kNan}},
                                {.material = {.poisson = 0.5f}},
                                {.material = {.damping = 11.0f}},
                                // The masses vanish beside the stiffness.
                                {.material = {.young = 1.0e30f, .density = 1.0e-20f}}};
  for (const SystemDesc& desc : refused) {
    CAPTURE(&desc - refused);
    CHECK(world.PrepareSystem(shape.asset(), desc).code == StatusCode::kInvalidArgument);
  }
  CHECK(world.PrepareSystem(Asset(), {}).code == StatusCode::kInvalidArgument);
  CHECK(counted.memory.bytes_out() == before);
  // Duplicates are allowed.
  const std::vector<uint32_t> twice = {3, 3}, once = {3};
  REQUIRE(world.PrepareSystem(shape.asset(), {.pinned_nodes = twice}).ok());
  CHECK(counted.AddAndRemove(shape.asset(), {.pinned_nodes = once}) ==
        RequestsOfSecondBody(shape.asset(), {.pinned_nodes = once}));
}

TEST_CASE("A prepared system moves its bodies as an unprepared one does") {
  const uint32_t seed = GENERATE(range(1u, 5u));
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.05, seed), {}, double(kDt));
  const std::vector<uint32_t> pins = random.Nodes(shape.num_nodes(), 0.1);
  BodyDesc desc = {.pose = {.position = {0.0f, 0.02f, 0.0f}}};
  if (seed % 2 == 0) desc.pinned_nodes = pins;
  if (seed > 2) desc.material.young = 5.0e4f;
  uint64_t hashes[2] = {};
  for (const bool prepares : {false, true}) {
    World world;
    AddPlane(&world, {});
    REQUIRE(world.PrepareTimeStep(0.006f).ok());
    if (prepares) REQUIRE(world.PrepareSystem(shape.asset(), SystemOf(desc)).ok());
    for (int i = 0; i < 7; ++i) {
      desc.pose.position.x = static_cast<float>(i);
      AddBody(&world, shape.asset(), desc);
    }
    for (int step = 0; step < 60; ++step) StepWorld(&world, step % 3 == 0 ? 0.006f : kDt);
    hashes[prepares ? 1 : 0] = world.StateHash();
  }
  CHECK(hashes[0] == hashes[1]);
}

TEST_CASE("A prepared system has its own factors, whatever systems there are") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1), {}, double(kDt));
  const std::vector<uint8_t> free_nodes(shape.num_nodes(), 0);
  std::vector<uint8_t> one_pin = free_nodes, other_pin = free_nodes;
  one_pin[4] = 1;
  other_pin[7] = 1;
  SystemCache cache(DefaultAllocator(), 4);
  std::vector<System*> users;
  for (uint32_t i = 0; i < kLeastSharing; ++i) {
    users.push_back(cache.Acquire(shape.asset(), {}, free_nodes));
  }
  REQUIRE(cache.PrepareIdle(shape.asset(), {}, one_pin, std::span(&kDt, 1), 4).ok());
  users.push_back(cache.Acquire(shape.asset(), {}, one_pin));
  CHECK(users.back()->base == nullptr);
  bool made = false;
  REQUIRE(cache.Prepare(users.back(), kDt, 0.0f, 4, &made).ok());
  CHECK(!made);
  users.push_back(cache.Acquire(shape.asset(), {}, other_pin));
  CHECK(users.back()->base == users[0]);
  for (System* system : users) cache.Release(system);
}

}  // namespace prepare_system_test
