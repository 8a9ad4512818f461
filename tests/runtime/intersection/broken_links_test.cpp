// SPDX-License-Identifier: MIT
// A neighbour that does not name the triangle back is an open border.
#include "plush/format/cdg_records.h"

#include "bake/asset_writer.h"
#include "collision/surface_records.h"
#include "intersection/pair_contacts.h"
#include "runtime/intersection/found_contacts.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <cstring>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace broken_links_test {

constexpr uint32_t kBroken = 12;

// How some edges lose their neighbours.
enum class Border { kOpen, kForeign };

// The same edges for both kinds: an open one has no neighbour on both sides, the other one names a
// foreign triangle on one side.
SurfaceBody BodyWith(Border border, uint32_t seed) {
  Random random(seed);
  tools::AssetContent content = ContentOf(TetBox(2, 1, 1, 0.1, 0.08, 2));
  AddSurface({.parts = 3, .num_shells = 1}, &content);
  std::vector<CdgTriangle>& triangles = content.collision.triangles;
  const auto count = static_cast<uint32_t>(triangles.size());
  const auto set = [&](uint32_t t, int k, uint32_t neighbour) {
    CdgTriangleFields fields = UnpackTriangle(triangles[t]);
    fields.neighbours[k] = neighbour;
    triangles[t] = PackTriangle(fields);
  };
  for (uint32_t i = 0; i < kBroken;) {
    const uint32_t t = random.Below(count), foreign = random.Below(count);
    const int k = static_cast<int>(random.Below(3));
    const uint32_t neighbour = NeighbourOf(triangles[t], k);
    // Edges that are whole, and foreign triangles that have nothing to do with it.
    if (neighbour == kNoTriangle || !NamesBack(triangles[neighbour], t) || foreign == t ||
        NamesBack(triangles[foreign], t) || NamesBack(triangles[t], foreign)) {
      continue;
    }
    int back = 0;
    while (NeighbourOf(triangles[neighbour], back) != t) ++back;
    set(t, k, border == Border::kOpen ? kNoTriangle : foreign);
    if (border == Border::kOpen) set(neighbour, back, kNoTriangle);
    ++i;
  }
  auto bytes = tools::WriteAsset(content);
  if (!bytes.ok()) FAIL(bytes.error().message);
  return SurfaceBody(std::move(bytes.value()));
}

TEST_CASE("A neighbour that does not name the triangle back is an open border") {
  size_t open = 0, arcs = 0, contacts = 0;
  SurfaceBody other(TetBox(1, 1, 2, 0.1, 0.08, 3), {.parts = 3, .num_shells = 1});
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    SurfaceBody cut = BodyWith(Border::kOpen, seed), broken = BodyWith(Border::kForeign, seed);
    PairScratch scratch = ScratchFor(cut, other);
    REQUIRE(broken.state().is_open);
    REQUIRE_FALSE(other.state().is_open);
    Random random(seed);
    for (int scene = 0; scene < 10; ++scene) {
      CAPTURE(scene);
      cut.Move(Deform(cut.shape().rest(), Deformation::kGentle, &random));
      broken.Move({cut.x().begin(), cut.x().end()});
      other.Move(Deform(other.shape().rest(), Deformation::kGentle, &random));
      const Vec3 offset = ToVec3(random.Vector(0.1));
      const auto find = [&](const SurfaceBody& body) {
        return scene % 2 == 0 ? Find(body, other, offset, &scratch)
                              : Find(other, body, -offset, &scratch);
      };
      const Found expected = find(cut), found = find(broken);
      REQUIRE(found.count.pairs == expected.count.pairs);
      REQUIRE(found.count.curves == expected.count.curves);
      REQUIRE(found.count.regions == expected.count.regions);
      REQUIRE(found.count.volumes == expected.count.volumes);
      REQUIRE(found.count.open == expected.count.open);
      REQUIRE(found.contacts.size() == expected.contacts.size());
      REQUIRE((found.contacts.empty() ||
               std::memcmp(found.contacts.data(), expected.contacts.data(),
                           found.contacts.size() * sizeof(PairContact)) == 0));
      open += found.count.open;
      contacts += found.contacts.size();
      for (uint32_t c = 0; c < found.count.curves; ++c) arcs += !scratch.curves[c].closed;
    }
  }
  CAPTURE(open, arcs, contacts);
  CHECK(open > 25);
  CHECK(arcs > 10);
  CHECK(contacts > 500);
}

}  // namespace broken_links_test
