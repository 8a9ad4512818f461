// SPDX-License-Identifier: MIT
// What a step does if surfaces intersect in more places than a search has memory for.
#include "runtime/bodies/saved_contacts.h"
#include "runtime/bodies/touching_cubes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace incomplete_search_test {

constexpr float kDt = 0.01f;

// A fixed cube, and one that lies on it. Their rough skins differ.
struct RoughCubes {
  explicit RoughCubes() : low(Rough(1)), high(Rough(2)), world(DescOf()) {
    BodyDesc desc = {.material = {.young = 1.0e6f}, .fixed = true};
    ids[0] = AddBody(&world, low.asset(), desc);
    desc.fixed = false;
    desc.pose.position = {0.0f, 0.199f, 0.0f};
    ids[1] = AddBody(&world, high.asset(), desc);
  }
  static ShapeAsset Rough(uint32_t seed) {
    return ShapeAsset(SurfaceBytes(TetBox(2, 2, 2, 0.1),
                                   {.parts = 12, .depth = 0.3, .num_shells = 0, .seed = seed}));
  }
  static WorldDesc DescOf() {
    WorldDesc desc = TouchingCubes::Awake();
    desc.max_pairs = 4;
    desc.gravity = {};
    desc.contact.push_out_time = 10.0f;  // so that they hardly move
    return desc;
  }

  ShapeAsset low, high;
  World world;
  BodyId ids[2];
};

bool HoldsAll(const std::vector<StateBodyContact>& some, const std::vector<StateBodyContact>& all) {
  return std::ranges::all_of(some, [&](const StateBodyContact& one) {
    return std::ranges::any_of(
        all, [&](const StateBodyContact& other) { return IsSamePlace(one, other); });
  });
}

TEST_CASE("A search without enough memory keeps the contacts before it and flags its steps") {
  RoughCubes cubes;
  World& world = cubes.world;
  CHECK((StepWorld(&world, kDt) & kStepContactsDropped) == 0);
  const SavedPair before = SavedPairOf(world);
  REQUIRE(before.contacts.size() >= 3);
  REQUIRE(before.pair.is_incomplete == 0);
  // One in the other's place: their skins cross all over.
  const std::vector<Vec3> inside = PositionsOf(world, cubes.ids[0], cubes.low.num_nodes());
  REQUIRE(world.SetNodePositions(cubes.ids[1], inside).ok());
  REQUIRE(world.SetNodeVelocities(cubes.ids[1], std::vector<Vec3>(inside.size())).ok());
  CHECK((StepWorld(&world, kDt) & kStepContactsDropped) != 0);
  REQUIRE(world.stats().pairs_searched == 1);
  const SavedPair after = SavedPairOf(world);
  CHECK(after.pair.is_incomplete == 1);
  CHECK(HoldsAll(before.contacts, after.contacts));

  RoughCubes other;
  const Asset* assets[] = {&other.low.asset(), &other.high.asset()};
  REQUIRE(other.world.LoadState(SavedState(world), assets).ok());
  CHECK(other.world.StateHash() == world.StateHash());
  // The contacts hold, so nothing is searched.
  for (World* const one : {&world, &other.world}) {
    CHECK((StepWorld(one, kDt) & kStepContactsDropped) != 0);
    CHECK(one->stats().pairs_searched == 0);
    CHECK(one->stats().contacts_dropped == 0);  // it is the search alone that is flagged
    const SavedPair held = SavedPairOf(*one);
    CHECK(held.pair.is_incomplete == 1);
    CHECK(HoldsAll(before.contacts, held.contacts));
  }
  CHECK(other.world.StateHash() == world.StateHash());

  REQUIRE(world.ResetBody(cubes.ids[1], {.position = {0.0f, 0.199f, 0.0f}}).ok());
  CHECK((StepWorld(&world, kDt) & kStepContactsDropped) == 0);
  CHECK(world.stats().pairs_searched == 1);
  CHECK(SavedPairOf(world).pair.is_incomplete == 0);
}

}  // namespace incomplete_search_test
