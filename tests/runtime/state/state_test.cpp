// SPDX-License-Identifier: MIT
// SaveState and LoadState: a world that loads a state continues bit for bit, with the same ids.
#include "runtime/collision/surface_fixtures.h"
#include "runtime/crowds/crowd_scene.h"
#include "runtime/state/state_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace state_test {

constexpr int kSteps = 300;
constexpr int kMore = 50;

// The scene's hash after each step, without any saving.
std::vector<uint64_t> Reference(const StateScene& scene, int steps, StepStats* most) {
  World world(scene.Desc());
  scene.Fill(&world);
  std::vector<uint64_t> hashes;
  for (int step = 0; step < steps; ++step) {
    scene.Drive(&world, step);
    StepWorld(&world, StateDt(step));
    hashes.push_back(world.StateHash());
    most->contacts = std::max(most->contacts, world.stats().contacts);
    most->asleep = std::max(most->asleep, world.stats().asleep);
    most->substeps = std::max(most->substeps, world.stats().substeps);
    if (HadCrowds(world)) most->flags = 1;
  }
  return hashes;
}

// Makes the steps after a state that was saved behind the calls before step number `step`.
void Continue(World* world, const StateScene& scene, int step, int count,
              const std::vector<uint64_t>& hashes) {
  for (int k = 0; k < count; ++k) {
    if (k > 0) scene.Drive(world, step + k);
    StepWorld(world, StateDt(step + k));
    CAPTURE(step, k);
    REQUIRE(world->StateHash() == hashes[static_cast<size_t>(step + k)]);
  }
}

// Adds and removes bodies and colliders; returns the ids that it got.
std::vector<uint64_t> Churn(World* world, const StateScene& scene) {
  std::vector<uint64_t> ids;
  std::vector<BodyId> bodies(world->num_bodies());
  uint32_t count = 0;
  REQUIRE(world->Bodies(bodies, &count).ok());
  REQUIRE(world->RemoveBody(bodies[5]).ok());
  ids.push_back(AddBody(world, scene.large()).value);
  REQUIRE(world->RemoveBody(bodies[1]).ok());
  REQUIRE(world->RemoveBody(bodies.back()).ok());
  for (int k = 0; k < 4; ++k) {
    BodyDesc desc = {.pose = {.position = {static_cast<float>(k), 5.0f, 5.0f}}};
    ids.push_back(AddBody(world, k % 2 == 0 ? scene.small() : scene.large(), desc).value);
  }
  ColliderId collider;
  REQUIRE(world->AddCollider({}, &collider).ok());
  ids.push_back(collider.value);
  return ids;
}

TEST_CASE("A world continues from the state of every step bit for bit, and so does a fresh one",
          "[long]") {
  const StateScene scene;
  StepStats most;
  const std::vector<uint64_t> hashes = Reference(scene, kSteps + kMore, &most);
  // The scene has what a state must hold.
  CHECK(most.contacts > 10);
  CHECK(most.asleep > 2);
  CHECK(most.substeps > 1);
  CHECK(most.flags == 1);
  World world(scene.Desc()), other(scene.Desc());
  scene.Fill(&world);
  std::vector<std::vector<std::byte>> states;
  for (int step = 0; step < kSteps; ++step) {
    CAPTURE(step);
    scene.Drive(&world, step);
    states.push_back(SavedState(world));
    StepWorld(&world, StateDt(step));
    REQUIRE(world.StateHash() == hashes[static_cast<size_t>(step)]);
    const int count = step % 50 == 0 ? kMore : 5;
    // Into the world that saved it, some steps later.
    if (step >= 4) {
      Load(&world, states[static_cast<size_t>(step - 4)], scene);
      Continue(&world, scene, step - 4, 5, hashes);
    }
    // Into an empty world.
    World fresh(scene.Desc());
    Load(&fresh, states.back(), scene);
    REQUIRE(IdsOf(fresh) == IdsOf(world));
    Continue(&fresh, scene, step, count, hashes);
    // Into one with other bodies.
    if (step % 3 != 0) continue;
    if (other.num_bodies() > 5) Churn(&other, scene);
    AddBody(&other, scene.large());
    Load(&other, states.back(), scene);
    REQUIRE(IdsOf(other) == IdsOf(world));
    Continue(&other, scene, step, count, hashes);
  }
}

