// SPDX-License-Identifier: MIT
// Calls on attachments: what they refuse, what they wake, how attachments break and go, in crowds
// and on threads, without allocations in steps.
#include "base/vector_math.h"
#include "runtime/attachments/attachment_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace attachment_calls_test {

constexpr float kDt = 0.01f;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const ShapeAsset& Box() {
  static const ShapeAsset* const box = new ShapeAsset(TetBox(2, 2, 2, 0.1, 0.09, 3), {3e5, 0.35});
  return *box;
}

// Holds a corner of the box.
AttachmentDesc At(BodyId body, const Vec3& target = {}) {
  AttachmentDesc desc = {.body = body, .target = target};
  desc.weights = desc.other_weights = {1.0f, 0.0f, 0.0f, 0.0f};
  return desc;
}

void Step(World* world, int steps) {
  for (int step = 0; step < steps; ++step) REQUIRE(StepWorld(world, kDt) == kStepOk);
}

void FallAsleep(World* world, BodyId id) {
  for (int step = 0; step < 5000 && !world->IsAsleep(id); ++step) StepWorld(world, kDt);
  REQUIRE(world->IsAsleep(id));
}

TEST_CASE("Attach refuses what is out of range and names the field") {
  World world;
  const BodyId body = AddBody(&world, Box().asset()), other = AddBody(&world, Box().asset());
  const BodyId fixed = AddBody(&world, Box().asset(), {.fixed = true});
  const BodyId removed = AddBody(&world, Box().asset());
  REQUIRE(world.RemoveBody(removed).ok());
  const ColliderId plane = AddCollider(&world), gone = AddCollider(&world);
  REQUIRE(world.RemoveCollider(gone).ok());
  struct Row {
    const char* field;
    StatusCode code;
    void (*change)(AttachmentDesc* desc);
  };
  static BodyId s_other, s_fixed, s_removed;
  static ColliderId s_plane, s_gone;
  s_other = other, s_fixed = fixed, s_removed = removed, s_plane = plane, s_gone = gone;
  const StatusCode bad = StatusCode::kInvalidArgument;
  const Row rows[] = {
      {"body", StatusCode::kNullId, [](AttachmentDesc* d) { d->body = {}; }},
      {"body", StatusCode::kStaleId, [](AttachmentDesc* d) { d->body = s_removed; }},
      {"body", StatusCode::kForeignId, [](AttachmentDesc* d) { d->body.value ^= 1ull << 50; }},
      {"body", bad, [](AttachmentDesc* d) { d->body = s_fixed; }},
      {"nodes", bad, [](AttachmentDesc* d) { d->nodes[3] = 1u << 30; }},
      {"weights", bad, [](AttachmentDesc* d) { d->weights.x = 0.9f; }},
      {"weights", bad,
       [](AttachmentDesc* d) {
         d->weights = {2.0f, -1.0f, 0.0f, 0.0f};
       }},
      {"weights", bad, [](AttachmentDesc* d) { d->weights.z = kNaN; }},
      {"other_body", StatusCode::kStaleId, [](AttachmentDesc* d) { d->other_body = s_removed; }},
      {"other_body", bad, [](AttachmentDesc* d) { d->other_body = s_fixed; }},
      {"other_body", bad, [](AttachmentDesc* d) { d->other_body = d->body; }},
      {"other_nodes", bad,
       [](AttachmentDesc* d) { d->other_body = s_other, d->other_nodes[0] = 1u << 30; }},
      {"other_weights", bad,
       [](AttachmentDesc* d) { d->other_body = s_other, d->other_weights.y = kInfinity; }},
      {"other_collider", bad,
       [](AttachmentDesc* d) { d->other_body = s_other, d->other_collider = s_plane; }},
      {"other_collider", StatusCode::kStaleId,
       [](AttachmentDesc* d) { d->other_collider = s_gone; }},
      {"target", bad, [](AttachmentDesc* d) { d->target.y = kNaN; }},
      {"target", bad, [](AttachmentDesc* d) { d->target.x = 2.0f * kMostCoordinate; }},
      {"rest_length", bad, [](AttachmentDesc* d) { d->rest_length = -1.0f; }},
      {"rest_length", bad, [](AttachmentDesc* d) { d->rest_length = kNaN; }},
      {"stiffness", bad, [](AttachmentDesc* d) { d->stiffness = -1.0f; }},
      {"stiffness", bad, [](AttachmentDesc* d) { d->stiffness = kInfinity; }},
      {"damping", bad, [](AttachmentDesc* d) { d->damping = kNaN; }},
      {"max_force", bad, [](AttachmentDesc* d) { d->max_force = 0.0f; }},
      {"max_force", bad, [](AttachmentDesc* d) { d->max_force = kNaN; }},
      {"break_force", bad, [](AttachmentDesc* d) { d->break_force = -1.0f; }},
  };
  for (const Row& row : rows) {
    AttachmentDesc desc = At(body);
    row.change(&desc);
    AttachmentId id = {1};
    const Status status = world.Attach(desc, &id);
    CAPTURE(row.field, status.section, status.reason);
    CHECK(status.code == row.code);
    CHECK(status.section == std::string(row.field));
    CHECK(!id.valid());
  }
  CHECK(world.num_attachments() == 0);
  SurfacePoint nowhere;
  AttachmentId id;
  CHECK(world.Attach(nowhere, At(body), &id).section == std::string("at"));
  CHECK(world.Attach(At(body), nullptr).code == bad);
  id = Attach(&world, At(body));
  CHECK(world.MoveAttachment(id, {kNaN, 0.0f, 0.0f}).section == std::string("target"));
  CHECK(world.MoveAttachment({}, {}).code == StatusCode::kNullId);
  AttachmentDesc joined = At(body);
  joined.other_body = other;
  CHECK(world.MoveAttachment(Attach(&world, joined), {}).code == bad);
  REQUIRE(world.Detach(id).ok());
  Vec3 force;
  CHECK(world.Detach(id).code == StatusCode::kStaleId);
  CHECK(world.AttachmentForce(id, &force).code == StatusCode::kStaleId);
  CHECK(world.num_attachments() == 1);
}

