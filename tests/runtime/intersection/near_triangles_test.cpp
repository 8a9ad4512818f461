// SPDX-License-Identifier: MIT
// Vector paths of the search for triangles that intersect, on every instruction set: boxes and
// planes against brute force, positions bit for bit, rounded signs against exact ones.
#include "intersection/near_triangles.h"

#include "base/vector_math.h"
#include "collision/collision_state.h"
#include "collision/meeting_boxes.h"
#include "collision/vertex_positions.h"
#include "intersection/exact_signs.h"
#include "intersection/pierce_points.h"
#include "intersection/place_vertices.h"
#include "intersection/rounded_signs.h"
#include "runtime/simd_targets.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace near_triangles_test {

// Boxes with corners on a grid, so that many touch, and their chunks.
struct GridBoxes {
  std::vector<float> low[3], high[3], chunk_low[3], chunk_high[3];

  GridBoxes(size_t count, int cells, Random* random) {
    for (size_t k = 0; k < 3; ++k) {
      for (size_t i = 0; i < count; ++i) {
        low[k].push_back(static_cast<float>(random->Below(static_cast<uint32_t>(cells))));
        high[k].push_back(low[k].back() + static_cast<float>(random->Below(3)));
        if (i % kBoxChunk == 0) {
          chunk_low[k].push_back(low[k].back());
          chunk_high[k].push_back(high[k].back());
        }
        chunk_low[k].back() = std::min(chunk_low[k].back(), low[k].back());
        chunk_high[k].back() = std::max(chunk_high[k].back(), high[k].back());
      }
      // What is behind the end meets everything.
      low[k].resize(count + kLanePadding, -1e9f);
      high[k].resize(count + kLanePadding, 1e9f);
      chunk_low[k].resize(chunk_low[k].size() + kLanePadding, -1e9f);
      chunk_high[k].resize(chunk_high[k].size() + kLanePadding, 1e9f);
    }
  }
  BoxColumns All() const {
    return {{low[0].data(), low[1].data(), low[2].data()},
            {high[0].data(), high[1].data(), high[2].data()}};
  }
  BoxColumns Chunks() const {
    return {{chunk_low[0].data(), chunk_low[1].data(), chunk_low[2].data()},
            {chunk_high[0].data(), chunk_high[1].data(), chunk_high[2].data()}};
  }
};

bool Meet(const BoxColumns& a, uint32_t i, const BoxColumns& b, uint32_t j) {
  for (int k = 0; k < 3; ++k)
    if (a.low[k][i] > b.high[k][j] || b.low[k][j] > a.high[k][i]) return false;
  return true;
}

bool BoxesMeet(const Corners& a, const Corners& b) {
  const auto apart = [&](float Vec3::*axis) {
    const auto extent = [&](const Corners& c) {
      return std::minmax({c[0].*axis, c[1].*axis, c[2].*axis});
    };
    const auto [low_a, high_a] = extent(a);
    const auto [low_b, high_b] = extent(b);
    return low_a > high_b || low_b > high_a;
  };
  return !apart(&Vec3::x) && !apart(&Vec3::y) && !apart(&Vec3::z);
}

// Whether the triangle lies on one side of the other's plane.
bool PartedBy(const Corners& plane, const Corners& triangle) {
  int sides = 0;
  for (const Vec3& p : triangle) sides += OrientSign(plane[0], plane[1], plane[2], p);
  return sides == 3 || sides == -3;
}

TEST_CASE("Boxes that meet are those of brute force, on every instruction set") {
  const uint32_t seed = 91;
  CAPTURE(seed);
  for (const int64_t target : SimdTargets()) {
    const SimdTargetScope scope(target);
    CAPTURE(NameOf(target));
    Random random(seed);
    size_t found = 0;
    for (int scene = 0; scene < 200; ++scene) {
      CAPTURE(scene);
      const uint32_t n = 1 + random.Below(20), m = 1 + random.Below(150);
      const GridBoxes a(n, 12, &random), b(m, 12, &random);
      std::vector<uint32_t> list(m + kLanePadding);
      for (uint32_t i = 0; i < n; ++i) {
        std::vector<uint32_t> meeting;
        constexpr float kMost = 1e30f;
        LaneBox around = {Broadcast(kMost), Broadcast(-kMost)}, all = around;
        for (uint32_t j = 0; j < m; ++j) {
          if (!Meet(a.All(), i, b.All(), j)) continue;
          meeting.push_back(j);
          all = {Min(all.low, b.All().At(j).low), Max(all.high, b.All().At(j).high)};
        }
        const uint32_t count =
            FindMeeting(a.All().At(i), b.All(), b.Chunks(), 0, m, list.data(), &around);
        REQUIRE(std::vector<uint32_t>(list.begin(), list.begin() + count) == meeting);
        for (int k = 0; k < 3; ++k) {
          REQUIRE(around.low[k] == all.low[k]);
          REQUIRE(around.high[k] == all.high[k]);
        }
        found += count;
      }
    }
    CHECK(found > 1000);
  }
}

