// SPDX-License-Identifier: MIT
// Each kind of damage to the collision surface is reported, and nothing else is.
#include "plush/format/cdg_records.h"

#include "runtime/asset/check_subject.h"
#include "runtime/collision/surface_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace plush;
using namespace plush::test;

namespace collision_checks_test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::byte> Bytes(tools::TriangleRecord record = tools::TriangleRecord::kSmallest) {
  return SurfaceBytes(TetBox(2, 2, 1, 0.1, 0.05), {.parts = 3, .record = record});
}

// Sets an index of a packed triangle.
void SetIndex(uint32_t* word, uint32_t index) {
  *word = (*word & ~kCdgIndexMask) | (index & kCdgIndexMask);
}

TEST_CASE("A sound collision surface has no failure") {
  Subject packed(Bytes()), wide(Bytes(tools::TriangleRecord::kWide));
  CHECK(Failures(packed.bytes()).empty());
  CHECK(Failures(wide.bytes()).empty());
  CHECK(packed.asset().collision().wide_triangles.empty());
  CHECK(wide.asset().collision().triangles.empty());
}

TEST_CASE("Wrong tets of the collision surface are named") {
  Subject s(Bytes());
  const CollisionView& c = s.asset().collision();
  SECTION("numbers") {
    s.Break(c.tets[3].nodes[3], static_cast<uint32_t>(s.asset().simulation().nodes.size()),
            CheckKind::kIndex, "collision.tets", 3);
    s.Break(c.tets[1].tet, static_cast<uint32_t>(s.asset().simulation().tets.size()),
            CheckKind::kIndex, "collision.tets", 1);
    s.Break(c.tets[4].low.y, std::nextafter(0.0f, -1.0f), CheckKind::kRange, "collision.tets", 4);
    s.Break(c.tets[4].high.w, std::nextafter(1.0f, 2.0f), CheckKind::kRange, "collision.tets", 4);
    s.Break(c.tets[0].high.z, kNan, CheckKind::kRange, "collision.tets", 0);
    s.Break(c.tets[2].first_patch, c.tets[1].first_patch, CheckKind::kOrder, "collision.tets", 2);
  }
  SECTION("order of nodes") {
    std::swap(s.At(c.tets, 2).nodes[0], s.At(c.tets, 2).nodes[1]);
    s.ExpectOnly(CheckKind::kOrder, "collision.tets", 2);
  }
  SECTION("bounds that cross") {
    s.At(c.tets, 0).low.x = 0.75f;
    s.At(c.tets, 0).high.x = 0.5f;
    s.ExpectOnly(CheckKind::kRange, "collision.tets", 0);
  }
  SECTION("first patch of the first") {
    s.At(c.tets, 0).first_patch = 1;  // a legal value for the next one
    const auto failures = Failures(s.bytes());
    REQUIRE_FALSE(failures.empty());
    CHECK(failures[0].kind == CheckKind::kOrder);
    CHECK(failures[0].section == "collision.tets");
    CHECK(failures[0].index == 0);
  }
}

TEST_CASE("A first patch beyond the patches is named") {
  Subject s(Bytes());
  const CollisionView& c = s.asset().collision();
  s.At(c.tets, c.tets.size() - 1).first_patch = static_cast<uint32_t>(c.patches.size());
  s.ExpectOnly(CheckKind::kIndex, "collision.tets", c.tets.size() - 1);
}

TEST_CASE("Wrong trees over the tets are named") {
  Subject s(Bytes());
  const CollisionView& c = s.asset().collision();
  s.Break(c.tree[0], 0, CheckKind::kOrder, "collision.tree", 0);
  s.Break(c.tree[0], static_cast<uint32_t>(c.tets.size()), CheckKind::kOrder, "collision.tree", 0);
  s.Break(c.tree[c.tree.size() - 1], 1, CheckKind::kOrder, "collision.tree", c.tree.size() - 1);
}