TEST_CASE("After loading, worlds give out the same ids and continue alike when bodies come and go",
          "[long]") {
  const StateScene scene;
  World world(scene.Desc());
  scene.Fill(&world);
  for (int step = 0; step < 120; ++step) {
    scene.Drive(&world, step);
    StepWorld(&world, kStateDt);
    if (step % 10 == 7) Churn(&world, scene);
    if (step % 10 != 9) continue;
    CAPTURE(step);
    const std::vector<std::byte> state = SavedState(world);
    World fresh(scene.Desc()), used(scene.Desc());
    scene.Fill(&used);
    Churn(&used, scene);
    Load(&fresh, state, scene);
    Load(&used, state, scene);
    const std::vector<uint64_t> ids = Churn(&world, scene);
    REQUIRE(Churn(&fresh, scene) == ids);
    REQUIRE(Churn(&used, scene) == ids);
    for (int k = 0; k < 8; ++k) {
      if (k == 4) {
        // Pins that may share the factors of others.
        for (World* w : {&world, &fresh, &used}) {
          BodyDesc desc;
          const std::vector<uint32_t> pins = {1, 4, 7};
          desc.pinned_nodes = pins;
          AddBody(w, scene.large(), desc);
        }
      }
      for (World* w : {&world, &fresh, &used}) StepWorld(w, kStateDt);
      CAPTURE(k);
      REQUIRE(fresh.StateHash() == world.StateHash());
      REQUIRE(used.StateHash() == world.StateHash());
    }
    Load(&world, state, scene);
  }
}

TEST_CASE("Saving allocates nothing, nor does loading into equal bodies") {
  const StateScene scene;
  CountingMemory memory;
  WorldDesc desc = scene.Desc();
  desc.allocator = memory.allocator();
  {
    World world(desc), twin(scene.Desc());
    for (World* w : {&world, &twin}) {
      scene.Fill(w);
      for (int step = 0; step < 30; ++step) {
        scene.Drive(w, step);
        StepWorld(w, kStateDt);
      }
    }
    std::vector<std::byte> early(world.StateBytes() + 100000), late = early;
    size_t early_size = 0, late_size = 0;
    uint64_t taken = 0;
    const auto count = [&taken, &memory](const auto& call) {
      const uint64_t heap = HeapAllocations(), requests = memory.requests();
      const bool ok = call();
      taken += HeapAllocations() - heap + memory.requests() - requests;
      REQUIRE(ok);
    };
    for (int step = 30; step < 60; ++step) {
      count([&] { return world.SaveState(early, &early_size).ok(); });
      for (int k = 0; k < 3; ++k) {
        scene.Drive(&world, step + k);
        StepWorld(&world, kStateDt);
      }
      count([&] { return world.SaveState(late, &late_size).ok(); });
      const uint64_t hash = world.StateHash();
      count([&] { return world.LoadState({early.data(), early_size}, scene.assets()).ok(); });
      CHECK(world.StateHash() != hash);
      count([&] { return world.LoadState({late.data(), late_size}, scene.assets()).ok(); });
      REQUIRE(world.StateHash() == hash);
    }
    // Another world with equal bodies.
    size_t size = 0;
    std::vector<std::byte> state(twin.StateBytes());
    REQUIRE(twin.SaveState(state, &size).ok());
    count([&] { return world.LoadState(state, scene.assets()).ok(); });
    CHECK(world.StateHash() == twin.StateHash());
    CHECK(taken == 0);
  }
  CHECK(memory.blocks_out() == 0);
  CHECK(memory.consistent());
}

TEST_CASE("Wherever memory runs out, loading changes nothing") {
  const StateScene scene;
  CountingMemory memory;
  WorldDesc desc = scene.Desc();
  desc.allocator = memory.allocator();
  World full(scene.Desc());
  scene.Fill(&full);
  for (int step = 0; step < 40; ++step) {
    scene.Drive(&full, step);
    StepWorld(&full, kStateDt);
  }
  const std::vector<std::byte> state = SavedState(full);
  {
    World world(desc);
    AddBody(&world, scene.large());
    AddBody(&world, scene.small());
    StepWorld(&world, kStateDt);
    bool failed = true;
    for (uint64_t n = 1; failed; n += 7) {
      CAPTURE(n);
      const uint64_t hash = world.StateHash();
      const std::vector<uint64_t> ids = IdsOf(world);
      const size_t bytes = memory.bytes_out();
      memory.FailAt(n, false);
      const Status status = world.LoadState(state, scene.assets());
      memory.FailNever();
      failed = !status.ok();
      if (!failed) break;
      REQUIRE(status.code == StatusCode::kOutOfMemory);
      REQUIRE(world.StateHash() == hash);
      REQUIRE(IdsOf(world) == ids);
      REQUIRE(memory.bytes_out() == bytes);
      if (n % 10 == 1) StepWorld(&world, kStateDt);
    }
    CHECK(world.StateHash() == full.StateHash());
    StepWorld(&world, kStateDt);
    StepWorld(&full, kStateDt);
    CHECK(world.StateHash() == full.StateHash());
  }
  CHECK(memory.blocks_out() == 0);
  CHECK(memory.consistent());
}