TEST_CASE("Removing a side detaches") {
  World world;
  const BodyId body = AddBody(&world, Box().asset()), other = AddBody(&world, Box().asset());
  const ColliderId plane = AddCollider(&world, {.plane = {.offset = -100.0f}});
  AttachmentDesc joined = At(body), carried = At(body);
  joined.other_body = other;
  carried.other_collider = plane;
  const AttachmentId to_body = Attach(&world, joined), to_collider = Attach(&world, carried);
  Step(&world, 3);
  REQUIRE(world.RemoveBody(other).ok());
  CHECK(!world.IsValid(to_body));
  CHECK(world.IsValid(to_collider));
  Step(&world, 3);
  REQUIRE(world.RemoveCollider(plane).ok());
  CHECK(!world.IsValid(to_collider));
  CHECK(world.num_attachments() == 0);
  // The body falls freely now.
  const double before = MomentsOf(world, body).linear_momentum[1];
  Step(&world, 1);
  const BodyMoments after = MomentsOf(world, body);
  CHECK(after.linear_momentum[1] - before ==
        Approx(-9.81 * double(kDt) * after.mass).epsilon(1e-4));
}

TEST_CASE("An attachment pulls with at most its largest force, and breaks beyond its break force") {
  World world(WorldDesc{.gravity = {}});
  const BodyId body = AddBody(&world, Box().asset());
  AttachmentDesc desc = At(body, {100.0f, 0.0f, 0.0f});
  desc.stiffness = 1.0e6f;
  desc.max_force = 5.0f;
  const AttachmentId pull = Attach(&world, desc);
  for (int step = 1; step <= 20; ++step) {
    Step(&world, 1);
    Vec3 force;
    REQUIRE(world.AttachmentForce(pull, &force).ok());
    CHECK(Length(force) == Approx(5.0).epsilon(1e-5));
    CHECK(MomentsOf(world, body).linear_momentum[0] ==
          Approx(5.0 * double(kDt) * step).epsilon(1e-3));
  }
  CHECK(world.attachment_events().empty());
  AttachmentDesc weak = At(body, {0.0f, 100.0f, 0.0f});
  weak.break_force = 20.0f;
  weak.stiffness = 1.0f;  // 100 N
  const AttachmentId breaks = Attach(&world, weak);
  Step(&world, 1);
  REQUIRE(world.attachment_events().size() == 1);
  const AttachmentEvent event = world.attachment_events()[0];
  CHECK(event.attachment == breaks);
  CHECK(event.body == body);
  CHECK(!event.other_body.valid());
  CHECK(Length(event.force) > 20.0f);
  CHECK(!world.IsValid(breaks));
  CHECK(world.IsValid(pull));
  Step(&world, 1);
  CHECK(world.attachment_events().empty());
}

