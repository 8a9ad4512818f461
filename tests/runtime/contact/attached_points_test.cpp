// SPDX-License-Identifier: MIT
// How attached points answer impulses on contacts, while these come and go.
#include "contact/attached_points.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <cstdint>

using namespace plush;
using namespace plush::test;

namespace attached_points_test {

constexpr uint32_t kNodes = 64, kPoints = 3;

void Fill(uint32_t seed, AttachedPoints* points) {
  REQUIRE(points->Reserve(DefaultAllocator(), kPoints, kNodes));
  points->num_points = kPoints;
  Random random(seed);
  for (float& number : points->columns) number = static_cast<float>(random.Uniform(0.1, 1.0));
}

// A point of four nodes, of which one may be pinned.
EmbeddedPoint AnyPoint(uint32_t id, Random* random) {
  EmbeddedPoint point = {.id = id, .weights = {0.4f, 0.3f, 0.2f, 0.1f}};
  const uint32_t first = random->Below(kNodes);
  for (uint32_t k = 0; k < 4; ++k) point.nodes[k] = (first + k * 7) % kNodes;
  point.pinned = static_cast<uint8_t>(random->Below(2) << random->Below(4));
  return point;
}

// Against a fresh object, and by definition.
void CheckAgainstFresh(uint32_t seed, const AttachedPoints& kept, const PointCouplings& contacts) {
  AttachedPoints fresh;
  Fill(seed, &fresh);
  fresh.FindToContacts(contacts);
  for (uint32_t i = 0; i < kPoints; ++i) {
    const float* column = &kept.columns[size_t{kNodes} * i];
    for (uint32_t slot = 0; slot < contacts.num_slots; ++slot) {
      CAPTURE(i, slot);
      const EmbeddedPoint& point = contacts.points[slot];
      double sum = 0.0;
      for (int k = 0; k < 4; ++k) sum += double(point.Free(k)) * double(column[point.nodes[k]]);
      CHECK(kept.ToContacts(i)[slot] == fresh.ToContacts(i)[slot]);
      CHECK(double(kept.ToContacts(i)[slot]) == Approx(sum).epsilon(1e-5));
    }
  }
}

TEST_CASE("Attached points know how contacts move them, however many come and go") {
  const uint32_t seed = GENERATE(range(1u, 11u));
  CAPTURE(seed);
  Random random(seed);
  AttachedPoints kept;
  Fill(seed, &kept);
  PointCouplings contacts;
  REQUIRE(contacts.Allocate(DefaultAllocator(), kNodes, UINT32_MAX));
  const auto most = static_cast<uint32_t>(contacts.points.size());
  for (const uint32_t count : {10u, 20u, 10u, 16u, 17u, most, 5u, 40u}) {
    CAPTURE(count);
    // Sometimes another point takes a slot.
    if (random.Below(2) > 0 && count > 10) contacts.points[random.Below(10)] = AnyPoint(0, &random);
    while (contacts.num_slots < count) contacts.Add(AnyPoint(contacts.num_slots, &random));
    contacts.num_slots = count;
    contacts.stride = CouplingStride(count);  // as Find leaves it
    kept.FindToContacts(contacts);
    CheckAgainstFresh(seed, kept, contacts);
  }
}

}  // namespace attached_points_test
