// SPDX-License-Identifier: MIT
// WorldDesc::max_contacts: what bodies do with no, few and enough contacts.
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/state/state_scene.h"
#include "runtime/world/heap_counter.h"
#include "state/state_format.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace max_contacts_test {

struct Fall {
  double depth = 0.0;     // of the deepest point at the end [m]
  uint32_t contacts = 0;  // most at once
  uint32_t dropped = 0;   // most at once
  uint32_t flags = 0;
  uint64_t hash = 0;
};

// What has its upper side at the height 0.
ColliderDesc Ground(ShapeType type) {
  static const std::vector<Vec3> corners = BoxCorners({3.0f, 5.0f, 3.0f});
  static const StaticSubject box(plush::tests::MakeGridBox({-3, -10, -3}, {3, 0, 3}, 20));
  switch (type) {
    case ShapeType::kBox:
      return BoxAt({{0.0f, -5.0f, 0.0f}}, {3.0f, 5.0f, 3.0f});
    case ShapeType::kHull:
      return HullAt({{0.0f, -5.0f, 0.0f}}, corners);
    case ShapeType::kMesh:
      return MeshOf(box);
    default:
      return {};
  }
}

Fall FallWith(uint32_t max_contacts, bool has_surface, ShapeType on) {
  SolidScene scene(has_surface, {.pose = {{0.0f, 0.02f, 0.0f}}}, {.max_contacts = max_contacts});
  AddCollider(&scene.world, Ground(on));
  Fall fall;
  for (int step = 0; step < 60; ++step) {
    scene.Step(1);
    fall.contacts = std::max(fall.contacts, scene.world.stats().contacts);
    fall.dropped = std::max(fall.dropped, scene.world.stats().contacts_dropped);
  }
  for (const Eigen::Vector3d& p : scene.Points()) fall.depth = std::max(fall.depth, -p.y());
  fall.flags = scene.flags;
  fall.hash = scene.world.StateHash();
  return fall;
}

TEST_CASE("A body with too few contacts sinks, says so, and stays finite and deterministic",
          "[long]") {
  const bool has_surface = GENERATE(false, true);
  const ShapeType on =
      GENERATE(ShapeType::kPlane, ShapeType::kBox, ShapeType::kHull, ShapeType::kMesh);
  const uint32_t most = GENERATE(0u, 1u, 3u, 10u);
  CAPTURE(has_surface, int(on), most);
  const Fall fall = FallWith(most, has_surface, on);
  CHECK(fall.contacts <= most);
  CHECK((fall.flags & kStepBodyFrozen) == 0);
  CHECK(std::isfinite(fall.depth));
  CHECK(FallWith(most, has_surface, on).hash == fall.hash);
  CHECK(((fall.flags & kStepContactsDropped) != 0) == (fall.dropped > 0));
  if (most == 0) {  // falls as if nothing were there: 0.6 s
    CHECK(fall.depth == Approx(0.5 * 9.81 * 0.36 - 0.02).epsilon(0.05));
  }
  if (most <= 3) CHECK(fall.dropped > 0);
  if (most == 10) CHECK(fall.depth < 0.02);  // nine nodes below, and a few vertices
}

TEST_CASE("Room for all contacts changes nothing, and is the default") {
  const bool has_surface = GENERATE(false, true);
  const ShapeType on = GENERATE(ShapeType::kPlane, ShapeType::kHull, ShapeType::kMesh);
  const Fall all = FallWith(UINT32_MAX, has_surface, on);
  CHECK(all.flags == kStepOk);
  CHECK(all.dropped == 0);
  CHECK(all.depth < 1e-3);
  CHECK(FallWith(1000, has_surface, on).hash == all.hash);
}

