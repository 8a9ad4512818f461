// SPDX-License-Identifier: MIT
// Any bytes give an error and an unchanged world, or a world that steps. Sanitized in
// plush_runtime_asan_tests. PLUSH_TEST_FULL=1 changes every byte and makes 30 times as many random
// edits.
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/state/state_scene.h"
#include "shapes/shape_asset.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <iterator>
#include <memory>
#include <random>

using namespace plush;
using namespace plush::test;

namespace state_fuzz_test {

// A world whose state is small, but has a crowd, contacts with a plane, a hull, a mesh and a height
// field, a sensor, a conveyor, springs, couplings, pins with targets, a force and the end of a
// removed body's contact.
class SmallScene {
 public:
  SmallScene()
      : shape_(TetBox(1, 1, 1, 0.1)),
        box_(plush::tests::MakeBox({-0.2, -0.2, -0.2}, {0.2, 0, 0.2})) {
    assets_ = {&shape_.asset()};
    world_ = MakeWorld();  // with a mesh and a height field
    AddCollider(world_.get(), {.surface_velocity = {0.1f, 0.0f, 0.0f}});
    const ColliderId hull = AddCollider(world_.get(), HullAt({{8.0f, 0.2f, 2.0f}}, corners_));
    for (int i = 0; i < 7; ++i) {
      BodyDesc desc = {.pose = {.position = {static_cast<float>(i), i < 5 ? 2.0f : 0.005f, 0.0f}}};
      AddBody(world_.get(), shape_.asset(), desc);
    }
    for (const Vec3& above : {kOnHull, kOnMesh, kOnField}) {
      AddBody(world_.get(), shape_.asset(), BodyAt(above));
    }
    ColliderDesc sensor = BoxAt({{8.0f, 0.0f, 0.0f}}, {0.3f, 0.3f, 0.3f});
    sensor.sensor = true;
    AddCollider(world_.get(), sensor);
    AttachBodies(hull);
    const std::vector<uint32_t> pins = {0, 1};
    BodyDesc hanging = {.pose = {.position = {0.0f, 3.0f, 3.0f}}, .pinned_nodes = pins};
    const BodyId shared = AddBody(world_.get(), shape_.asset(), hanging);
    hanging.report_reactions = true;
    const BodyId moved = AddBody(world_.get(), shape_.asset(), hanging);
    const BodyId removed = AddBody(world_.get(), shape_.asset());
    REQUIRE(world_->RemoveBody(removed).ok());
    BodyDesc reporting = {.pose = {.position = {8.0f, 0.005f, 0.0f}}, .report_contacts = true};
    const BodyId goes = AddBody(world_.get(), shape_.asset(), reporting);
    for (int step = 0; step < 12; ++step) StepWorld(world_.get(), kStateDt);
    RequireContacts();
    REQUIRE(world_->contact_events().size() == 2);  // ground and sensor
    REQUIRE(world_->RemoveBody(goes).ok());
    const std::vector<Vec3> targets = {{0.0f, 3.01f, 3.0f}, {0.1f, 3.0f, 3.0f}};
    for (const BodyId id : {shared, moved}) REQUIRE(world_->MovePins(id, pins, targets).ok());
    REQUIRE(world_->AddForce({.vector = {1.0f, 0.0f, 0.0f}}).ok());
    state_ = SavedState(*world_);
  }

  std::unique_ptr<World> MakeWorld() const {
    WorldDesc desc = {.tag = 5, .keep_previous = true};
    auto world = std::make_unique<World>(desc);
    // States hold no triangles: a world needs them to load one.
    AddCollider(world.get(), MeshOf(box_, {{10.0f, 0.4f, 2.0f}}));
    AddCollider(world.get(), {.type = ShapeType::kHeightField,
                              .height_field = {heights_, 2, 3, 0.3f},
                              .pose = {.position = {11.8f, 0.5f, 1.8f}}});
    return world;
  }
  World* world() { return world_.get(); }
  const Asset& asset() const { return shape_.asset(); }
  std::span<const Asset* const> assets() const { return assets_; }
  const std::vector<std::byte>& state() const { return state_; }

 private:
  // Just above the upper sides of the solids.
  static constexpr Vec3 kOnHull = {7.95f, 0.405f, 1.95f}, kOnMesh = {9.95f, 0.405f, 1.95f},
                        kOnField = {11.9f, 0.505f, 2.0f};

