// SPDX-License-Identifier: MIT
// The scene of the tests of states; state_scene.h says what is in it.
#include "runtime/state/state_scene.h"

#include "base/id_layout.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/crowds/crowd_scene.h"
#include "state/state_format.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

namespace plush::test {
namespace {

// Bodies in the order in which Fill adds them.
constexpr uint32_t kNumFalling = 12;
constexpr uint32_t kSharing = kNumFalling;      // the first of two with more pins
constexpr uint32_t kSwinging = kSharing + 2;    // hangs at a region that moves
constexpr uint32_t kReporting = kSwinging + 1;  // the same, and reports reactions

std::vector<BodyId> BodiesOf(const World& world) {
  std::vector<BodyId> ids(world.num_bodies());
  uint32_t count = 0;
  REQUIRE(world.Bodies(ids, &count).ok());
  return ids;
}

// A pose on a slow swing. No libm: a parabola for each half of the period.
Pose Swing(const Vec3& centre, int step) {
  const float phase = static_cast<float>(step % 40) / 20.0f - 1.0f;  // in [-1, 1)
  const float side = phase < 0.0f ? 4.0f * phase * (phase + 1.0f) : 4.0f * phase * (1.0f - phase);
  return Pose{.position = {centre.x + 0.05f * side, centre.y, centre.z},
              .rotation = {0.0f, 0.0f, 0.2f * side, 1.0f}};
}

}  // namespace

StateScene::StateScene()
    : crowd_(CrowdBox(11)), small_(TetBox(2, 1, 1, 0.1, 0.05, 3), {2.0e5, 0.3, 900.0}) {
  assets_ = {&small_.asset(), nullptr, &crowd_.asset()};
}

WorldDesc StateScene::Desc() const {
  return WorldDesc{.sleep = {.speed = 0.05f, .time = 0.2f}, .tag = 77, .keep_previous = true};
}

void StateScene::Fill(World* world) const {
  Random random(5);
  ColliderId id;
  REQUIRE(world->AddCollider({.friction = 0.4f}, &id).ok());
  ColliderDesc wall = {.plane = {.normal = {-1.0f, 0.2f, 0.0f}, .offset = -20.0f},
                       .restitution = 0.25f,
                       .filter = {.category = 4}};
  REQUIRE(world->AddCollider(wall, &id).ok());
  std::vector<Vec3> hull = BoxCorners({0.1f, 0.2f, 0.15f});
  hull.push_back({0.0f, 0.3f, 0.05f});
  for (ColliderDesc desc :
       {SphereAt({2.5f, 0.05f, 0.1f}, 0.15f),
        CapsuleAt({{4.9f, 0.1f, 0.0f}, {0.5f, 0.0f, 0.0f, 1.0f}}, 0.3f, 0.06f),
        BoxAt({{7.3f, 0.2f, 0.1f}, {0.1f, 0.2f, 0.3f, 1.0f}}, {0.2f, 0.1f, 0.15f}),
        HullAt({{3.7f, 0.1f, 0.1f}}, hull)}) {
    desc.angular_velocity = {0.0f, 0.5f, 0.0f};
    REQUIRE(world->AddCollider(desc, &id).ok());
  }
  for (uint32_t i = 0; i < kNumFalling; ++i) {
    const float height = 0.1f + 0.25f * static_cast<float>(i);
    Member member =
        RandomMember(crowd_, {1.2f * static_cast<float>(i), height, 0.0f}, 0.3, &random);
    member.AddTo(world, crowd_.asset());
  }
  for (uint32_t i = 0; i < 2; ++i) {
    Member member = RandomMember(crowd_, {static_cast<float>(i), 2.0f, 3.0f}, 0.2, &random);
    member.pins = RandomPins(crowd_.num_nodes(), 3, &random);
    member.AddTo(world, crowd_.asset());
  }
  const std::span<const uint32_t> low = crowd_.asset().region(0).nodes;
  for (const bool reports : {false, true}) {
    BodyDesc desc = {.pose = {.position = {reports ? 2.0f : 0.0f, 1.0f, -3.0f}}};
    desc.pinned_nodes = low;
    desc.report_reactions = reports;
    AddBody(world, crowd_.asset(), desc);
  }
  BodyDesc large = {.pose = {.position = {-2.0f, 0.3f, 0.0f}},
                    .scale = 1.5f,
                    .material = {.young = 3.0e5f, .friction = 0.6f, .restitution = 0.3f},
                    .gravity_factor = 0.7f,
                    .filter = {.category = 2},
                    .user_data = 123};
  AddBody(world, crowd_.asset(), large);
  BodyDesc damped = {
      .pose = {.position = {-4.0f, 0.02f, 0.0f}}, .scale = 0.5f, .material = {.damping = 0.05f}};
  AddBody(world, small_.asset(), damped);
  for (uint32_t i = 0; i < 3; ++i) {  // these lie down to sleep
    AddBody(world, small_.asset(),
            {.pose = {.position = {-6.0f, 0.01f, static_cast<float>(i)}}, .max_speed = 3.0f});
  }
  AddBody(world, small_.asset(), {.pose = {.position = {-8.0f, 0.0f, 0.0f}}, .fixed = true});
  AttachBodies(world);
}

// In this order: a target that Drive moves, a turning collider, two bodies, and one that breaks.
void StateScene::AttachBodies(World* world) const {
  const std::vector<BodyId> ids = BodiesOf(*world);
  std::vector<ColliderId> colliders(world->num_colliders());
  uint32_t count = 0;
  REQUIRE(world->Colliders(colliders, &count).ok());
  const auto attach = [&](AttachmentDesc desc) {
    const uint32_t nodes[4] = {0, 1, 2, 3};
    std::copy(nodes, nodes + 4, desc.nodes);
    std::copy(nodes, nodes + 4, desc.other_nodes);
    desc.weights = desc.other_weights = {0.25f, 0.25f, 0.25f, 0.25f};
    AttachmentId id;
    REQUIRE(world->Attach(desc, &id).ok());
  };
  attach({.body = ids[2], .target = {2.4f, 1.0f, 0.0f}, .stiffness = 300.0f});
  attach({.body = ids[5],
          .other_collider = colliders[3],
          .target = {0.0f, 0.5f, 0.2f},
          .rest_length = 0.5f,
          .damping = 5.0f,
          .max_force = 100.0f});
  attach({.body = ids[7], .other_body = ids[9], .rest_length = 2.0f, .stiffness = 1.0e5f});
  attach({.body = ids[10], .target = {12.0f, 4.0f, 0.0f}, .break_force = 60.0f});
  // Constraints of a body in a crowd, with one that another implies.
  const auto constrain = [&](ConstraintDesc desc) {
    ConstraintId id;
    REQUIRE(world->AddConstraint(desc, &id).ok());
  };
  const Vec3 tilted = {0.2f, 1.0f, 0.1f};
  ConstraintDesc held = {.body = ids[3], .nodes = {1}, .target = {3.6f, 1.0f, 0.0f}};
  held.correction = 0.1f;
  constrain(held);  // the target moves
  constrain(held);
  held.kind = ConstraintKind::kLine;
  held.nodes[0] = 5;
  held.direction = tilted;
  constrain(held);
}

void StateScene::Drive(World* world, int step) const {
  const std::vector<BodyId> ids = BodiesOf(*world);
  const auto region = [&](uint32_t body, const Vec3& centre) {
    REQUIRE(world->MovePins(ids[body], 0, Swing(centre, step)).ok());
  };
  if (step % 100 < 60) region(kSwinging, {0.0f, 1.0f, -3.0f});
  if (step % 3 != 0) region(kReporting, {2.0f, 1.0f, -3.0f});
  if (step % 9 == 4) {
    ForceField field = {.type = step % 2 == 0 ? FieldType::kUniform : FieldType::kRadial,
                        .vector = {1.0f, 0.0f, -2.0f},
                        .centre = {3.0f, 0.5f, 0.0f},
                        .radius = 5.0f,
                        .strength = 8.0f};
    REQUIRE(world->AddForce(field).ok());
    REQUIRE(world->AddForce(ids[0], field).ok());
  }
  std::vector<ColliderId> colliders(world->num_colliders());
  uint32_t count = 0;
  REQUIRE(world->Colliders(colliders, &count).ok());
  if (step % 50 == 30) {
    Pose pose = {.position = {0.0f, 0.002f * static_cast<float>(step % 7), 0.0f}};
    REQUIRE(world->MoveCollider(colliders[0], pose).ok());
  }
  if (step % 20 == 7) {
    const AttachmentId first = {PackId(0, 1, Desc().tag)};
    const Vec3 target = {2.4f, 1.0f, 0.02f * static_cast<float>(step % 3)};
    REQUIRE(world->MoveAttachment(first, target).ok());
    const ConstraintId moving = {PackId(4, 1, Desc().tag)};
    REQUIRE(world->MoveConstraint(moving, target + Vec3{1.2f, 0.0f, 0.0f}).ok());
  }
  if (step == 120) REQUIRE(world->SetColliderVelocity(colliders[1], {-0.1f, 0, 0}, {}).ok());
  if (step == 150) REQUIRE(world->SetEnabled(ids[3], false).ok());
  if (step == 170) REQUIRE(world->SetEnabled(ids[3], true).ok());
}

std::vector<std::byte> SavedState(const World& world) {
  std::vector<std::byte> state(world.StateBytes());
  size_t size = 0;
  REQUIRE(world.SaveState(state, &size).ok());
  REQUIRE(size == state.size());
  return state;
}

void Load(World* world, std::span<const std::byte> state, const StateScene& scene) {
  const Status status = world->LoadState(state, scene.assets());
  INFO(status.section << ": " << status.reason << " at " << status.index);
  REQUIRE(status.ok());
}

std::vector<uint64_t> IdsOf(const World& world) {
  std::vector<uint64_t> all;
  for (const BodyId id : BodiesOf(world)) all.push_back(id.value);
  std::vector<ColliderId> colliders(world.num_colliders());
  uint32_t count = 0;
  REQUIRE(world.Colliders(colliders, &count).ok());
  for (const ColliderId id : colliders) all.push_back(id.value);
  return all;
}

void Reseal(std::span<std::byte> state) {
  StateHeader header;
  if (state.size() < sizeof(header)) return;
  std::memcpy(&header, state.data(), sizeof(header));
  StateChecksum checksum;
  const size_t whole = state.size() / kStateAlignment * kStateAlignment;
  checksum.Add(state.first(whole).subspan(sizeof(header)));
  header.checksum = checksum.value();
  std::memcpy(state.data(), &header, sizeof(header));
}

}  // namespace plush::test
