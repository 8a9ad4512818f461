// SPDX-License-Identifier: MIT
// What contacts between bodies do if there are more than their memory holds: 64 of a pair, 12 times
// max_pairs of all pairs, and the points of each body. Those that carry load stay, then the
// deepest.
#include "runtime/bodies/touching_cubes.h"
#include "world/touching_bodies.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace contact_room_test {

constexpr float kDt = TouchingCubes::kDt;

// A plate of 0.05 m, as wide as `cells` of these.
ShapeAsset Plate(uint32_t cells) {
  return ShapeAsset(
      SurfaceBytes(TetBox(cells, 1, cells, 0.05), {.parts = 2, .depth = 0.0, .num_shells = 0}));
}

struct Offered {
  uint32_t pair;  // in ascending order
  float gap;
  bool presses;
};

// Contacts in this order, each of which has a point on two bodies. Returns those that stay.
std::vector<size_t> Kept(const std::vector<Offered>& offered, uint32_t num_pairs) {
  TouchingBodies touching;
  REQUIRE(touching.Reserve(DefaultAllocator(), num_pairs, false));
  const size_t most = touching.contacts.size();
  REQUIRE(most == size_t{TouchingBodies::kMeanContacts} * num_pairs);
  ContactState moves, stays;
  constexpr uint32_t kNodes = 3000;
  REQUIRE(moves.couplings.Allocate(DefaultAllocator(), kNodes, UINT32_MAX));
  REQUIRE(moves.couplings.points.size() >= most);
  stays.is_static = true;
  for (size_t i = 0; i < offered.size(); ++i) {
    TouchingPair& pair = touching.pairs[offered[i].pair];
    if (i == 0 || offered[i - 1].pair != offered[i].pair) pair.begin = touching.num_found;
    touching.num_pairs = num_pairs;
    BodyContact contact;
    contact.sides[0].of = &moves;
    contact.sides[1].of = &stays;
    contact.sides[0].triangle = static_cast<uint32_t>(i);
    contact.gap = offered[i].gap;
    contact.force.y = offered[i].presses ? 1.0f : 0.0f;
    touching.Add(contact);
    pair.end = touching.num_found;
    CHECK(moves.num_wanted == touching.num_contacts);
  }
  touching.Arrange();
  const size_t kept = std::min(most, offered.size());
  REQUIRE(touching.num_contacts == kept);
  CHECK(touching.num_dropped == offered.size() - kept);
  CHECK(moves.num_wanted == 0);
  CHECK(moves.couplings.num_slots == kept);
  std::vector<size_t> indices;
  std::vector<uint8_t> is_listed(kept);
  for (const TouchingPair& pair : touching.Current()) {
    for (uint32_t k = pair.begin; k < pair.end; ++k) {
      REQUIRE(k < kept);
      REQUIRE(!is_listed[k]);
      is_listed[k] = 1;
      const BodyContact& contact = touching.contacts[k];
      CHECK(contact.sides[0].slot == k);
      const size_t index = contact.sides[0].triangle;
      CHECK(&touching.pairs[offered[index].pair] == &pair);
      CHECK((k == pair.begin || touching.contacts[k - 1].sides[0].triangle < index));
      indices.push_back(index);
    }
  }
  CHECK(indices.size() == kept);
  return indices;
}

TEST_CASE("Of too many contacts those that press and the deepest stay in any order of the pairs") {
  const uint32_t seed = 171;
  CAPTURE(seed);
  Random random(seed);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    const uint32_t num_pairs = 1 + random.Below(12);
    const uint32_t most = TouchingBodies::kMeanContacts * num_pairs;
    const uint32_t count = random.Below(3 * most), most_pressing = random.Below(most + 1);
    std::vector<Offered> all(count);
    uint32_t num_pressing = 0;
    for (Offered& one : all) {
      one.pair = random.Below(num_pairs);
      // Some are equally deep.
      one.gap = -static_cast<float>(random.Below(2 * most)) * 1e-4f;
      one.presses = num_pressing < most_pressing && random.Below(3) == 0;
      num_pressing += one.presses ? 1 : 0;
    }
    // The pairs come in any order, as those of bodies that wake within the step do.
    std::vector<uint32_t> rank(num_pairs);
    for (uint32_t k = 0; k < num_pairs; ++k) rank[k] = k;
    for (uint32_t k = num_pairs; k-- > 1;) std::swap(rank[k], rank[random.Below(k + 1)]);
    std::ranges::stable_sort(all, {}, [&](const Offered& one) { return rank[one.pair]; });
    std::vector<size_t> expected(all.size());
    for (size_t i = 0; i < all.size(); ++i) expected[i] = i;
    std::ranges::sort(expected, {},
                      [&](size_t i) { return std::make_tuple(!all[i].presses, all[i].gap, i); });
    expected.resize(std::min<size_t>(expected.size(), most));
    std::vector<size_t> kept = Kept(all, num_pairs);
    std::ranges::sort(kept);
    std::ranges::sort(expected);
    REQUIRE(kept == expected);
  }
}