  // To a place, to a collider's point and to another body.
  void AttachBodies(ColliderId hull) {
    std::vector<BodyId> ids(world_->num_bodies());
    uint32_t count = 0;
    REQUIRE(world_->Bodies(ids, &count).ok());
    const auto attach = [&](AttachmentDesc desc) {
      for (uint32_t k = 0; k < 4; ++k) desc.nodes[k] = desc.other_nodes[k] = k;
      desc.weights = desc.other_weights = {0.25f, 0.25f, 0.25f, 0.25f};
      AttachmentId id;
      REQUIRE(world_->Attach(desc, &id).ok());
    };
    attach({.body = ids[2], .target = {2.0f, 2.5f, 0.0f}, .damping = 3.0f, .max_force = 50.0f});
    attach({.body = ids[3], .other_body = ids[4], .rest_length = 0.9f, .break_force = 1.0e4f});
    attach({.body = ids[7], .other_collider = hull, .target = {0.0f, 0.3f, 0.0f}});
  }

  // Each solid holds a body.
  void RequireContacts() {
    REQUIRE(world_->num_attachments() == 3);
    std::vector<ColliderId> ids(world_->num_colliders());
    uint32_t count = 0, presses = 0;
    REQUIRE(world_->Colliders(ids, &count).ok());
    for (const ColliderId id : ids) {
      Reaction reaction;
      REQUIRE(world_->ColliderReaction(id, &reaction).ok());
      presses += Length(reaction.force) > 0.0f ? 1 : 0;
    }
    REQUIRE(count == 5);
    REQUIRE(presses == 4);
  }

