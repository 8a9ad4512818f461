// SPDX-License-Identifier: MIT
// Ids are given out once. Coming and going costs no memory, and bodies form crowds as before.
#include "runtime/crowds/crowd_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <set>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace ids_test {

constexpr float kDt = 0.01f;

ShapeAsset Cube() { return ShapeAsset(TetBox(1, 1, 1, 0.1), {}, double(kDt)); }

TEST_CASE("An id holds slot, generation and tag, and slots come back in the order of removal") {
  const ShapeAsset shape = Cube();
  World world({.tag = 0x1234});
  const BodyId a = AddBody(&world, shape.asset()), b = AddBody(&world, shape.asset());
  CHECK(a.value == 0x1234000001000000ull);
  CHECK(b.value == 0x1234000001000001ull);
  REQUIRE(world.RemoveBody(b).ok());
  REQUIRE(world.RemoveBody(a).ok());
  CHECK(AddBody(&world, shape.asset()).value == 0x1234000002000001ull);
  CHECK(AddBody(&world, shape.asset()).value == 0x1234000002000000ull);
  CHECK(AddBody(&world, shape.asset()).value == 0x1234000001000002ull);
  CHECK(World().num_bodies() == 0);
}

TEST_CASE("A body that is refused takes no id") {
  const ShapeAsset shape = Cube();
  World world;
  BodyId refused = {5};
  CHECK_FALSE(world.AddBody(Asset(), {}, &refused).ok());
  CHECK_FALSE(refused.valid());
  CHECK(AddBody(&world, shape.asset()).value == 0x1000000ull);
}

TEST_CASE("A hundred thousand bodies that come and go never share an id nor take more memory") {
  const ShapeAsset shape = Cube();
  CountingMemory memory;
  {
    World world({.allocator = memory.allocator()});
    std::vector<BodyId> live;
    for (int i = 0; i < 20; ++i) live.push_back(AddBody(&world, shape.asset()));
    std::set<uint64_t> given;
    size_t held = 0, blocks = 0;
    for (size_t pair = 0; pair < 100000; ++pair) {
      BodyId& body = live[pair * 7 % live.size()];
      if (!world.RemoveBody(body).ok()) FAIL("not removed");
      body = AddBody(&world, shape.asset());
      if (!given.insert(body.value).second) FAIL("given out twice: " << body.value);
      if (pair % 20000 == 10) StepWorld(&world, kDt);
      if (pair == 1000) {
        held = memory.bytes_out();
        blocks = memory.blocks_out();
      }
    }
    CHECK(memory.bytes_out() == held);
    CHECK(memory.blocks_out() == blocks);
    CHECK(world.num_bodies() == 20);
  }
  CHECK(memory.blocks_out() == 0);
  CHECK(memory.consistent());
}

TEST_CASE("Hashes and queries go in the order of slots, whatever the generations") {
  const ShapeAsset shape = Cube();
  World world, fresh;
  BodyDesc low, high;
  high.pose.position.y = 1.0f;
  const BodyId first = AddBody(&world, shape.asset());
  AddBody(&world, shape.asset(), high);
  REQUIRE(world.RemoveBody(first).ok());
  const BodyId again = AddBody(&world, shape.asset(), low);  // slot 0, generation 2
  CHECK((again.value & 0xffffff) == 0);
  AddBody(&fresh, shape.asset(), low);
  AddBody(&fresh, shape.asset(), high);
  CHECK(world.StateHash() == fresh.StateHash());
  for (int step = 0; step < 10; ++step) {
    StepWorld(&world, kDt);
    StepWorld(&fresh, kDt);
  }
  CHECK(world.StateHash() == fresh.StateHash());
}

TEST_CASE("Bodies whose slots come back join crowds, and move as in a world without removals") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  const ShapeAsset shape = CrowdBox(seed);
  Random random(seed);
  World world;
  std::vector<Member> members;
  std::vector<BodyId> ids;
  for (int i = 0; i < 40; ++i) {
    members.push_back(RandomMember(shape, {static_cast<float>(i), 5.0f, 0.0f}, 1.0, &random));
    ids.push_back(members.back().AddTo(&world, shape.asset()));
  }
  for (int i = 0; i < 400; ++i) {
    const size_t leaves = random.Below(40);
    REQUIRE(world.RemoveBody(ids[leaves]).ok());
    if (i % 50 == 20) StepWorld(&world, kDt);
    ids[leaves] = members[leaves].AddTo(&world, shape.asset());
  }
  // All start again together, in this world and in one that knows nothing of the past.
  World fresh;
  std::vector<BodyId> fresh_ids;
  for (const BodyId id : ids) REQUIRE(world.RemoveBody(id).ok());
  for (size_t i = 0; i < members.size(); ++i) {
    ids[i] = members[i].AddTo(&world, shape.asset());
    fresh_ids.push_back(members[i].AddTo(&fresh, shape.asset()));
  }
  for (int step = 0; step < 20; ++step) {
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    REQUIRE(StepWorld(&fresh, kDt) == kStepOk);
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    CAPTURE(i);
    REQUIRE(StateOf(world, ids[i], shape.num_nodes()) ==
            StateOf(fresh, fresh_ids[i], shape.num_nodes()));
  }
}

}  // namespace ids_test