// The state of a world with one body, in which each coupled point touches all of `num_planes`.
std::vector<std::byte> WithAllContacts(const SolidScene& scene, uint32_t num_planes) {
  constexpr size_t kAlign = 64;
  const auto padded = [](size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; };
  std::vector<std::byte> state = SavedState(scene.world);
  const auto& simulation = scene.shape.asset().simulation();
  StateBody body = {};
  size_t at = 0, bulk = 0;
  const auto layout = [&] {
    return BodyLayout(body, simulation.nodes.size(), simulation.blocks.size(), 0);
  };
  do {  // the body's record, which its bulk follows
    at += kAlign;
    bulk = at + padded(sizeof(body));
    REQUIRE(bulk < state.size());
    std::memcpy(&body, &state[at], sizeof(body));
  } while (body.num_contacts != scene.world.stats().contacts ||
           padded(layout().Sum()) != state.size() - bulk);
  const BodyLayout old = layout();
  const size_t contacts =
      bulk + old.Sum() - old.contacts - old.touches - old.coupled - old.couplings;
  const size_t touches = contacts + old.contacts, coupled = touches + old.touches;
  std::vector<std::pair<uint32_t, uint32_t>> points;  // id, slot
  for (uint32_t k = 0; k < body.num_coupled; ++k) {
    StatePoint point;
    std::memcpy(&point, &state[coupled + sizeof(point) * k], sizeof(point));
    points.emplace_back(point.id, k);
  }
  std::ranges::sort(points);
  std::vector<std::byte> all(state.begin(), state.begin() + static_cast<ptrdiff_t>(contacts));
  for (const auto& [id, slot] : points) {
    for (uint32_t plane = 0; plane < num_planes; ++plane) {
      const StateContact contact = {slot, plane, kNoTriangle, {0.0f, 1e-3f, 0.0f}, {0, 1, 0}};
      const auto bytes = std::as_bytes(std::span(&contact, 1));
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
  }
  all.insert(all.end(), state.begin() + static_cast<ptrdiff_t>(touches),
             state.begin() + static_cast<ptrdiff_t>(bulk + old.Sum()));
  body.num_contacts = body.num_coupled * num_planes;
  all.resize(bulk + padded(layout().Sum()));
  std::memcpy(&all[at], &body, sizeof(body));
  const uint64_t total = all.size();
  std::memcpy(&all[offsetof(StateHeader, total_bytes)], &total, sizeof(total));
  Reseal(all);
  return all;
}

TEST_CASE("A state with more contacts than the world has room for is refused") {
  constexpr uint32_t kPlanes = 8;
  const auto scene_with = [](uint32_t max_contacts, CountingMemory* memory) {
    WorldDesc desc = {.allocator = memory->allocator(), .max_contacts = max_contacts};
    auto scene = std::make_unique<SolidScene>(false, BodyDesc{}, desc);
    for (uint32_t k = 0; k < kPlanes; ++k) {
      AddCollider(&scene->world, {.plane = {.offset = k == 0 ? 0.0f : -5.0f}});
    }
    scene->Step(20);
    return scene;
  };
  CountingMemory memory, other;
  const auto source = scene_with(UINT32_MAX, &memory);
  const std::vector<std::byte> state = WithAllContacts(*source, kPlanes);
  REQUIRE(source->world.stats().contacts == 9);
  const Asset* const assets[] = {&source->shape.asset()};
  CHECK(source->world.LoadState(state, assets).ok());
  const auto target = scene_with(9, &other);
  const Status loaded = target->world.LoadState(state, assets);
  CHECK(loaded.code == StatusCode::kMismatch);
  CHECK(std::string(loaded.reason) == "have more contacts than max_contacts");
}

TEST_CASE("Fewer contacts take less memory") {
  const auto bytes_with = [](uint32_t max_contacts) {
    CountingMemory memory;
    SolidScene scene(true, {}, {.allocator = memory.allocator(), .max_contacts = max_contacts});
    AddCollider(&scene.world);
    return memory.bytes_out();
  };
  CHECK(bytes_with(10) + 30 * 30 * 4 < bytes_with(UINT32_MAX));
  CHECK(bytes_with(0) < bytes_with(10));
}

}  // namespace max_contacts_test
