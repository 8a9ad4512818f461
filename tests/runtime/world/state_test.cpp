// SPDX-License-Identifier: MIT
// SaveState and LoadState: a world that loads a state continues bit for bit, with the same ids.
#include "base/slot_list.h"
#include "runtime/world/crowd_scene.h"
#include "runtime/world/heap_counter.h"
#include "runtime/world/plane_scene.h"
#include "runtime/world/state_scene.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <memory>

using namespace plush;
using namespace plush::test;

namespace {

constexpr int kSteps = 300;
constexpr int kMore = 50;

void Load(World* world, std::span<const std::byte> state, const StateScene& scene) {
  const Status status = world->LoadState(state, scene.assets());
  INFO(status.section << ": " << status.reason << " at " << status.index);
  REQUIRE(status.ok());
}

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
    BodyDesc desc;
    desc.pose.position = {static_cast<float>(k), 5.0f, 5.0f};
    ids.push_back(AddBody(world, k % 2 == 0 ? scene.small() : scene.large(), desc).value);
  }
  ColliderId collider;
  REQUIRE(world->AddCollider({}, &collider).ok());
  ids.push_back(collider.value);
  return ids;
}

}  // namespace

TEST_CASE("A world continues from the state of every step bit for bit, and so does a fresh one") {
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

TEST_CASE(
    "After loading, worlds give out the same ids and continue alike when bodies come and go") {
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

TEST_CASE("A state holds what the game set and what the last step did") {
  const StateScene scene;
  World world(scene.Desc());
  scene.Fill(&world);
  for (int step = 0; step < 40; ++step) {
    scene.Drive(&world, step);
    StepWorld(&world, kStateDt);
  }
  REQUIRE(world.SetGravity({1.0f, -3.0f, 0.5f}).ok());
  SolverSettings solver = world.solver();
  solver.outer_iterations = 2;
  solver.max_substeps = 2;
  world.SetSolver(solver);
  World loaded(scene.Desc());
  Load(&loaded, SavedState(world), scene);
  CHECK(loaded.gravity().x == 1.0f);
  CHECK(loaded.solver().outer_iterations == 2);
  CHECK(loaded.solver().max_substeps == 2);
  CHECK(loaded.stats().contacts == world.stats().contacts);
  CHECK(loaded.stats().max_speed == world.stats().max_speed);
  CHECK(loaded.body_events().empty());
  std::vector<BodyId> ids(world.num_bodies());
  uint32_t count = 0;
  REQUIRE(world.Bodies(ids, &count).ok());
  for (const BodyId id : ids) {
    CAPTURE(id.value);
    uint64_t data[2] = {};
    Filter filters[2];
    REQUIRE(world.GetUserData(id, &data[0]).ok());
    REQUIRE(loaded.GetUserData(id, &data[1]).ok());
    REQUIRE(world.GetFilter(id, &filters[0]).ok());
    REQUIRE(loaded.GetFilter(id, &filters[1]).ok());
    CHECK(data[0] == data[1]);
    CHECK(filters[0] == filters[1]);
    CHECK(loaded.IsAsleep(id) == world.IsAsleep(id));
    CHECK(loaded.IsEnabled(id) == world.IsEnabled(id));
    float settings[2][3] = {};
    MaterialOverride materials[2];
    std::vector<uint32_t> pins[2] = {std::vector<uint32_t>(200), std::vector<uint32_t>(200)};
    for (int k = 0; k < 2; ++k) {
      const World& w = k == 0 ? world : loaded;
      REQUIRE(w.GetMaxSpeed(id, &settings[k][0]).ok());
      REQUIRE(w.GetGravityFactor(id, &settings[k][1]).ok());
      REQUIRE(w.GetScale(id, &settings[k][2]).ok());
      REQUIRE(w.GetMaterial(id, &materials[k]).ok());
      uint32_t num_pins = 0;
      REQUIRE(w.GetPinnedNodes(id, pins[k], &num_pins).ok());
    }
    CHECK(std::memcmp(settings[0], settings[1], sizeof(settings[0])) == 0);
    CHECK(std::memcmp(&materials[0], &materials[1], sizeof(MaterialOverride)) == 0);
    CHECK(pins[0] == pins[1]);
    Reaction reactions[2];
    const Status reported = world.RegionReaction(id, 0, &reactions[0]);
    CHECK(loaded.RegionReaction(id, 0, &reactions[1]).code == reported.code);
    CHECK(std::memcmp(&reactions[0], &reactions[1], sizeof(Reaction)) == 0);
    // Positions before the last step.
    for (const Asset* asset : {&scene.large(), &scene.small()}) {
      std::vector<Vec3> before[2] = {std::vector<Vec3>(asset->simulation().nodes.size()),
                                     std::vector<Vec3>(asset->simulation().nodes.size())};
      const Status read = world.NodePositions(id, 0.25f, before[0]);
      CHECK(loaded.NodePositions(id, 0.25f, before[1]).code == read.code);
      CHECK(std::memcmp(before[0].data(), before[1].data(), sizeof(Vec3) * before[0].size()) == 0);
    }
  }
  for (int k = 0; k < 20; ++k) {
    REQUIRE(StepWorld(&world, 0.007f) == StepWorld(&loaded, 0.007f));
    REQUIRE(loaded.StateHash() == world.StateHash());
  }
}

TEST_CASE("A state keeps the poses on which regions turn in substeps") {
  const ShapeAsset shape = CrowdBox(11);
  const Asset* const assets[] = {&shape.asset()};
  World world({.gravity = {}});
  const BodyId body =
      AddBody(&world, shape.asset(), {.pinned_nodes = shape.asset().region(0).nodes});
  const ColliderId wall = AddCollider(&world, {.plane = {.normal = {0.0f, 0.0f, -1.0f}}});
  // The region turns while a wall comes from above (+z) fast, so that there are substeps.
  const auto step = [&](World* w, int k) {
    Bounds box;
    REQUIRE(w->GetBounds(body, &box).ok());
    REQUIRE(w->SetNodeVelocities(body, std::vector<Vec3>(shape.num_nodes())).ok());
    REQUIRE(w->SetColliderPose(wall, {.position = {0.0f, 0.0f, box.high.z + 0.1f}}).ok());
    REQUIRE(w->MoveCollider(wall, {.position = {0.0f, 0.0f, box.high.z - 0.02f}}).ok());
    REQUIRE(w->MovePins(body, 0, {{}, TurnOf(0.3 * k, {0, 0, 1})}).ok());
  };
  const auto finish = [&](World* w) {
    StepWorld(w, kStateDt);
    REQUIRE(w->stats().substeps > 1);
    return w->StateHash();
  };
  World other;
  for (int k = 0; k < 8; ++k) {
    CAPTURE(k);
    // Loaded before or after the calls of a step; then it continues for another one.
    if (k % 4 == 0) REQUIRE(other.LoadState(SavedState(world), assets).ok());
    step(&world, k);
    if (k % 4 == 2) {
      REQUIRE(other.LoadState(SavedState(world), assets).ok());
    } else {
      step(&other, k);
    }
    CHECK(finish(&other) == finish(&world));
  }
}

TEST_CASE("A state keeps where a fast body came from") {
  const StateScene scene;
  World world(scene.Desc()), loaded(scene.Desc());
  const float speed = 500.0f;  // [m/s]: each step is far longer than the body
  const BodyId id = AddBody(&world, scene.small(), {.velocity = {speed, 0.0f, 0.0f}});
  std::vector<Vec3> now(scene.small().simulation().nodes.size()), before = now, same = now;
  for (int step = 0; step < 3; ++step) {
    StepWorld(&world, kStateDt);
    Load(&loaded, SavedState(world), scene);
    REQUIRE(world.NodePositions(id, 1.0f, now).ok());
    REQUIRE(world.NodePositions(id, 0.0f, before).ok());
    CHECK(now[0].x - before[0].x == Approx(speed * kStateDt).epsilon(1e-4));
    REQUIRE(loaded.NodePositions(id, 0.0f, same).ok());
    CHECK(std::memcmp(same.data(), before.data(), sizeof(Vec3) * same.size()) == 0);
  }
}

TEST_CASE("Loading a state without targets forgets those of pins") {
  const StateScene scene;
  const std::span<const uint32_t> pins = scene.large().region(0).nodes;
  World world(scene.Desc()), fresh(scene.Desc());
  const BodyId id = AddBody(&world, scene.large(), {.pinned_nodes = pins});
  const std::vector<std::byte> state = SavedState(world);
  REQUIRE(world.MovePins(id, 0, {.position = {0.03f, 0.0f, 0.0f}}).ok());
  Load(&world, state, scene);
  Load(&fresh, state, scene);
  for (World* w : {&world, &fresh}) {
    const Vec3 target = {0.0f, 0.05f, 0.0f};
    REQUIRE(w->MovePins(id, pins.first(1), std::span(&target, 1)).ok());
    StepWorld(w, kStateDt);
  }
  CHECK(world.StateHash() == fresh.StateHash());
}

TEST_CASE("Scenery that moved before a state was saved rests in the next step") {
  const StateScene scene;
  World world(scene.Desc()), loaded(scene.Desc());
  const BodyId id = AddBody(&world, scene.large(), {.fixed = true});
  REQUIRE(world.MovePins(id, 0, {.position = {0.01f, 0.0f, 0.0f}}).ok());
  StepWorld(&world, kStateDt);
  Load(&loaded, SavedState(world), scene);
  const uint64_t moving = world.StateHash();
  StepWorld(&world, kStateDt);
  StepWorld(&loaded, kStateDt);
  CHECK(world.StateHash() != moving);  // its velocities are zero now
  CHECK(loaded.StateHash() == world.StateHash());
}

TEST_CASE("After loading, a new material gets the factors of the last time step") {
  const StateScene scene;
  World world(scene.Desc()), loaded(scene.Desc());
  const BodyId id = AddBody(&world, scene.large());
  CHECK(StepWorld(&world, 0.013f) == kStepPreparedTimeStep);
  Load(&loaded, SavedState(world), scene);
  for (World* w : {&world, &loaded}) {
    REQUIRE(w->SetMaterial(id, {.young = 3.0e5f}).ok());
    CHECK(StepWorld(w, 0.013f) == kStepOk);
  }
  CHECK(loaded.StateHash() == world.StateHash());
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

namespace {

using Slots = SlotList<10, 3>;

bool IsValid(const std::vector<Slots::Saved>& slots, uint32_t first, uint32_t last,
             uint32_t num_live) {
  return Slots::IsValid([&](uint32_t slot) { return slots[slot]; },
                        static_cast<uint32_t>(slots.size()), first, last, num_live);
}

}  // namespace

TEST_CASE("Saved slots give the same slots in the same order") {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const Allocator allocator = DefaultAllocator();
    Slots slots, loaded;
    std::vector<uint32_t> live;
    for (uint32_t i = 0; i < 5 + random() % 300; ++i) {
      if (random() % 3 == 0 && !live.empty()) {
        const size_t k = random() % live.size();
        slots.Remove(live[k]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(k));
      } else if (slots.Reserve(allocator)) {
        live.push_back(slots.Add());
      }
    }
    std::vector<Slots::Saved> saved;
    for (uint32_t i = 0; i < slots.num_slots(); ++i) saved.push_back(slots.Save(i));
    REQUIRE(IsValid(saved, slots.first_free(), slots.last_free(), slots.num_live()));
    REQUIRE(loaded.ReserveAll(allocator, slots.num_slots()));
    loaded.Load([&](uint32_t slot) { return saved[slot]; }, slots.num_slots(), slots.first_free(),
                slots.last_free());
    std::vector<uint32_t> order[2];
    for (const uint32_t slot : slots) order[0].push_back(slot);
    for (const uint32_t slot : loaded) order[1].push_back(slot);
    REQUIRE(order[0] == order[1]);
    for (int k = 0; k < 100; ++k) {
      REQUIRE(slots.Reserve(allocator) == loaded.Reserve(allocator));
      const uint32_t slot = slots.Add();
      REQUIRE(loaded.Add() == slot);
      REQUIRE(loaded.generation(slot) == slots.generation(slot));
      if (k % 3 != 0) continue;
      slots.Remove(slot);
      loaded.Remove(slot);
    }
  }
}

TEST_CASE("Slots that no list can have are refused") {
  constexpr uint32_t kNone = Slots::kNone, kLive = Slots::kLive, kRetired = Slots::kRetired;
  CHECK(IsValid({{1, kLive}, {2, 2}, {1, kNone}, {7, kRetired}}, 1, 2, 1));
  CHECK(IsValid({}, kNone, kNone, 0));
  CHECK_FALSE(IsValid({{1, kLive}, {2, 2}, {1, kNone}}, 1, 2, 2));      // another number in use
  CHECK_FALSE(IsValid({{1, kLive}, {2, 2}, {1, 1}}, 1, 2, 1));          // a cycle
  CHECK_FALSE(IsValid({{1, kLive}, {2, 1}, {1, kNone}}, 1, 2, 1));      // a cycle of one
  CHECK_FALSE(IsValid({{1, kLive}, {2, kNone}, {1, kNone}}, 1, 1, 1));  // one in no queue
  CHECK_FALSE(IsValid({{1, kLive}, {2, 2}, {1, kNone}}, 1, 1, 1));      // another end
  CHECK_FALSE(IsValid({{1, kLive}, {2, 2}, {1, kNone}}, kNone, kNone, 1));
  CHECK_FALSE(IsValid({{1, kLive}, {2, 0}, {1, kNone}}, 1, 2, 1));  // a slot in use in the queue
  CHECK_FALSE(IsValid({{1, kLive}, {2, 3}, {1, kNone}}, 1, 2, 1));  // beyond the end
  CHECK_FALSE(IsValid({{0, kLive}}, kNone, kNone, 1));              // never given out
  CHECK_FALSE(IsValid({{8, kLive}}, kNone, kNone, 1));              // too many uses
  CHECK_FALSE(IsValid({{6, kRetired}}, kNone, kNone, 0));           // retired too early
  CHECK_FALSE(IsValid({{7, kNone}}, 0, 0, 0));                      // free although used up
}