TEST_CASE("Triangles are paired if boxes meet and no plane parts them, on every instruction set") {
  constexpr size_t kSize = TriangleBlock::kSize;
  const uint32_t seed = 94;
  CAPTURE(seed);
  for (const int64_t target : SimdTargets()) {
    const SimdTargetScope scope(target);
    CAPTURE(NameOf(target));
    Random random(seed);
    size_t intersect = 0, parted = 0, paired = 0, stops = 0;
    for (int scene = 0; scene < 300; ++scene) {
      CAPTURE(scene);
      // Triangles anywhere; far from the origin; on a grid, with many ties; large ones.
      const int kind = scene % 4;
      const auto coordinate = [&] {
        if (kind == 0) return random.Uniform(-1, 1);
        if (kind == 1) return 100.0 + random.Uniform(-1e-4, 1e-4);
        if (kind == 2) return double(random.Below(4));
        return random.Uniform(-1e15, 1e15);
      };
      const uint32_t counts[2] = {1 + random.Below(20), 1 + random.Below(60)};
      std::vector<Corners> corners[2];
      std::vector<uint32_t> numbers[2];
      std::vector<TriangleBlock> blocks[2];
      float reach = 0.0f;
      for (size_t of = 0; of < 2; ++of) {
        blocks[of].resize((counts[of] + kSize - 1) / kSize);
        numbers[of].resize(counts[of] + kLanePadding);
        for (size_t i = 0; i < counts[of]; ++i) {
          numbers[of][i] = static_cast<uint32_t>(7 * i + of);
          Corners& c = corners[of].emplace_back();
          for (size_t k = 0; k < 3; ++k) {
            c[k] = {float(coordinate()), float(coordinate()), float(coordinate())};
            const float at[3] = {c[k].x, c[k].y, c[k].z};
            for (size_t axis = 0; axis < 3; ++axis)
              blocks[of][i / kSize].corners[k][axis][i % kSize] = at[axis];
            reach = std::max(reach, SumNorm(c[k]) * 1.000001f);
          }
        }
      }
      TriangleBlocks both[2];
      for (size_t of = 0; of < 2; ++of) {
        MeasureTriangles(reach, blocks[of]);
        both[of] = {blocks[of], {numbers[of].data(), counts[of]}};
      }
      // Little room: several calls.
      std::vector<uint32_t> first(counts[1] + kLanePadding + random.Below(30));
      std::vector<uint32_t> second(first.size());
      std::vector<std::pair<uint32_t, uint32_t>> pairs;
      for (uint32_t i = 0; i < counts[0]; ++stops) {
        NearPairs near = {first, second};
        const uint32_t next = PairNear(both[0], i, both[1], &near);
        REQUIRE(next > i);
        i = next;
        for (uint32_t k = 0; k < near.count; ++k) pairs.push_back({first[k] / 7, second[k] / 7});
      }
      REQUIRE(std::ranges::is_sorted(pairs));
      auto pair = pairs.begin();
      for (uint32_t i = 0; i < counts[0]; ++i) {
        for (uint32_t j = 0; j < counts[1]; ++j) {
          const bool is_paired = pair != pairs.end() && *pair == std::pair(i, j);
          if (is_paired) ++pair;
          const Corners &a = corners[0][i], &b = corners[1][j];
          Segment segment;
          const bool is_segment = Intersect(a, b, &segment);
          intersect += is_segment ? 1 : 0;
          if (is_segment) REQUIRE(is_paired);
          if (is_paired) REQUIRE(BoxesMeet(a, b));
          if (kind != 0 || is_segment || !BoxesMeet(a, b)) continue;
          const bool is_parted = PartedBy(a, b) || PartedBy(b, a);
          parted += is_parted ? 1 : 0;
          paired += is_parted && is_paired ? 1 : 0;
        }
      }
      REQUIRE(pair == pairs.end());
    }
    CHECK(intersect > 1000);
    CHECK(parted > 5000);
    CHECK(paired * 1000 < parted);  // but for rounding none
    CHECK(stops > 500);
  }
}