TEST_CASE("A tree that is too deep on either side is named") {
  const bool to_the_right = GENERATE(false, true);
  Subject s(SurfaceBytes(TetBox(6, 6, 1, 0.1), {.parts = 1, .num_shells = 0}));
  const CollisionView& c = s.asset().collision();
  const auto num_tets = static_cast<uint32_t>(c.tets.size());
  REQUIRE(num_tets > 70);
  size_t node = 0;
  if (to_the_right) {
    for (uint32_t leaves = num_tets; leaves > 1; --leaves, node += 2) {
      s.At(c.tree, node) = 1;
      s.At(c.tree, node + 1) = 0;
    }
    s.At(c.tree, node) = 0;
  } else {
    for (uint32_t leaves = num_tets; leaves > 1; --leaves) s.At(c.tree, node++) = leaves - 1;
    for (; node < c.tree.size(); ++node) s.At(c.tree, node) = 0;
  }
  s.ExpectOnly(CheckKind::kRange, "collision.tree", to_the_right ? 126 : 63);
}

TEST_CASE("Wrong patches are named") {
  Subject s(Bytes());
  const CollisionView& c = s.asset().collision();
  const size_t last = c.patches.size() - 1;
  s.Break(c.patches[2].tet, c.patches[2].tet + 1, CheckKind::kOrder, "collision.patches", 2);
  s.Break(c.patches[0].first_triangle, 1, CheckKind::kOrder, "collision.patches", 0);
  s.Break(c.patches[last].first_triangle, c.num_triangles(), CheckKind::kIndex, "collision.patches",
          last);
  s.Break(c.patches[last].first_vertex, c.patches[last - 1].first_vertex, CheckKind::kOrder,
          "collision.patches", last);
  s.Break(c.patches[last].first_vertex, static_cast<uint32_t>(c.vertices.size()), CheckKind::kIndex,
          "collision.patches", last);
  s.Break(c.patches[last].first_link, static_cast<uint32_t>(c.links.size()) + 1, CheckKind::kIndex,
          "collision.patches", last);
  s.Break(c.patches[5].centroid.y, kNan, CheckKind::kNonFinite, "collision.patches", 5);
  s.Break(c.patches[1].area, std::numeric_limits<float>::infinity(), CheckKind::kNonFinite,
          "collision.patches", 1);
  s.Break(c.patches[1].vector_area.z, kNan, CheckKind::kNonFinite, "collision.patches", 1);
  s.Break(c.patches[3].thickness, -1.0e-3f, CheckKind::kRange, "collision.patches", 3);
}

TEST_CASE("Wrong links and vertices are named") {
  Subject s(Bytes());
  const CollisionView& c = s.asset().collision();
  s.Break(c.links[7], static_cast<uint32_t>(c.patches.size()), CheckKind::kIndex, "collision.links",
          7);
  s.Break(c.links[0], static_cast<uint32_t>(c.patches.size()) | kSeamLink, CheckKind::kIndex,
          "collision.links", 0);
  s.Break(c.vertices[9].x, std::nextafter(0.0f, -1.0f), CheckKind::kRange, "collision.vertices", 9);
  s.Break(c.vertices[2].w, std::nextafter(1.0f, 2.0f), CheckKind::kRange, "collision.vertices", 2);
  s.Break(c.vertices[2].y, kNan, CheckKind::kNonFinite, "collision.vertices", 2);
}

