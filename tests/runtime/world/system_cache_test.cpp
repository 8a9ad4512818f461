// SPDX-License-Identifier: MIT
#include "body/system_cache.h"

#include "plush/format/factor_panels.h"
#include "plush/format/system_factor.h"
#include "plush/format/tet_block.h"

#include "runtime/tet_fixtures.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace system_cache_test {

constexpr float kDt = 0.01f;

// A world with counted memory.
struct CountedWorld {
  explicit CountedWorld(uint32_t idle_systems = WorldDesc{}.idle_systems) {
    WorldDesc desc = {.allocator = memory.allocator(), .idle_systems = idle_systems};
    world.emplace(desc);
  }

  CountingMemory memory;
  std::optional<World> world;  // declared after the memory that it uses
};

size_t BytesOfSecondBody(const ShapeAsset& shape, const BodyDesc& first, const BodyDesc& second) {
  CountedWorld counted;
  CountingMemory& memory = counted.memory;
  World& world = *counted.world;
  AddBody(&world, shape.asset(), first);
  const size_t before = memory.bytes_out();
  AddBody(&world, shape.asset(), second);
  return memory.bytes_out() - before;
}

TEST_CASE("Bodies share factors if and only if asset, material and pins are equal") {
  const ShapeAsset shape(TetBox(3, 3, 3, 0.1), {}, double(kDt));
  const size_t factor = shape.asset().factor().values.size() * sizeof(float);
  const std::vector<uint32_t> pins = {1, 5}, other_pins = {1, 6}, same_pins = {5, 1, 5};
  BodyDesc plain, pinned, pinned_alike, pinned_otherwise, stiff, heavy;
  pinned.pinned_nodes = pins;
  pinned_alike.pinned_nodes = same_pins;
  pinned_otherwise.pinned_nodes = other_pins;
  stiff.material.young = 4.0e5f;
  heavy.material.density = 2000.0f;
  const size_t shared = BytesOfSecondBody(shape, plain, plain);
  CHECK(BytesOfSecondBody(shape, pinned, pinned_alike) == shared);
  CHECK(BytesOfSecondBody(shape, stiff, stiff) == shared);
  for (const BodyDesc* other : {&pinned, &stiff, &heavy}) {
    CHECK(BytesOfSecondBody(shape, plain, *other) > shared + factor);
  }
  CHECK(BytesOfSecondBody(shape, pinned, pinned_otherwise) > shared + factor);
}

TEST_CASE("Without idle systems, removing the last body frees its factors") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, double(kDt));
  CountedWorld counted(0);
  CountingMemory& memory = counted.memory;
  World& world = *counted.world;
  BodyDesc stiff = {.material = {.young = 4.0e5f}};
  REQUIRE(world.RemoveBody(AddBody(&world, shape.asset())).ok());
  REQUIRE(world.PrepareTimeStep(0.005f).ok());  // grows the lists to their final size
  const size_t before = memory.bytes_out();
  const BodyId a = AddBody(&world, shape.asset(), stiff), b = AddBody(&world, shape.asset(), stiff);
  REQUIRE(world.RemoveBody(a).ok());
  CHECK(StepWorld(&world, 0.005f) == kStepOk);  // b still has its factors
  REQUIRE(world.RemoveBody(b).ok());
  CHECK(memory.bytes_out() == before);
}

TEST_CASE("A body that is added again finds its factors, within a limit of idle systems") {
  const ShapeAsset shape(TetBox(3, 3, 3, 0.1), {}, double(kDt));
  CountedWorld counted(2);
  CountingMemory& memory = counted.memory;
  World& world = *counted.world;
  const auto come_and_go = [&](float young) {
    const uint64_t before = memory.requests();
    const BodyId id = AddBody(&world, shape.asset(), {.material = {.young = young}});
    const uint64_t taken = memory.requests() - before;
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    REQUIRE(world.RemoveBody(id).ok());
    return taken;
  };
  come_and_go(1.0e5f);
  const uint64_t again = come_and_go(1.0e5f), first = come_and_go(2.0e5f);
  CHECK(again < first);
  CHECK(come_and_go(1.0e5f) == again);
  const size_t two = memory.bytes_out();
  CHECK(come_and_go(3.0e5f) == first);  // frees that of 2e5, which was released first
  CHECK(memory.bytes_out() == two);
  CHECK(come_and_go(1.0e5f) == again);
  CHECK(come_and_go(2.0e5f) == first);
}

