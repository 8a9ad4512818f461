// SPDX-License-Identifier: MIT
// Pairs of boxes in the world against brute force.
#include "collision/near_boxes.h"

#include "plush/allocator.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace near_boxes_test {

using Pairs = std::set<std::pair<uint32_t, uint32_t>>;

// How often boxes that meet only touch, along each axis.
using Touching = std::array<size_t, 3>;

// By the box that two have in common, which may be empty or a single point along an axis.
Pairs BruteForce(const std::vector<WorldBox>& boxes, Touching* touching) {
  Pairs pairs;
  for (uint32_t j = 0; j < boxes.size(); ++j) {
    for (uint32_t i = 0; i < j; ++i) {
      double common[3];
      for (int k = 0; k < 3; ++k) {
        common[k] = std::min(boxes[i].high[k], boxes[j].high[k]) -
                    std::max(boxes[i].low[k], boxes[j].low[k]);
      }
      if (*std::ranges::min_element(common) < 0.0) continue;
      pairs.insert({i, j});
      for (size_t k = 0; k < 3; ++k) (*touching)[k] += common[k] == 0.0;
    }
  }
  return pairs;
}

Pairs Found(const std::vector<WorldBox>& boxes, NearBoxes* near) {
  near->Clear();
  for (uint32_t i = 0; i < boxes.size(); ++i) near->Add(boxes[i], i);
  Pairs pairs;
  near->ForPairs([&](uint32_t a, uint32_t b) {
    REQUIRE(pairs.insert({std::min(a, b), std::max(a, b)}).second);
    return true;
  });
  return pairs;
}

// Boxes about a point, spread along one axis or all; some touch, some are points or copies.
std::vector<WorldBox> RandomBoxes(Random* random, size_t count) {
  const double at = random->Below(3) == 0 ? 1.0e9 : 0.0;
  const bool on_grid = random->Below(2) == 0;
  const uint32_t line = random->Below(4);
  std::vector<WorldBox> boxes;
  for (size_t i = 0; i < count; ++i) {
    WorldBox box;
    for (uint32_t k = 0; k < 3; ++k) {
      const double spread = line == 3 || line == k ? 0.2 * static_cast<double>(count) : 1.0;
      double low = random->Uniform(0.0, spread), size = random->Uniform(0.0, 1.0);
      if (on_grid) low = std::floor(4.0 * low) / 4.0, size = std::floor(4.0 * size) / 4.0;
      box.low[k] = at + low;
      box.high[k] = at + low + size;
    }
    boxes.push_back(i > 0 && random->Below(20) == 0 ? boxes.back() : box);
  }
  return boxes;
}

TEST_CASE("Near boxes are those of brute force, step after step") {
  NearBoxes near;
  size_t all = 0;
  Touching touching = {};
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const size_t count = random.Below(150);
    REQUIRE(near.Reserve(DefaultAllocator(), count));
    std::vector<WorldBox> boxes = RandomBoxes(&random, count);
    for (int step = 0; step < 3; ++step) {
      const Pairs expected = BruteForce(boxes, &touching);
      REQUIRE(Found(boxes, &near) == expected);
      all += expected.size();
      for (WorldBox& box : boxes) {
        for (int k = 0; k < 3; ++k) {
          const double moved = random.Uniform(-0.1, 0.1);
          box.low[k] += moved, box.high[k] += moved;
        }
      }
    }
  }
  CHECK(all > 20000);
  for (const size_t along_axis : touching) CHECK(along_axis > 1000);
}

TEST_CASE("Near boxes stop when they are asked to, and at no box") {
  NearBoxes near;
  near.ForPairs([](uint32_t, uint32_t) -> bool { throw 0; });
  REQUIRE(near.Reserve(DefaultAllocator(), 3));
  for (uint32_t i = 0; i < 3; ++i) near.Add({{0, 0, 0}, {1, 1, 1}}, 10 + i);
  int count = 0;
  near.ForPairs([&](uint32_t a, uint32_t b) {
    CHECK((a >= 10 && b >= 10 && a != b));
    return ++count < 2;
  });
  CHECK(count == 2);
  // So far out that neighbouring floats are a thousand boxes apart.
  near.Clear();
  near.Add({{1.0e12, 0, 0}, {1.0e12 + 1.0, 1, 1}}, 0);
  near.Add({{1.0e12 + 2.0, 0, 0}, {1.0e12 + 3.0, 1, 1}}, 1);
  near.Add({{1.0e12 + 1.0, 0, 0}, {1.0e12 + 1.5, 1, 1}}, 2);
  std::vector<uint32_t> ids;
  near.ForPairs([&](uint32_t a, uint32_t b) {
    ids.insert(ids.end(), {a, b});
    return true;
  });
  CHECK((ids == std::vector<uint32_t>{0, 2} || ids == std::vector<uint32_t>{2, 0}));
}

}  // namespace near_boxes_test