  ShapeAsset shape_;
  StaticSubject box_;
  std::vector<Vec3> corners_ = BoxCorners({0.2f, 0.2f, 0.2f});
  std::vector<float> heights_ = std::vector<float>(6, 0.0f);
  std::vector<const Asset*> assets_;
  std::unique_ptr<World> world_;
  std::vector<std::byte> state_;
};

// Uses a world whose numbers may be absurd. Calls may fail, but nothing undefined may happen.
void Use(World* world, const Asset& asset) {
  for (int step = 0; step < 2; ++step) static_cast<void>(world->Step(kStateDt));
  std::vector<BodyId> ids(world->num_bodies());
  uint32_t count = 0;
  REQUIRE(world->Bodies(ids, &count).ok());
  std::vector<Vec3> positions(asset.simulation().nodes.size());
  for (const BodyId id : ids) {
    REQUIRE(world->NodePositions(id, 0.5f, positions).ok());
    BodyMoments moments;
    REQUIRE(world->Moments(id, &moments).ok());
  }
  SurfacePoint hit;
  static_cast<void>(world->Raycast({.direction = {1.0f, 0.1f, 0.2f}}, {}, &hit));
  if (!ids.empty()) {
    static_cast<void>(world->MovePins(ids.back(), 0, {}));
    REQUIRE(world->ResetBody(ids.front(), {}).ok());
    REQUIRE(world->RemoveBody(ids.back()).ok());
  }
  BodyId added;
  static_cast<void>(world->AddBody(asset, {}, &added));
  static_cast<void>(world->Step(kStateDt));
  REQUIRE(SavedState(*world).size() > 0);
}

// Loads bytes into a world with equal bodies or into an empty one. Returns whether that succeeded.
bool Survive(std::span<const std::byte> bytes, bool into_empty, SmallScene* scene) {
  const ExactBuffer exact(bytes);
  const std::unique_ptr<World> empty = into_empty ? scene->MakeWorld() : nullptr;
  World* world = into_empty ? empty.get() : scene->world();
  const std::vector<std::byte> before = SavedState(*world);
  const Status status = world->LoadState(exact.bytes(), scene->assets());
  if (!status.ok()) {
    REQUIRE(*status.section != '\0');
    REQUIRE(*status.reason != '\0');
    REQUIRE((SavedState(*world) == before));  // too long to print
    return false;
  }
  Use(world, scene->asset());
  if (!into_empty) REQUIRE(world->LoadState(scene->state(), scene->assets()).ok());
  return true;
}

constexpr uint32_t kWords[] = {0u,          1u,          0x7fffffffu, 0x80000000u, 0xffffffffu,
                               0x7fc00000u, 0x7f800000u, 0xff800000u, 0x00000001u, 0x7f7fffffu,
                               0xff7fffffu, 0x00800000u, 0x3f800000u, 0xbf800000u};

// One random change; `bytes` keeps its size.
void Edit(std::mt19937* random, std::span<std::byte> bytes) {
  const auto below = [random](size_t n) { return (*random)() % n; };
  const size_t word = below(bytes.size() / 4) * 4;
  uint32_t value = 0;
  std::memcpy(&value, &bytes[word], 4);
  switch (below(4)) {
    case 0:
      bytes[below(bytes.size())] ^= std::byte{1} << below(8);
      return;
    case 1:
      value = kWords[below(std::size(kWords))];
      break;
    case 2:
      value += static_cast<uint32_t>(below(9)) - 4;
      break;
    default:
      std::memcpy(&value, &bytes[below(bytes.size() / 4) * 4], 4);
      break;
  }
  std::memcpy(&bytes[word], &value, 4);
}

TEST_CASE("Every prefix of a state is refused", "[long]") {
  SmallScene scene;
  const std::vector<std::byte>& state = scene.state();
  for (size_t size = 0; size < state.size(); ++size) {
    INFO(size << " of " << state.size() << " bytes");
    std::vector<std::byte> prefix(state.begin(), state.begin() + static_cast<std::ptrdiff_t>(size));
    REQUIRE_FALSE(Survive(prefix, false, &scene));
    if (size < 64) continue;
    // The same if the header gives this size.
    const uint64_t total = size;
    std::memcpy(&prefix[24], &total, 8);
    Reseal(prefix);
    REQUIRE_FALSE(Survive(prefix, size % 2 == 0, &scene));
  }
  REQUIRE(Survive(state, false, &scene));
  REQUIRE(Survive(state, true, &scene));
}

TEST_CASE("The checksum notices a changed byte", "[long]") {
  SmallScene scene;
  std::vector<std::byte> state = scene.state();
  for (size_t at = 0; at < state.size(); at += at < 44 ? 1 : 7) {
    CAPTURE(at);
    const bool is_zero = at >= 44 && at < 64;  // the header's zeros
    for (const std::byte flip : {std::byte{1}, std::byte{0x80}}) {
      state[at] ^= flip;
      if (!is_zero) REQUIRE_FALSE(Survive(state, false, &scene));
      state[at] ^= flip;
    }
  }
}

TEST_CASE("A state with any changed byte is refused, or its world steps", "[long]") {
  SmallScene scene;
  std::vector<std::byte> state = scene.state();
  size_t opened = 0, tried = 0;
  // Every third byte of the tables, and some of the numbers of bodies and crowds behind them.
  const bool is_full = plush::tests::FullTests();
  for (size_t at = 64; at < state.size(); at += is_full ? 1 : at < 4096 ? 3 : 37) {
    CAPTURE(at);
    const std::byte kept = state[at];
    for (const std::byte value : {std::byte{0}, std::byte{0xff}, kept ^ std::byte{1}}) {
      if (value == kept) continue;
      state[at] = value;
      Reseal(state);
      opened += Survive(state, (at + tried) % 16 == 0, &scene) ? 1 : 0;
      ++tried;
    }
    state[at] = kept;
  }
  INFO(opened << " of " << tried << " opened");
  CHECK(opened > tried / 100);
  CHECK(opened < tried - tried / 30);
}

TEST_CASE("A state with random changes is refused, or its world steps", "[long]") {
  SmallScene scene;
  const uint32_t rounds = plush::tests::FullTests() ? 30000 : 1000;
  size_t opened = 0;
  for (uint32_t seed = 0; seed < rounds; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<std::byte> state = scene.state();
    const uint32_t edits = 1 + static_cast<uint32_t>(random() % 3);
    for (uint32_t k = 0; k < edits; ++k) Edit(&random, std::span(state).subspan(64));
    Reseal(state);
    opened += Survive(state, seed % 4 == 0, &scene) ? 1 : 0;
  }
  INFO(opened << " of " << rounds << " opened");
  CHECK(opened > 10);
}

}  // namespace state_fuzz_test