TEST_CASE("Another asset at the address of a closed one gets its own factors") {
  const ShapeAsset soft(TetBox(2, 2, 2, 0.1), {1.0e5, 0.3, 1000.0}, double(kDt));
  const ShapeAsset stiff(TetBox(2, 2, 2, 0.1), {4.0e6, 0.3, 1000.0}, double(kDt));
  const std::span<const std::byte> a = soft.asset().bytes(), b = stiff.asset().bytes();
  REQUIRE(a.size() == b.size());
  std::vector<std::byte> room(a.size() + kAssetAlignment);
  const auto hash_of_fall = [&](std::span<const std::byte> content, World* world) {
    Asset asset;
    REQUIRE(asset.Open(CopyAligned(content, room)).ok());
    const std::vector<uint32_t> pins = {0, 1, 2};
    const BodyId id = AddBody(world, asset, {.pinned_nodes = pins});
    for (int step = 0; step < 10; ++step) StepWorld(world, 0.012f);
    const uint64_t hash = world->StateHash();
    REQUIRE(world->RemoveBody(id).ok());
    return hash;
  };
  World fresh, world;
  const uint64_t expected = hash_of_fall(b, &fresh);
  CHECK(hash_of_fall(a, &world) != expected);
  CHECK(hash_of_fall(b, &world) == expected);
}

TEST_CASE("A prepared time step is prepared for bodies that come or change later") {
  const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {}, double(kDt));
  CountedWorld counted;
  CountingMemory& memory = counted.memory;
  World& world = *counted.world;
  REQUIRE(world.PrepareTimeStep(0.005f).ok());
  REQUIRE(world.PrepareTimeStep(0.02f).ok());
  const BodyId id = AddBody(&world, shape.asset());
  const std::vector<uint32_t> pins = {0, 1};
  const auto steps_without_preparing = [&] {
    const size_t held = memory.bytes_out();
    for (const float dt : {0.005f, 0.02f, 0.005f}) CHECK(StepWorld(&world, dt) == kStepOk);
    CHECK(memory.bytes_out() == held);
  };
  steps_without_preparing();
  REQUIRE(world.SetMaterial(id, {.young = 5.0e4f}).ok());
  steps_without_preparing();
  REQUIRE(world.SetPinnedNodes(id, pins).ok());
  steps_without_preparing();
  CHECK(StepWorld(&world, 0.004f) == kStepPreparedTimeStep);
  // A refused time step is not kept.
  CHECK(world.PrepareTimeStep(-1.0f).code == StatusCode::kInvalidArgument);
  CHECK(AddBody(&world, shape.asset()).valid());
}

TEST_CASE("Factors of a step and of its fractions belong to those steps") {
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1, 0.05, 1), {}, double(kDt));
  const std::vector<uint8_t> free_nodes(shape.num_nodes(), 0);
  SystemCache cache(DefaultAllocator(), 0);
  System* system = cache.Acquire(shape.asset(), {}, free_nodes);
  REQUIRE(system != nullptr);
  CHECK(system->Find(kDt) == nullptr);
  bool made = false, made_again = false;
  REQUIRE(cache.Prepare(system, kDt, 0.0f, 4, &made).ok());
  const FactorSet* set = system->Find(kDt);
  REQUIRE(set != nullptr);
  REQUIRE(cache.Prepare(system, kDt, 0.0f, 4, &made_again).ok());
  CHECK(system->Find(kDt) == set);
  CHECK((made && !made_again));
  for (int k = 0; k < 4; ++k) {
    const FactorView& baked = shape.asset().factor();
    const SystemTerms terms = {.blocks = shape.simulation().blocks,
                               .masses = shape.simulation().masses,
                               .dt = kDt / static_cast<float>(k + 1)};
    std::vector<float> values(baked.values.size());
    REQUIRE(FactoriseSystem(terms, {baked.supernodes, baked.supernode_of, baked.rows},
                            DefaultAllocator(), values)
                .ok());
    CHECK(std::equal(values.begin(), values.end(), set->factors[k].values.begin()));
    CHECK((k == 0) == (set->factors[k].values.data() == baked.values.data()));
    CHECK(set->ids[k] != 0);
    for (int j = 0; j < k; ++j) CHECK(set->ids[j] != set->ids[k]);
  }
  cache.Release(system);
}

}  // namespace system_cache_test
