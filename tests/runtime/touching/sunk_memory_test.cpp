// SPDX-License-Identifier: MIT
// What the search for points below planes remembers does not change what it finds.
#include "runtime/touching/planes_around.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("A body that sinks slowly and unevenly is searched as for the first time") {
  using Listed = std::vector<std::tuple<uint32_t, uint32_t, float>>;  // id, plane, gap
  constexpr int kMoves = 180;
  constexpr float kDepth = 1.0e-6f, kFar = 10.0f, kHeight = 0.1f, kJump = 0.06f;  // [m]
  size_t first_points = 0, last_points = 0;
  for (uint32_t seed = 1; seed <= 24; ++seed) {
    const SurfaceBody body(TetBox(4, 3, 2, 0.1, 0.05, seed), {.parts = 3, .seed = seed});
    Random random(seed);
    AmongPlanes place(body, &random, 1 + seed % 2);
    place.reach = seed % 3 == 0 ? 0.03f : 1.0f;  // the latter lists all tets
    const Vec3 down = place.planes[0].normal * -1.0f;
    place.Move(&random, 1.0e-5);
    for (NodeVec& node : place.y) node -= down * kHeight;
    place.y.back() = NodeVec();
    const auto find = [&](float depth, SunkPoints* by) {
      Listed points;
      for (const SunkPoint& point : by->Find(place.Problem(), place.d, depth, IsKnown, nullptr)) {
        points.emplace_back(point.id, point.collider, point.gap);
      }
      return points;
    };
    const auto allocate = [&](SunkPoints* to) {
      REQUIRE(to->Allocate(DefaultAllocator(), body.surface().tets.size(), place.x.size(),
                           place.planes.size(), 1000));
    };
    SunkPoints search;
    allocate(&search);
    for (int move = 0; move < kMoves; ++move) {
      CAPTURE(seed, move);
      // Searches that find nothing know of falls, too, also of a node that was nowhere.
      NodeVec& lost = place.y[random.Below(static_cast<uint32_t>(place.x.size()))];
      const NodeVec before = lost;
      if (move % 4 == 0) lost = Vec3{std::nanf(""), 0.0f, 0.0f};
      CHECK(find(kFar, &search).empty());
      lost = before + down * (move % 2 == 0 ? kJump : 0.0f);
      for (size_t i = 0; i < place.x.size(); ++i) {
        if (random.Below(6) == 0) place.y[i] += down * (6.0f * kHeight / kMoves);
      }
      CHECK(find(kFar, &search).empty());
      CHECK(find(kFar, &search).empty());
      SunkPoints first;
      allocate(&first);
      const Listed expected = find(kDepth, &first);
      CHECK(find(kDepth, &search) == expected);
      (move < kMoves / 3 ? first_points : last_points) += expected.size();
    }
  }
  CHECK(last_points > 2 * first_points);
  CHECK(first_points > 1000);
}

TEST_CASE("A search knows of a node that fell while searches found nothing") {
  constexpr float kDepth = 1.0e-6f, kFar = 10.0f, kFall = 0.5f;  // [m]
  size_t found = 0;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const SurfaceBody body(TetBox(4, 3, 2, 0.1, 0.05, seed), {.parts = 3, .seed = seed});
    Random random(seed);
    AmongPlanes place(body, &random, 1);
    place.reach = seed % 2 == 0 ? 1.0f : 0.1f;
    std::fill(place.pinned.begin(), place.pinned.end(), uint8_t{0});
    LocalCollider* const plane = &place.planes[0];
    for (size_t node = 0; node < place.x.size(); ++node) {
      for (const bool is_lost : {false, true}) {
        CAPTURE(seed, node, is_lost);
        place.y = ToNodeVecs(place.x);
        place.y.resize(place.d.size());
        // Few vertices are below the plane.
        float low = kInfinite;
        for (const Vec3& x : place.x) low = std::min(low, Dot(plane->normal, x));
        plane->offset = plane->start_offset = low + 1.0e-5f;
        const auto count = [&](float depth, SunkPoints* by) {
          return by->Find(place.Problem(), {}, depth, IsKnown, nullptr).size();
        };
        SunkPoints search, first;
        for (SunkPoints* each : {&search, &first}) {
          REQUIRE(each->Allocate(DefaultAllocator(), body.surface().tets.size(), place.x.size(), 1,
                                 1000));
        }
        count(kDepth, &search);
        const Vec3 end = place.y[node] - plane->normal * kFall;
        if (is_lost) place.y[node] = Vec3{std::nanf(""), 0.0f, 0.0f};
        count(kFar, &search);
        place.y[node] = end;
        count(kFar, &search);
        count(kFar, &search);
        const size_t expected = count(kDepth, &first);
        CHECK(count(kDepth, &search) == expected);
        found += expected;
      }
    }
  }
  CHECK(found > 50);
}