TEST_CASE("Attached bodies fall asleep, and wake when a side moves or goes") {
  World world({.sleep = {.time = 0.1f}});
  const ColliderId ball =
      AddCollider(&world, {.type = ShapeType::kSphere, .pose = {.position = {0.0f, 5.0f, 0.0f}}});
  BodyDesc damped = {.material = {.damping = 0.1f}};
  const BodyId hung = AddBody(&world, Box().asset(), damped);
  const BodyId below = AddBody(&world, Box().asset(), damped);
  damped.pose.position = {3.0f, 0.0f, 0.0f};
  const BodyId carried = AddBody(&world, Box().asset(), damped);
  // Each body hangs at three nodes, so that it cannot swing.
  const std::vector<Vec3> rest = Box().rest();
  std::vector<AttachmentId> targets, joints;
  for (const uint32_t node : {0u, 2u, 6u}) {
    AttachmentDesc desc = At(hung, rest[node]);
    desc.nodes[0] = desc.other_nodes[0] = node;
    desc.damping = 100.0f;
    targets.push_back(Attach(&world, desc));
    desc.body = below;
    desc.other_body = hung;
    joints.push_back(Attach(&world, desc));
    desc = At(carried, rest[node] + Vec3{3.0f, -5.0f, 0.0f});
    desc.nodes[0] = node;
    desc.other_collider = ball;
    desc.damping = 100.0f;
    Attach(&world, desc);
  }
  FallAsleep(&world, below);
  CHECK(world.IsAsleep(hung));
  FallAsleep(&world, carried);
  float lift = 0.0f;
  for (const AttachmentId target : targets) {
    Vec3 force;
    REQUIRE(world.AttachmentForce(target, &force).ok());
    lift += force.y;
  }
  const double weight = 9.81 * (MomentsOf(world, hung).mass + MomentsOf(world, below).mass);
  CHECK(double(lift) == Approx(weight).epsilon(0.02));
  const uint64_t hash = world.StateHash();
  Step(&world, 10);
  CHECK(world.StateHash() == hash);

  REQUIRE(world.MoveAttachment(targets[0], rest[0]).ok());  // it is there already
  Step(&world, 1);
  CHECK(world.IsAsleep(hung));
  REQUIRE(world.MoveAttachment(targets[0], rest[0] + Vec3{0.0f, 0.1f, 0.0f}).ok());
  Step(&world, 1);
  CHECK(!world.IsAsleep(hung));
  CHECK(!world.IsAsleep(below));
  CHECK(world.IsAsleep(carried));
  REQUIRE(world.MoveCollider(ball, {.position = {0.0f, 5.1f, 0.0f}}).ok());
  Step(&world, 1);
  CHECK(!world.IsAsleep(carried));
  FallAsleep(&world, below);
  FallAsleep(&world, carried);
  REQUIRE(world.SetColliderPose(ball, {.position = {0.0f, 5.0f, 0.0f}}).ok());
  CHECK(!world.IsAsleep(carried));
  REQUIRE(world.Detach(joints[0]).ok());
  CHECK(!world.IsAsleep(below));
  CHECK(!world.IsAsleep(hung));
}

// Twelve equal bodies above each other, most of them held.
struct HungCrowd {
  World world;
  std::vector<BodyId> bodies;
  std::vector<AttachmentId> attachments;

  HungCrowd(const WorldDesc& desc, uint32_t num_bodies) : world(desc) {
    for (uint32_t i = 0; i < num_bodies; ++i) {
      const Vec3 at = {static_cast<float>(i), 0.0f, 0.0f};
      bodies.push_back(AddBody(&world, Box().asset(), {.pose = {.position = at}}));
      if (i % 3 == 2) continue;
      AttachmentDesc spring = At(bodies.back(), at);
      spring.stiffness = i % 2 == 0 ? 1.0e6f : 500.0f;
      spring.rest_length = i % 4 == 0 ? 0.1f : 0.0f;
      attachments.push_back(Attach(&world, spring));
    }
  }
};

TEST_CASE("An Attach without memory leaves the world as it was") {
  CountingMemory memory;
  {
    HungCrowd crowd({.allocator = memory.allocator()}, 20);
    AddCollider(&crowd.world, {.plane = {.offset = -0.2f}});
    AttachmentDesc joint = At(crowd.bodies[2]);
    joint.other_body = crowd.bodies[5];
    Attach(&crowd.world, joint);
    for (int step = 0; step < 3; ++step) StepWorld(&crowd.world, kDt);
    const uint64_t hash = crowd.world.StateHash();
    for (uint64_t n = 1; n < 8; ++n) {
      memory.FailAt(n, true);
      AttachmentId id;
      const Status status = crowd.world.Attach(joint, &id);
      memory.FailNever();
      if (status.ok()) REQUIRE(crowd.world.Detach(id).ok());
      CHECK(crowd.world.StateHash() == hash);
    }
    StepWorld(&crowd.world, kDt);
  }
  CHECK(memory.blocks_out() == 0);
  CHECK(memory.consistent());
}

}  // namespace attachment_calls_test