TEST_CASE("States of other worlds, builds and assets are refused") {
  const StateScene scene;
  World world(scene.Desc());
  scene.Fill(&world);
  StepWorld(&world, kStateDt);
  std::vector<std::byte> state = SavedState(world);
  const uint64_t hash = world.StateHash();
  size_t size = 1;
  CHECK(world.SaveState(std::span(state).first(state.size() - 1), &size).code ==
        StatusCode::kInvalidArgument);
  CHECK(size == 0);
  CHECK(world.SaveState(state, nullptr).code == StatusCode::kInvalidArgument);
  CHECK(world.LoadState({}, scene.assets()).code == StatusCode::kTruncated);
  CHECK(world.LoadState(state, {}).code == StatusCode::kMismatch);
  CHECK(world.LoadState(state, scene.assets().first(1)).code == StatusCode::kMismatch);
  const ShapeAsset changed(TetBox(2, 1, 1, 0.1, 0.05, 4), {2.0e5, 0.3, 900.0});
  const std::vector<const Asset*> wrong = {&scene.large(), &changed.asset()};
  CHECK(world.LoadState(state, wrong).code == StatusCode::kMismatch);
  WorldDesc desc = scene.Desc();
  desc.tag = 78;
  World foreign(desc);
  CHECK(foreign.LoadState(state, scene.assets()).code == StatusCode::kMismatch);
  desc = scene.Desc();
  desc.keep_previous = false;
  World plain(desc);
  CHECK(plain.LoadState(state, scene.assets()).code == StatusCode::kMismatch);
  CHECK(plain.num_bodies() == 0);
  std::vector<std::byte> longer = state;
  longer.resize(longer.size() + 64);
  CHECK(world.LoadState(longer, scene.assets()).code == StatusCode::kCorrupt);
  const auto with = [&](size_t at, uint32_t value) {
    std::vector<std::byte> edited = state;
    std::memcpy(&edited[at], &value, 4);
    return world.LoadState(edited, scene.assets()).code;
  };
  CHECK(with(0, 0x12345678) == StatusCode::kBadMagic);
  CHECK(with(8, 99) == StatusCode::kForeignVersion);
  CHECK(with(16, 7) == StatusCode::kForeignVersion);
  CHECK(with(state.size() - 64, 0x3f800001) == StatusCode::kCorrupt);
  CHECK(world.StateHash() == hash);
  CHECK(world.LoadState(state, scene.assets()).ok());
}

TEST_CASE("An asset that was open twice is needed twice") {
  const StateScene scene;
  const ShapeAsset twin(scene.small().bytes());
  World world;
  AddBody(&world, scene.small());
  AddBody(&world, twin.asset());
  const std::vector<std::byte> state = SavedState(world);
  World loaded;
  const Asset* const one[] = {&scene.small(), &scene.small()};
  const Asset* const two[] = {&twin.asset(), &scene.small()};
  CHECK(loaded.LoadState(state, one).code == StatusCode::kMismatch);
  CHECK(loaded.LoadState(state, two).ok());
  CHECK(loaded.StateHash() == world.StateHash());
}

TEST_CASE("The state of an empty world empties a world") {
  const StateScene scene;
  World empty(scene.Desc()), world(scene.Desc());
  scene.Fill(&world);
  const std::vector<std::byte> state = SavedState(empty);
  REQUIRE(world.LoadState(state, {}).ok());
  CHECK(world.num_bodies() == 0);
  CHECK(world.num_colliders() == 0);
  CHECK(world.StateHash() == empty.StateHash());
  StepWorld(&world, kStateDt);
}

}  // namespace state_test