TEST_CASE("Vertices placed in lanes have the bits of single ones, on every instruction set") {
  const uint32_t seed = 92;
  CAPTURE(seed);
  for (const int64_t target : SimdTargets()) {
    const SimdTargetScope scope(target);
    CAPTURE(NameOf(target));
    Random random(seed);
    for (size_t count = 0; count < 70; ++count) {
      const Vec3 nodes[4] = {ToVec3(random.Vector(1.0)), ToVec3(random.Vector(1e3)),
                             ToVec3(random.Vector(1e-3)), ToVec3(random.Vector(1.0))};
      std::vector<Vec4> weights(count);
      for (Vec4& w : weights) {
        w = {float(random.Uniform(-1, 1)), float(random.Uniform(-1, 1)),
             float(random.Uniform(-1, 1)), float(random.Uniform(-1, 1))};
        if (random.Below(3) == 0) w.z = 0.0f;
      }
      std::vector<float> positions(4 * count + 1, 5.0f);
      PlaceVertices(nodes, weights, positions.data());
      for (size_t i = 0; i < count; ++i) {
        const Vec3 at = VertexPosition({nodes[0], nodes[1], nodes[2], nodes[3]}, weights[i]);
        REQUIRE(std::memcmp(&at, &positions[4 * i], sizeof at) == 0);
      }
      REQUIRE(positions.back() == 5.0f);
    }
  }
}

TEST_CASE("A segment has one start and one end, where edges pierce the other triangle") {
  for (uint32_t signs = 0; signs < 1u << 15; ++signs) {
    CAPTURE(signs);
    const auto is_positive = [&](int bit) { return (signs >> bit & 1u) != 0; };
    std::vector<SegmentEnd> starts, ends;
    for (int of = 0; of < 2; ++of) {
      for (int k = 0; k < 3; ++k) {
        const bool to_front = is_positive(3 * of + (k + 1) % 3);
        if (is_positive(3 * of + k) == to_front) continue;
        int positive = 0;
        for (int l = 0; l < 3; ++l)
          positive += is_positive(of == 0 ? 6 + 3 * k + l : 6 + 3 * l + k) ? 1 : 0;
        if (positive % 3 != 0) continue;
        const SegmentEnd end = {of == 0 ? Surface::kMoved : Surface::kFixed,
                                static_cast<uint8_t>(k)};
        (to_front == (of == 0) ? starts : ends).push_back(end);
      }
    }
    Segment segment;
    const bool is_segment = SegmentOf(signs, &segment);
    REQUIRE(is_segment == (starts.size() == 1 && ends.size() == 1));
    REQUIRE(SegmentOf(signs | kSignsKnown | kTrianglesApart, &segment) == is_segment);
    if (!is_segment) continue;
    REQUIRE(segment.start.edge_of == starts[0].edge_of);
    REQUIRE(segment.start.corner == starts[0].corner);
    REQUIRE(segment.end.edge_of == ends[0].edge_of);
    REQUIRE(segment.end.corner == ends[0].corner);
  }
}