TEST_CASE("Wrong triangles are named") {
  SECTION("packed") {
    Subject s(Bytes());
    const CollisionView& c = s.asset().collision();
    SECTION("vertex") {
      SetIndex(&s.At(c.triangles, 11).words[1], static_cast<uint32_t>(c.vertices.size()));
      s.ExpectOnly(CheckKind::kIndex, "collision.triangles", 11);
    }
    SECTION("neighbour") {
      SetIndex(&s.At(c.triangles, 12).words[5], c.num_triangles());
      s.ExpectOnly(CheckKind::kIndex, "collision.triangles", 12);
    }
  }
  SECTION("vertex of another patch") {
    const auto record = GENERATE(tools::TriangleRecord::kSmallest, tools::TriangleRecord::kWide);
    const bool of_next = GENERATE(false, true);
    Subject s(Bytes(record));
    const CollisionView& c = s.asset().collision();
    REQUIRE(c.patches.size() > 3);
    const uint32_t vertex = of_next ? c.patches[3].first_vertex : c.patches[2].first_vertex - 1;
    const uint32_t triangle = c.patches[2].first_triangle;
    if (record == tools::TriangleRecord::kWide) {
      s.At(c.wide_triangles, triangle).vertices[1] = vertex;
      s.ExpectOnly(CheckKind::kIndex, "collision.wide_triangles", triangle);
    } else {
      SetIndex(&s.At(c.triangles, triangle).words[1], vertex);
      s.ExpectOnly(CheckKind::kIndex, "collision.triangles", triangle);
    }
  }
  SECTION("last of an odd number") {
    Subject s(SurfaceBytes(TetBox(1, 1, 1, 0.1), {.parts = 3, .holes = 1}));
    const CollisionView& c = s.asset().collision();
    REQUIRE(c.triangles.size() % 2 == 1);
    const size_t last = c.triangles.size() - 1;
    const int word = GENERATE(0, 1, 2, 3, 4, 5);
    SetIndex(&s.At(c.triangles, last).words[word],
             static_cast<uint32_t>(word < 3 ? c.vertices.size() : c.triangles.size()));
    s.ExpectOnly(CheckKind::kIndex, "collision.triangles", last);
  }
  SECTION("wide") {
    Subject s(Bytes(tools::TriangleRecord::kWide));
    const CollisionView& c = s.asset().collision();
    s.Break(c.wide_triangles[11].vertices[2], static_cast<uint32_t>(c.vertices.size()),
            CheckKind::kIndex, "collision.wide_triangles", 11);
    s.Break(c.wide_triangles[12].neighbours[0], kNoTriangle - 1, CheckKind::kIndex,
            "collision.wide_triangles", 12);
  }
}

TEST_CASE("A triangle of the source that does not exist is named") {
  Subject s;
  const CollisionView& c = s.asset().collision();
  REQUIRE_FALSE(c.source_triangles.empty());
  s.At(c.source_triangles, 3) = static_cast<uint32_t>(s.asset().visual().indices.size()) / 3;
  s.ExpectOnly(CheckKind::kIndex, "collision.source_triangles", 3);
}

TEST_CASE("Records return what was packed into them") {
  Random random(60);
  for (int i = 0; i < 10000; ++i) {
    CdgTriangleFields fields;
    for (int k = 0; k < 3; ++k) {
      fields.vertices[k] = random.Below(kMaxPackedFeatures);
      fields.neighbours[k] = random.Below(4) == 0 ? kNoTriangle : random.Below(kMaxPackedFeatures);
    }
    fields.bounds = uint64_t{random.Below(UINT32_MAX)} << 32 | random.Below(UINT32_MAX);
    const CdgTriangleFields packed = UnpackTriangle(PackTriangle(fields));
    const CdgTriangleFields wide = UnpackTriangle(PackWideTriangle(fields));
    for (int k = 0; k < 3; ++k) {
      REQUIRE(packed.vertices[k] == fields.vertices[k]);
      REQUIRE(packed.neighbours[k] == fields.neighbours[k]);
      REQUIRE(wide.vertices[k] == fields.vertices[k]);
      REQUIRE(wide.neighbours[k] == fields.neighbours[k]);
    }
    REQUIRE(packed.bounds == fields.bounds);
    REQUIRE(wide.bounds == fields.bounds);
  }
}

TEST_CASE("Quantised bounds enclose their input tightly") {
  Random random(61);
  for (int i = 0; i < 10000; ++i) {
    BarycentricBox box;
    for (int k = 0; k < 4; ++k) {
      const auto a = static_cast<float>(random.Uniform(0.0, 1.0));
      const auto b = static_cast<float>(random.Uniform(0.0, 1.0));
      box.low[k] = i % 7 == 0 ? 0.0f : std::fmin(a, b);
      box.high[k] = i % 5 == 0 ? 1.0f : std::fmax(a, b);
    }
    const BarycentricBox read = UnpackBounds(QuantiseBounds(box));
    for (int k = 0; k < 4; ++k) {
      REQUIRE(read.low[k] <= box.low[k]);
      REQUIRE(read.high[k] >= box.high[k]);
      REQUIRE(read.low[k] > box.low[k] - 1.0f / 256.0f);
      REQUIRE(read.high[k] <= std::fmin(box.high[k] + 1.0f / 256.0f, 1.0f));
    }
  }
}

}  // namespace collision_checks_test