// Contacts that press.
std::vector<BodyContactPoint> PressingOf(const World& world) {
  std::vector<BodyContactPoint> points(1000);
  uint32_t count = 0;
  REQUIRE(world.BodyContacts(points, &count).ok());
  points.resize(count);
  return points;
}

size_t PressingOf(const World& world, BodyId first, BodyId second) {
  size_t count = 0;
  for (const BodyContactPoint& contact : PressingOf(world)) {
    count += contact.bodies[0] == first && contact.bodies[1] == second ? 1 : 0;
  }
  return count;
}

double LowestOf(const World& world, BodyId id, const ShapeAsset& shape) {
  double low = 1e9;
  for (const Vec3& x : PositionsOf(world, id, shape.num_nodes())) low = std::min(low, double(x.y));
  return low;
}

// Plates of 16 cells touch at 21 places, two pairs of them at more than the 24 of both.
TEST_CASE("If all pairs have too many contacts a plate at rest keeps those that carry it") {
  const ShapeAsset plate = Plate(4);
  WorldDesc desc = TouchingCubes::Awake();
  desc.max_pairs = 2;
  World world(desc);
  AddPlane(&world, {});
  const auto add = [&](float x, float y, float z) {
    BodyDesc body = {.pose = {.position = {x, y, z}},
                     .material = {.young = 1e6f, .damping = 0.02f}};
    return AddBody(&world, plate.asset(), body);
  };
  add(2.0f, 0.0f, 0.0f);
  add(2.011f, 0.45f, 0.007f);
  const BodyId low = add(0.0f, 0.0f, 0.0f), high = add(0.011f, 0.05f, 0.007f);
  uint32_t dropped = 0;
  size_t pressed = 0;
  for (int step = 0; step < 100; ++step) {
    StepWorld(&world, kDt);
    const StepStats& stats = world.stats();
    CHECK(PressingOf(world).size() <= 24);
    CHECK(((stats.flags & kStepContactsDropped) != 0) == (stats.contacts_dropped > 0));
    dropped = std::max(dropped, stats.contacts_dropped);
    const size_t now = PressingOf(world, low, high);
    if (step == 25) pressed = now;
    if (step <= 25) continue;
    CAPTURE(step);
    CHECK(now + 2 >= pressed);
  }
  CHECK(pressed >= 16);
  CHECK(LowestOf(world, high, plate) > 0.049);
  CHECK(dropped >= 18);
}

TEST_CASE("Two bodies have the 64 deepest contacts at most and the others are counted") {
  const ShapeAsset plate = Plate(12);
  WorldDesc desc = TouchingCubes::Awake();
  desc.gravity = {};
  World world(desc);
  BodyDesc body = {.material = {.young = 1e6f}, .fixed = true};
  AddBody(&world, plate.asset(), body);
  body.fixed = false;
  body.velocity = {0.0f, -1.0f, 0.0f};
  // It dips deeper into the lower one towards its left side.
  body.pose = TurnedPose({0.011f, 0.0425f, 0.007f}, 0.01, Eigen::Vector3d::UnitZ());
  AddBody(&world, plate.asset(), body);
  StepWorld(&world, kDt);
  CHECK(world.stats().contacts == TouchingBodies::kMostContacts);
  CHECK(world.stats().contacts_dropped > 20);
  CHECK((world.stats().flags & kStepContactsDropped) != 0);
  float right = 0.0f;
  for (const BodyContactPoint& contact : PressingOf(world)) {
    right = std::max(right, contact.point.x);
  }
  CHECK(right > 0.0f);
  CHECK(right < 0.25f);
}

TEST_CASE("A body with few places for points leaves some to each body that hits it") {
  const ShapeAsset wide = Plate(16), plate = Plate(4);
  WorldDesc desc = TouchingCubes::Awake();
  desc.gravity = {};
  desc.max_contacts = 16;
  World world(desc);
  BodyDesc body = {.material = {.young = 1e6f}};
  const BodyId middle = AddBody(&world, wide.asset(), body);
  std::vector<BodyId> others;
  for (int k = 0; k < 3; ++k) {
    body.velocity = {0.0f, -0.5f, 0.0f};
    body.pose.position = {0.011f + 0.28f * float(k), 0.052f, 0.3f};
    others.push_back(AddBody(&world, plate.asset(), body));
  }
  uint32_t dropped = 0;
  for (int step = 0; step < 40; ++step) {
    StepWorld(&world, kDt);
    CHECK(PressingOf(world).size() <= 16);
    dropped = std::max(dropped, world.stats().contacts_dropped);
    for (const BodyId other : others) {
      if (step == 0) CHECK(PressingOf(world, middle, other) >= 2);
    }
  }
  CHECK(dropped > 10);
}

}  // namespace contact_room_test