TEST_CASE("Rounded signs are exact ones where they are sure, on every instruction set") {
  const uint32_t seed = 93;
  CAPTURE(seed);
  for (const int64_t target : SimdTargets()) {
    const SimdTargetScope scope(target);
    CAPTURE(NameOf(target));
    Random random(seed);
    const auto pairs = std::make_unique<CornerColumns>();
    size_t sure = 0, intersect = 0, ties = 0;
    for (int scene = 0; scene < 300; ++scene) {
      // Numbers anywhere; near each other, far from the origin; on a grid, with many ties.
      const int kind = scene % 3;
      const auto coordinate = [&] {
        if (kind == 0) return static_cast<float>(random.Uniform(-1, 1));
        if (kind == 1) return static_cast<float>(100.0 + random.Uniform(-1e-4, 1e-4));
        return static_cast<float>(random.Below(4));
      };
      const size_t count = 1 + random.Below(CornerColumns::kMost);
      std::vector<float> vertices[2];
      for (auto& of : vertices)
        for (int i = 0; i < 4 * 200; ++i) of.push_back(coordinate());
      for (size_t i = 0; i < count; ++i)
        for (int k = 0; k < 3; ++k) {
          pairs->moved[k][i] = 4 * random.Below(200);
          pairs->fixed[k][i] = 4 * random.Below(200);
        }
      uint32_t bits[CornerColumns::kMost];
      RoundedSigns(vertices[0].data(), vertices[1].data(), *pairs, count, bits);
      for (size_t i = 0; i < count; ++i) {
        Corners a, b;
        for (size_t k = 0; k < 3; ++k) {
          const float *p = &vertices[0][pairs->moved[k][i]], *q = &vertices[1][pairs->fixed[k][i]];
          a[k] = {p[0], p[1], p[2]};
          b[k] = {q[0], q[1], q[2]};
        }
        Segment exact, rounded;
        const bool is_pair = Intersect(a, b, &exact);
        if ((bits[i] & kTrianglesApart) != 0) {
          REQUIRE_FALSE(is_pair);
        } else if ((bits[i] & kSignsKnown) != 0) {
          // If all signs are known, only triangles that intersect are left.
          REQUIRE(is_pair);
          REQUIRE(SegmentOf(bits[i], &rounded));
          ++intersect;
          REQUIRE(exact.start.edge_of == rounded.start.edge_of);
          REQUIRE(exact.start.corner == rounded.start.corner);
          REQUIRE(exact.end.edge_of == rounded.end.edge_of);
          REQUIRE(exact.end.corner == rounded.end.corner);
        } else {
          ties += kind == 2;
          continue;
        }
        sure += kind == 0;
      }
    }
    CHECK(sure > 12000);  // nearly all of them
    CHECK(intersect > 1000);
    CHECK(ties > 1000);
  }
}

TEST_CASE("Points in which edges pierce triangles have the same bits on every instruction set") {
  const uint32_t seed = 97;
  CAPTURE(seed);
  for (const int64_t target : SimdTargets()) {
    const SimdTargetScope scope(target);
    CAPTURE(NameOf(target));
    Random random(seed);
    size_t flat = 0;
    for (int scene = 0; scene < 200; ++scene) {
      CAPTURE(scene);
      // Numbers anywhere; on a grid, where edges may lie in the plane.
      const auto coordinate = [&] {
        return scene % 2 == 0 ? static_cast<float>(random.Uniform(-1, 1))
                              : static_cast<float>(random.Below(3));
      };
      std::vector<float> of_edges, of_triangles;
      for (int i = 0; i < 4 * 50; ++i) {
        of_edges.push_back(coordinate());
        of_triangles.push_back(coordinate());
      }
      PiercingColumns columns;
      const size_t count = 1 + random.Below(PiercingColumns::kMost);
      for (size_t i = 0; i < count; ++i) {
        for (auto& column : columns.edges) column[i] = 4 * random.Below(50);
        for (auto& column : columns.triangles) column[i] = 4 * random.Below(50);
      }
      PiercePoints(of_edges.data(), of_triangles.data(), count, &columns);
      const auto point = [](const std::vector<float>& of, uint32_t at) {
        return Vec3{of[at], of[at + 1], of[at + 2]};
      };
      for (size_t i = 0; i < count; ++i) {
        CAPTURE(i);
        Corners triangle;
        for (size_t k = 0; k < 3; ++k) triangle[k] = point(of_triangles, columns.triangles[k][i]);
        const Vec3 p = point(of_edges, columns.edges[0][i]);
        const Vec3 q = point(of_edges, columns.edges[1][i]), expected = PierceAt(p, q, triangle);
        const Vec3 found = {columns.points[0][i], columns.points[1][i], columns.points[2][i]};
        REQUIRE(std::memcmp(&found, &expected, sizeof found) == 0);
        const Vec3 normal = Cross(triangle[1] - triangle[0], triangle[2] - triangle[0]);
        flat += Dot(normal, p - triangle[0]) == Dot(normal, q - triangle[0]) ? 1 : 0;
      }
    }
    CHECK(flat > 1000);
  }
}

}  // namespace near_triangles_test
