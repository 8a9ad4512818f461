// SPDX-License-Identifier: MIT
// Ids are given out once, and every call refuses those that name no body. Coming and going costs
// no memory, and bodies form crowds as before.
#include "runtime/world/crowd_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;

ShapeAsset Cube() { return ShapeAsset(TetBox(1, 1, 1, 0.1), {}, double(kDt)); }

struct NamedCall {
  std::string name;
  std::function<Status(World*, BodyId)> call;
};

// Every call that takes an id and returns a status, with arguments that are right for a Cube.
std::vector<NamedCall> CallsWithIds(const ShapeAsset& shape) {
  const std::vector<Vec3> nodes = shape.rest();
  const size_t num_vertices = shape.asset().visual().positions.size();
  return {
      {"Skin",
       [=](World* w, BodyId id) {
         std::vector<Vec3> x(num_vertices), n(num_vertices);
         return w->Skin(id, 1.0f, TargetOf(x, n));
       }},
      {"NodePositions",
       [=](World* w, BodyId id) {
         std::vector<Vec3> x = nodes;
         return w->NodePositions(id, 1.0f, x);
       }},
      {"NodeVelocities",
       [=](World* w, BodyId id) {
         std::vector<Vec3> v = nodes;
         return w->NodeVelocities(id, v);
       }},
      {"SetNodeVelocities", [=](World* w, BodyId id) { return w->SetNodeVelocities(id, nodes); }},
      {"AddImpulses", [=](World* w, BodyId id) { return w->AddImpulses(id, nodes); }},
      {"SetNodePositions", [=](World* w, BodyId id) { return w->SetNodePositions(id, nodes); }},
      {"ElasticForces",
       [=](World* w, BodyId id) {
         std::vector<Vec3> f = nodes;
         return w->ElasticForces(id, f);
       }},
      {"Moments",
       [](World* w, BodyId id) {
         BodyMoments moments;
         return w->Moments(id, &moments);
       }},
      {"BestFitPose",
       [](World* w, BodyId id) {
         Pose pose;
         return w->BestFitPose(id, &pose);
       }},
      {"SetPinnedNodes",
       [](World* w, BodyId id) { return w->SetPinnedNodes(id, std::vector<uint32_t>{1}); }},
      {"SetMaterial", [](World* w, BodyId id) { return w->SetMaterial(id, {.young = 2.0e5f}); }},
      {"Wake", [](World* w, BodyId id) { return w->Wake(id); }},
      {"Raycast",
       [](World* w, BodyId id) {
         SurfacePoint hit;
         return w->Raycast(id, {}, &hit);
       }},
      {"RaycastAll",
       [](World* w, BodyId id) {
         uint32_t count = 0;
         return w->RaycastAll(id, {}, {}, &count);
       }},
      {"OverlapSphere",
       [](World* w, BodyId id) {
         uint32_t count = 0;
         return w->OverlapSphere(id, {}, 1.0f, {}, &count);
       }},
      {"ClosestPoint",
       [](World* w, BodyId id) {
         SurfacePoint point;
         return w->ClosestPoint(id, {}, 1.0f, &point);
       }},
      {"RemoveBody", [](World* w, BodyId id) { return w->RemoveBody(id); }},  // last
  };
}

}  // namespace

TEST_CASE("Every call refuses null, foreign and stale ids, and changes nothing") {
  const ShapeAsset shape = Cube();
  World world({.tag = 7}), other({.tag = 8});
  const BodyId stale = AddBody(&world, shape.asset());
  const BodyId id = AddBody(&world, shape.asset());
  const BodyId foreign = AddBody(&other, shape.asset());
  REQUIRE(world.RemoveBody(stale).ok());
  const std::vector<std::pair<BodyId, StatusCode>> wrong_ids = {
      {BodyId{}, StatusCode::kNullId},
      {stale, StatusCode::kStaleId},
      {foreign, StatusCode::kForeignId},
      {BodyId{id.value + 1}, StatusCode::kForeignId},                     // no such slot yet
      {BodyId{id.value | 0xffffffull}, StatusCode::kForeignId},           // the last slot
      {BodyId{id.value + (uint64_t{1} << 24)}, StatusCode::kForeignId},   // a generation to come
      {BodyId{id.value & ~(0xffffffull << 24)}, StatusCode::kForeignId},  // generation 0
      {BodyId{id.value ^ (uint64_t{1} << 48)}, StatusCode::kForeignId},   // another tag
      {BodyId{~uint64_t{0}}, StatusCode::kForeignId},
  };
  const uint64_t hash = world.StateHash();
  const auto calls = CallsWithIds(shape);
  for (const auto& [wrong, code] : wrong_ids) {
    for (const NamedCall& call : calls) {
      CAPTURE(call.name, wrong.value);
      const Status status = call.call(&world, wrong);
      CHECK(status.code == code);
      CHECK(std::string(status.section) == "id");
    }
    DeformedPatch patch;
    CHECK(world.PatchOf(wrong, 0, &patch).code == code);
    CHECK_FALSE(world.IsAsleep(wrong));
  }
  CHECK(world.StateHash() == hash);
  CHECK(world.num_bodies() == 1);
  for (const NamedCall& call : calls) {
    CAPTURE(call.name);
    CHECK(call.call(&world, id).ok());
  }
  CHECK(world.num_bodies() == 0);
  CHECK(other.num_bodies() == 1);
}

TEST_CASE("Calls of a world without memory say so") {
  CountingMemory memory;
  memory.FailAt(1, false);
  WorldDesc desc;
  desc.allocator = memory.allocator();
  World world(desc);
  const ShapeAsset shape = Cube();
  for (const NamedCall& call : CallsWithIds(shape)) {
    CAPTURE(call.name);
    CHECK(call.call(&world, {1}).code == StatusCode::kOutOfMemory);
  }
  BodyId id;
  WorldMeasures measures;
  CHECK(world.AddBody(shape.asset(), {}, &id).code == StatusCode::kOutOfMemory);
  CHECK(world.Step(kDt).code == StatusCode::kOutOfMemory);
  CHECK(world.Measure(&measures).code == StatusCode::kOutOfMemory);
}

TEST_CASE("An id holds slot, generation and tag; slots come back in the order of removal") {
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
    WorldDesc desc;
    desc.allocator = memory.allocator();
    World world(desc);
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
