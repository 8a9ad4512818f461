// SPDX-License-Identifier: MIT
#include "partition/collision_trees.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace plush;
using namespace plush::tools;

namespace patch_tree_test {

std::vector<BarycentricBox> RandomBoxes(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> in(0.0f, 1.0f);
  std::vector<BarycentricBox> boxes(count);
  for (BarycentricBox& box : boxes) {
    for (size_t i = 0; i < 4; ++i) {
      const float middle = in(random), half = 0.05f * in(random);
      box.low[i] = std::max(0.0f, middle - half);
      box.high[i] = std::min(1.0f, middle + half);
    }
  }
  return boxes;
}

bool Holds(const BarycentricBox& outer, const BarycentricBox& inner) {
  for (size_t i = 0; i < 4; ++i) {
    if (outer.low[i] > inner.low[i] || outer.high[i] < inner.high[i]) return false;
  }
  return true;
}

// Walks the tree as the format defines it. Returns the number of triangles reached.
size_t CheckRange(const PatchTree& tree, const std::vector<BarycentricBox>& boxes, uint32_t begin,
                  uint32_t end) {
  if (begin >= end) return 0;
  const BarycentricBox bounds = UnpackBounds(tree.bounds[begin]);
  for (uint32_t i = begin; i < end; ++i) CHECK(Holds(bounds, boxes[tree.order[i]]));
  const uint32_t middle = PatchTreeMiddle(begin, end);
  CHECK(middle - begin - 1 >= end - middle);
  CHECK(middle - begin - 1 <= end - middle + 1);
  return 1 + CheckRange(tree, boxes, begin + 1, middle) + CheckRange(tree, boxes, middle, end);
}

TEST_CASE("Every range of a patch tree bounds its triangles") {
  for (const size_t count : {1, 2, 3, 4, 7, 8, 100, 999}) {
    const auto boxes = RandomBoxes(count, static_cast<uint32_t>(count));
    const PatchTree tree = BuildPatchTree(boxes);
    std::vector<uint32_t> sorted = tree.order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0u);
    CHECK(sorted == all);
    CHECK(CheckRange(tree, boxes, 0, static_cast<uint32_t>(count)) == count);
  }
}

TEST_CASE("A patch tree parts at the median of the longest interval") {
  // Boxes along one axis: every left half lies before every right half.
  std::vector<BarycentricBox> boxes(63);
  for (size_t i = 0; i < boxes.size(); ++i) {
    const size_t place = (i * 37) % boxes.size();
    boxes[i].low[2] = static_cast<float>(place) / 64.0f;
    boxes[i].high[2] = static_cast<float>(place + 1) / 64.0f;
  }
  const PatchTree tree = BuildPatchTree(boxes);
  float left_high = 0.0f;
  for (size_t i = 1; i < 32; ++i) left_high = std::max(left_high, boxes[tree.order[i]].high[2]);
  for (size_t i = 32; i < 63; ++i) CHECK(boxes[tree.order[i]].low[2] >= left_high - 1e-6f);
}

TEST_CASE("Quantised bounds are the smallest of the grid that hold the box") {
  std::mt19937 random(4);
  std::uniform_int_distribution<int> numerator(0, 1 << 16);
  for (int trial = 0; trial < 20000; ++trial) {
    BarycentricBox box;
    for (size_t i = 0; i < 4; ++i) {
      const float a = static_cast<float>(numerator(random)) / 65536.0f;
      const float b = static_cast<float>(numerator(random)) / 65536.0f;
      box.low[i] = std::min(a, b);
      box.high[i] = std::max(a, b);
    }
    const BarycentricBox wide = UnpackBounds(QuantiseBounds(box));
    REQUIRE(Holds(wide, box));
    for (size_t i = 0; i < 4; ++i) {
      REQUIRE(box.low[i] - wide.low[i] <= 1.0f / 256.0f);
      REQUIRE(wide.high[i] - box.high[i] <= 1.0f / 256.0f);
      REQUIRE(wide.high[i] <= 1.0f);
    }
  }
}

}  // namespace patch_tree_test
