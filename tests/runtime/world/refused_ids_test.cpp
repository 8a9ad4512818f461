// SPDX-License-Identifier: MIT
// Every call refuses ids that name nothing, and says why; a world without memory says so.
#include "runtime/tet_fixtures.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace refused_ids_test {

constexpr float kDt = 0.01f;

// A cube with a region of its lowest nodes, and a body of it for which every call succeeds.
ShapeAsset Standing() {
  return ShapeAsset::Baked(
      TetBox(1, 1, 1, 0.1), {}, double(kDt),
      R"({"regions": [{"name": "low", "box": [[-1, -1, -1], [1, 0.01, 1]]}]})");
}
BodyDesc HeldDesc(const ShapeAsset& shape) {
  return BodyDesc{.pinned_nodes = NodesOfRegion(shape.asset(), "low"), .report_reactions = true};
}

template <class AnyId>
struct NamedCall {
  std::string name;
  std::function<Status(World*, AnyId)> call;
};

template <class AnyId, class Out>
NamedCall<AnyId> Getter(const char* name, Status (World::*get)(AnyId, Out*) const) {
  return {name, [get](World* w, AnyId id) {
            Out out{};
            return (w->*get)(id, &out);
          }};
}

// Every call that takes a body's id and returns a status, but PatchOf, with arguments that are
// right for HeldDesc.
std::vector<NamedCall<BodyId>> CallsWithBodies(const ShapeAsset& shape) {
  const std::vector<Vec3> nodes = shape.rest();
  const size_t num_vertices = shape.asset().visual().positions.size();
  const auto low = NodesOfRegion(shape.asset(), "low");
  const std::vector<uint32_t> pins(low.begin(), low.end());
  std::vector<Vec3> targets;
  for (const uint32_t pin : pins) targets.push_back(nodes[pin]);
  return {
      Getter<BodyId, Bounds>("GetBounds", &World::GetBounds),
      {"AddImpulse",
       [](World* w, BodyId id) {
         SurfacePoint point;
         const Status status = w->ClosestPoint({}, 1.0e9f, {}, &point);
         if (!status.ok()) return status;
         point.body = id;
         return w->AddImpulse(point, {0.0f, 0.1f, 0.0f});
       }},
      {"AddForce", [](World* w, BodyId id) { return w->AddForce(id, {}); }},
      {"MovePins of a region", [](World* w, BodyId id) { return w->MovePins(id, 0, {}); }},
      {"MovePins", [=](World* w, BodyId id) { return w->MovePins(id, pins, targets); }},
      {"RegionReaction",
       [](World* w, BodyId id) {
         Reaction reaction;
         return w->RegionReaction(id, 0, &reaction);
       }},
      {"NodeReactions",
       [=](World* w, BodyId id) {
         std::vector<Vec3> forces = nodes;
         return w->NodeReactions(id, forces);
       }},
      {"Teleport",
       [](World* w, BodyId id) {
         return w->Teleport(id, {.position = {1.0f, 2.0f, 3.0f}});
       }},
      {"ResetBody",
       [](World* w, BodyId id) {
         return w->ResetBody(id, {.position = {1.0f, 2.0f, 3.0f}});
       }},
      {"SetGravityFactor", [](World* w, BodyId id) { return w->SetGravityFactor(id, 0.5f); }},
      {"SetMaxSpeed", [](World* w, BodyId id) { return w->SetMaxSpeed(id, 30.0f); }},
      Getter<BodyId, float>("GetGravityFactor", &World::GetGravityFactor),
      Getter<BodyId, float>("GetMaxSpeed", &World::GetMaxSpeed),
      {"SetReportContacts", [](World* w, BodyId id) { return w->SetReportContacts(id, true); }},
      Getter<BodyId, float>("GetScale", &World::GetScale),
      {"GetPinnedNodes",
       [](World* w, BodyId id) {
         uint32_t count = 0;
         return w->GetPinnedNodes(id, {}, &count);
       }},
      Getter<BodyId, MaterialOverride>("GetMaterial", &World::GetMaterial),
      {"SetEnabled", [](World* w, BodyId id) { return w->SetEnabled(id, true); }},
      {"SetFilter", [](World* w, BodyId id) { return w->SetFilter(id, {.category = 2}); }},
      Getter<BodyId, Filter>("GetFilter", &World::GetFilter),
      {"SetUserData", [](World* w, BodyId id) { return w->SetUserData(id, 77); }},
      Getter<BodyId, uint64_t>("GetUserData", &World::GetUserData),
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
      Getter<BodyId, BodyMoments>("Moments", &World::Moments),
      Getter<BodyId, Pose>("BestFitPose", &World::BestFitPose),
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

// The same for colliders.
std::vector<NamedCall<ColliderId>> CallsWithColliders() {
  return {
      Getter<ColliderId, ColliderDesc>("GetCollider", &World::GetCollider),
      {"SetColliderPose",
       [](World* w, ColliderId id) {
         return w->SetColliderPose(id, {.position = {1, 0, 0}});
       }},
      {"MoveCollider",
       [](World* w, ColliderId id) {
         return w->MoveCollider(id, {.position = {0, 1, 0}});
       }},
      {"SetColliderVelocity",
       [](World* w, ColliderId id) {
         return w->SetColliderVelocity(id, {0, 1, 0}, {0, 0, 1});
       }},
      Getter<ColliderId, Reaction>("ColliderReaction", &World::ColliderReaction),
      {"SetColliderSurfaceVelocity",
       [](World* w, ColliderId id) {
         return w->SetColliderSurfaceVelocity(id, {1, 0, 0});
       }},
      {"SetColliderFriction",
       [](World* w, ColliderId id) { return w->SetColliderFriction(id, 0.1f); }},
      {"SetColliderRestitution",
       [](World* w, ColliderId id) { return w->SetColliderRestitution(id, 0.1f); }},
      {"SetFilter", [](World* w, ColliderId id) { return w->SetFilter(id, {.mask = 2}); }},
      {"SetUserData", [](World* w, ColliderId id) { return w->SetUserData(id, 77); }},
      Getter<ColliderId, uint64_t>("GetUserData", &World::GetUserData),
      {"RemoveCollider", [](World* w, ColliderId id) { return w->RemoveCollider(id); }},  // last
  };
}

// Ids that name nothing in the world of `id`, which has given out no later one, and what it says of
// them.
template <class AnyId>
std::vector<std::pair<AnyId, StatusCode>> WrongIds(AnyId id, AnyId stale, AnyId foreign) {
  return {
      {AnyId{}, StatusCode::kNullId},
      {stale, StatusCode::kStaleId},
      {foreign, StatusCode::kForeignId},
      {AnyId{id.value + 1}, StatusCode::kForeignId},                     // no such slot yet
      {AnyId{id.value | 0xffffffull}, StatusCode::kForeignId},           // the last slot
      {AnyId{id.value + (uint64_t{1} << 24)}, StatusCode::kForeignId},   // a generation to come
      {AnyId{id.value & ~(0xffffffull << 24)}, StatusCode::kForeignId},  // generation 0
      {AnyId{id.value ^ (uint64_t{1} << 48)}, StatusCode::kForeignId},   // another tag
      {AnyId{~uint64_t{0}}, StatusCode::kForeignId},
  };
}

template <class AnyId>
void CheckRefused(World* world, const std::vector<NamedCall<AnyId>>& calls,
                  const std::pair<AnyId, StatusCode>& wrong) {
  for (const NamedCall<AnyId>& call : calls) {
    CAPTURE(call.name, wrong.first.value);
    const Status status = call.call(world, wrong.first);
    CHECK(status.code == wrong.second);
    CHECK(std::string(status.section) == "id");
  }
  CHECK_FALSE(world->IsValid(wrong.first));
}

TEST_CASE("Every call refuses null, foreign and stale ids, and changes nothing") {
  const ShapeAsset shape = Standing();
  World world({.tag = 7}), other({.tag = 8});
  const BodyId stale = AddBody(&world, shape.asset());
  const BodyId id = AddBody(&world, shape.asset(), HeldDesc(shape));
  const BodyId foreign = AddBody(&other, shape.asset());
  REQUIRE(world.RemoveBody(stale).ok());
  REQUIRE(world.SetUserData(id, 5).ok());
  const uint64_t hash = world.StateHash();
  const auto calls = CallsWithBodies(shape);
  for (const auto& wrong : WrongIds(id, stale, foreign)) {
    CheckRefused(&world, calls, wrong);
    DeformedPatch patch;
    CHECK(world.PatchOf(wrong.first, 0, &patch).code == wrong.second);
    CHECK_FALSE(world.IsAsleep(wrong.first));
    CHECK_FALSE(world.IsFrozen(wrong.first));
    CHECK_FALSE(world.IsEnabled(wrong.first));
  }
  CHECK(world.StateHash() == hash);
  CHECK(world.num_bodies() == 1);
  CHECK(world.IsValid(id));
  CHECK(world.IsEnabled(id));
  uint64_t user_data = 0;
  CHECK(world.GetUserData(id, &user_data).ok());
  CHECK(user_data == 5);
  for (const auto& call : calls) {
    CAPTURE(call.name);
    CHECK(call.call(&world, id).ok());
  }
  CHECK(world.num_bodies() == 0);
  CHECK(other.num_bodies() == 1);
}

TEST_CASE("Every call on colliders refuses null, foreign and stale ids, and changes nothing") {
  World world({.tag = 7}), other({.tag = 8});
  const ColliderId stale = AddPlane(&world, {}), id = AddPlane(&world, {{1, 0, 0}, -2.0f}, 0.25f);
  const ColliderId foreign = AddPlane(&other, {});
  REQUIRE(world.RemoveCollider(stale).ok());
  const auto calls = CallsWithColliders();
  for (const auto& wrong : WrongIds(id, stale, foreign)) CheckRefused(&world, calls, wrong);
  CHECK(world.num_colliders() == 1);
  CHECK(world.IsValid(id));
  ColliderDesc desc;
  REQUIRE(world.GetCollider(id, &desc).ok());
  CHECK((desc.plane.normal.x == 1.0f && desc.plane.offset == -2.0f && desc.friction == 0.25f));
  CHECK((desc.pose.position.x == 0.0f && desc.velocity.y == 0.0f && desc.user_data == 0));
  CHECK(desc.filter == Filter{});
  for (const auto& call : calls) {
    CAPTURE(call.name);
    CHECK(call.call(&world, id).ok());
  }
  CHECK(world.num_colliders() == 0);
  CHECK(other.num_colliders() == 1);
}

TEST_CASE("Calls of a world without memory say so") {
  CountingMemory memory;
  memory.FailAt(1, false);
  World world({.allocator = memory.allocator()});
  const ShapeAsset shape = Standing();
  for (const auto& call : CallsWithBodies(shape)) {
    CAPTURE(call.name);
    CHECK(call.call(&world, {1}).code == StatusCode::kOutOfMemory);
  }
  for (const auto& call : CallsWithColliders()) {
    CAPTURE(call.name);
    CHECK(call.call(&world, {1}).code == StatusCode::kOutOfMemory);
  }
  BodyId id;
  ColliderId collider;
  WorldMeasures measures;
  uint32_t count = 1;
  CHECK_FALSE(world.IsValid(BodyId{1}));
  CHECK_FALSE(world.IsValid(ColliderId{1}));
  CHECK(world.num_bodies() + world.num_colliders() == 0);
  CHECK(world.body_events().empty());
  CHECK(world.Bodies({}, &count).code == StatusCode::kOutOfMemory);
  CHECK(world.Colliders({}, &count).code == StatusCode::kOutOfMemory);
  CHECK(world.AddCollider({}, &collider).code == StatusCode::kOutOfMemory);
  CHECK(world.AddForce({}).code == StatusCode::kOutOfMemory);
  CHECK(world.SetGravity({}).code == StatusCode::kOutOfMemory);
  CHECK(world.PrepareSystem(shape.asset(), {}).code == StatusCode::kOutOfMemory);
  CHECK(world.PrepareTimeStep(kDt).code == StatusCode::kOutOfMemory);
  world.PrepareQueries();
  world.SetContact({});
  world.SetSleep({});
  world.Draw({});
  CHECK(world.AddBody(shape.asset(), {}, &id).code == StatusCode::kOutOfMemory);
  CHECK(world.Step(kDt).code == StatusCode::kOutOfMemory);
  CHECK(world.Measure(&measures).code == StatusCode::kOutOfMemory);
}

}  // namespace refused_ids_test
