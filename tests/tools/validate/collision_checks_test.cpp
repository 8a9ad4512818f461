// SPDX-License-Identifier: MIT
// Breaks each field of the collision surface in turn: each is found, although such files open.
#include "validate/collision_checks.h"

#include "plush/format/cdg_records.h"

#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"
#include "tools/validate/damage.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::tests;

namespace collision_checks_test {

// A ring in few tets, with some pieces cut: it has all kinds of borders.
const std::vector<std::byte>& RingBytes() {
  static const std::vector<std::byte> bytes = BakedInCage(MakeTorus(1.0, 0.3, 60, 24), 60);
  return bytes;
}

// Changes the index in one word, or the bits above it.
void ChangeIndex(const Asset& a, size_t triangle, int word, uint32_t index) {
  uint32_t& value = At(a.collision().triangles, triangle).words[word];
  value = (value & ~kCdgIndexMask) | index;
}

uint32_t IndexAt(const Asset& a, size_t triangle, int word) {
  return a.collision().triangles[triangle].words[word] & kCdgIndexMask;
}

struct Damage {
  const char* name;
  const char* section;
  std::function<void(const Asset&)> apply;
};

const Damage kDamages[] = {
    {"a tet's node", "collision.tets",
     [](const Asset& a) { --At(a.collision().tets, 3).nodes[0]; }},
    {"a tet's tet", "collision.tets",
     [](const Asset& a) { At(a.collision().tets, 3).tet = a.collision().tets[4].tet; }},
    {"a tet's lower bound", "collision.tets",
     [](const Asset& a) { At(a.collision().tets, 2).low.y += 1e-3f; }},
    {"a tet's upper bound", "collision.tets",
     [](const Asset& a) { At(a.collision().tets, 2).high.w -= 1e-3f; }},
    {"a centroid", "collision.patches",
     [](const Asset& a) { At(a.collision().patches, 1).centroid.x += 1e-3f; }},
    {"an area", "collision.patches",
     [](const Asset& a) { At(a.collision().patches, 1).area *= 1.001f; }},
    {"a vector area", "collision.patches",
     [](const Asset& a) { At(a.collision().patches, 1).vector_area.z += 1e-3f; }},
    {"a thickness", "collision.patches",
     [](const Asset& a) { At(a.collision().patches, 1).thickness *= 1.001f; }},
    {"a patch's first link", "collision.links",
     [](const Asset& a) { ++At(a.collision().patches, 1).first_link; }},
    {"a link", "collision.links", [](const Asset& a) { At(a.collision().links, 0) ^= 1; }},
    {"a seam's mark", "collision.links",
     [](const Asset& a) { At(a.collision().links, 0) ^= kSeamLink; }},
    {"a triangle's vertex", "collision.triangles",
     [](const Asset& a) { ChangeIndex(a, 5, 0, IndexAt(a, 5, 1)); }},
    {"a neighbour", "collision.triangles",
     [](const Asset& a) { ChangeIndex(a, 5, 3, (IndexAt(a, 5, 3) + 1) % 100); }},
    {"a neighbour taken away", "collision.triangles",
     [](const Asset& a) { ChangeIndex(a, 5, 3, kCdgIndexMask); }},
    {"bounds", "collision.triangles",
     [](const Asset& a) { At(a.collision().triangles, 7).words[2] ^= 1u << 25; }},
    {"a weight", "collision.vertices",
     [](const Asset& a) {
       Vec4& w = At(a.collision().vertices, 9);
       w.x = w.x > 0.5f ? w.x - 1e-3f : w.x + 1e-3f;
     }},
    {"two weights with the same sum", "collision.",
     [](const Asset& a) {
       Vec4& w = At(a.collision().vertices, 9);
       std::swap(w.x, w.y);
       std::swap(w.z, w.w);
     }},
    {"a source triangle", "collision.source_triangles",
     [](const Asset& a) { At(a.collision().source_triangles, 3) ^= 512; }},
};

TEST_CASE("The ring of the tests of damage has all kinds of borders, and no fault") {
  const auto findings = FindingsAfter(RingBytes(), [](const Asset& a) {
    const CollisionView& c = a.collision();
    CHECK(c.patches.size() > c.tets.size());
    size_t seams = 0;
    for (const uint32_t link : c.links) seams += (link & kSeamLink) != 0 ? 1 : 0;
    CHECK(seams > 0);
    CHECK(seams < c.links.size());
    CHECK_FALSE(c.source_triangles.empty());
  });
  INFO(Text(findings));
  CHECK(findings.all().empty());
}

TEST_CASE("Damage of the collision surface's meaning is found, in files that open") {
  for (const Damage& damage : kDamages) {
    const auto findings = FindingsAfter(RingBytes(), [&](const Asset& asset) {
      damage.apply(asset);
      Asset changed;
      const Status status = changed.Open(asset.bytes());
      INFO(damage.name << ": " << status.section << " " << status.reason);
      REQUIRE(status.ok());
    });
    INFO(damage.name << "\n" << Text(findings));
    REQUIRE(findings.Has("FILE_COLLISION"));
    bool named = false;
    for (const auto& finding : findings.all()) {
      named = named || finding.message.find(damage.section) == 0;
    }
    CHECK(named);
  }
}

TEST_CASE("The tree over the tets is part of the structure") {
  const auto findings = FindingsAfter(RingBytes(), [](const Asset& a) {
    At(a.collision().tree, 0) = static_cast<uint32_t>(a.collision().tets.size());
  });
  INFO(Text(findings));
  CHECK(findings.Has("FILE_ORDER"));
}

}  // namespace collision_checks_test
