// SPDX-License-Identifier: MIT
// Crowds take memory only when bodies are added. Without memory, bodies step by themselves.
#include "runtime/crowds/crowd_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

using namespace plush;
using namespace plush::test;

namespace crowd_memory_test {

constexpr float kDt = 0.01f;

WorldDesc DescOf(CountingMemory* memory) { return WorldDesc{.allocator = memory->allocator()}; }

// Free bodies in a row, 2 m above the ground.
Member MemberAt(const ShapeAsset& shape, int place, Random* random) {
  return RandomMember(shape, {static_cast<float>(place), 2.0f, 0.0f}, 0.5, random);
}

std::vector<BodyId> AddRow(World* world, const ShapeAsset& shape, int count, Random* random) {
  std::vector<BodyId> ids;
  for (int i = 0; i < count; ++i) {
    ids.push_back(MemberAt(shape, i, random).AddTo(world, shape.asset()));
  }
  return ids;
}

BodyDesc Pinned(const std::vector<uint32_t>& pins) {
  return BodyDesc{.pose = {.position = {0.0f, 2.0f, 5.0f}}, .pinned_nodes = pins};
}

TEST_CASE("Removing bodies frees the memory of their crowds") {
  const uint32_t seed = GENERATE(3u, 4u, 5u);
  CAPTURE(seed);
  CountingMemory memory;
  const ShapeAsset shape = CrowdBox(seed);
  const auto region = NodesOfRegion(shape.asset(), "low");
  {
    WorldDesc desc = DescOf(&memory);
    desc.idle_systems = 0;  // those of other pins have other sizes
    World world(desc);
    Random random(seed);
    size_t before = 0;
    // Lists of all ids reach their size in the first round.
    for (int round = 0; round < 2; ++round) {
      std::vector<BodyId> ids;
      for (int i = 0; i < (round == 0 ? 40 : 24); ++i) {
        Member member = MemberAt(shape, i, &random);
        if (i > 10 && i % 3 == 0) member.pins = RandomPins(shape.num_nodes(), 4, &random);
        if (i > 10 && i % 3 == 1) member.pins.assign(region.begin(), region.end());
        ids.push_back(member.AddTo(&world, shape.asset()));
      }
      while (!ids.empty()) {
        REQUIRE(StepWorld(&world, kDt) == kStepOk);
        const size_t leaves = random.Below(static_cast<uint32_t>(ids.size()));
        REQUIRE(world.RemoveBody(ids[leaves]).ok());
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(leaves));
      }
      CHECK(world.num_bodies() == 0);
      if (round == 0) before = memory.bytes_out();
    }
    CHECK(memory.bytes_out() == before);
  }
  CHECK(memory.blocks_out() == 0);
  CHECK(memory.bytes_out() == 0);
  CHECK(memory.consistent());
}

TEST_CASE("Wherever memory runs out as crowds are made, bodies step", "[long]") {
  const bool only_once = GENERATE(true, false);
  // Which body meets the memory shortage: the one for which a first crowd is made, one that shares
  // that crowd's factor, one with its own factor, or the one for which a second crowd is made.
  const int which = GENERATE(0, 1, 2, 3);
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1, 0.05, 1), {}, double(kDt));
  Random pins_random(9);
  const std::vector<uint32_t> few = RandomPins(shape.num_nodes(), 3, &pins_random);
  int failures = 0, successes = 0;
  for (uint64_t n = 1; n < 200; ++n) {
    CAPTURE(n, only_once, which);
    CountingMemory memory;
    bool ran_through = false;
    {
      World world(DescOf(&memory));
      Random random(6);
      AddPlane(&world, {});
      std::vector<BodyId> ids = AddRow(&world, shape,
                                       which == 0   ? 5
                                       : which == 3 ? 25
                                                    : 7,
                                       &random);
      BodyDesc desc = {.pose = {.position = {-1.0f, 2.0f, 0.0f}}};
      if (which == 1) desc = Pinned(few);
      if (which == 2) desc.material.young = 3.0e5f;
      const uint64_t before = memory.requests();
      BodyId id;
      memory.FailAt(n, only_once);
      const Status status = world.AddBody(shape.asset(), desc, &id);
      ran_through = memory.requests() - before < n;
      memory.FailNever();
      REQUIRE(id.valid() == status.ok());
      REQUIRE((status.ok() || status.code == StatusCode::kOutOfMemory));
      (id.valid() ? successes : failures) += 1;
      if (id.valid()) ids.push_back(id);
      for (int step = 0; step < 5; ++step) {
        REQUIRE((StepWorld(&world, step == 3 ? 0.5f * kDt : kDt) & ~kStepPreparedTimeStep) ==
                kStepOk);
      }
      // All bodies fell, except those with pins.
      for (const BodyId body : ids) {
        if (which == 1 && body.value == id.value) continue;
        REQUIRE(MomentsOf(world, body).centre[1] < 2.2);
      }
      for (int i = 0; i < 10; ++i) {
        ids.push_back(MemberAt(shape, 30 + i, &random).AddTo(&world, shape.asset()));
      }
      REQUIRE(StepWorld(&world, kDt) == kStepOk);
      REQUIRE(HadCrowds(world));
      for (size_t i = 0; i < ids.size(); i += 2) REQUIRE(world.RemoveBody(ids[i]).ok());
      REQUIRE(StepWorld(&world, kDt) == kStepOk);
    }
    REQUIRE(memory.blocks_out() == 0);
    REQUIRE(memory.bytes_out() == 0);
    REQUIRE(memory.consistent());
    if (ran_through) break;
  }
  CHECK(failures > 5);
  // The body was added in some attempts in which the crowd was not.
  if (which == 0 || which == 3) CHECK(successes > 2);
}

TEST_CASE("A crowd steps on after a plane for which there was no memory", "[long]") {
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1, 0.05, 1), {}, double(kDt));
  int failures = 0;
  for (uint64_t n = 1; n < 200; ++n) {
    CAPTURE(n);
    CountingMemory memory;
    World world(DescOf(&memory));
    Random random(7);
    AddPlane(&world, {{0.0f, 1.0f, 0.0f}, -5.0f});
    const std::vector<BodyId> ids = AddRow(&world, shape, 8, &random);
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    REQUIRE(HadCrowds(world));
    memory.FailAt(n, true);
    ColliderId aside;
    const Status added = world.AddCollider({.plane = {{1.0f, 0.0f, 0.0f}, -50.0f}}, &aside);
    memory.FailNever();
    failures += added.ok() ? 0 : 1;
    for (int step = 0; step < 3; ++step) {
      REQUIRE(StepWorld(&world, kDt) == kStepOk);
      REQUIRE(HadCrowds(world));
    }
    // A plane stops all of them.
    AddPlane(&world, {{0.0f, 1.0f, 0.0f}, 1.0f});
    for (int step = 0; step < 80; ++step) StepWorld(&world, kDt);
    REQUIRE(MeasuresOf(world).max_penetration < 1e-4f);
    for (const BodyId id : ids) REQUIRE(MomentsOf(world, id).centre[1] > 1.0);
    if (added.ok()) break;
  }
  CHECK(failures > 8);
}

}  // namespace crowd_memory_test
