// SPDX-License-Identifier: MIT
#include "touching/lowest_vertex.h"

#include "runtime/simd_targets.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace lowest_vertex_test {

constexpr float kInfinite = std::numeric_limits<float>::infinity();

TEST_CASE("The lowest vertex is the first of the lowest, on every instruction set") {
  Random random(4);
  for (size_t count = 0; count < 70; ++count) {
    std::vector<Vec4> weights(count);
    for (Vec4& w : weights) {
      // Few different ones, so that some are equal.
      const auto part = [&] { return static_cast<float>(random.Below(4)) * 0.25f; };
      w = {part(), part(), part(), part()};
    }
    const float gaps[4] = {static_cast<float>(random.Uniform(-1.0, 1.0)), -0.5f, 0.25f,
                           static_cast<float>(random.Uniform(-1.0, 1.0))};
    LowVertex expected = {0, kInfinite};
    for (uint32_t i = 0; i < count; ++i) {
      if (MeanOf(gaps, weights[i]) < expected.gap) expected = {i, MeanOf(gaps, weights[i])};
    }
    for (const int64_t target : SimdTargets()) {
      const SimdTargetScope scope(target);
      CAPTURE(NameOf(target), count);
      const LowVertex lowest = LowestVertex(weights, gaps);
      CHECK(lowest.gap == expected.gap);
      CHECK(lowest.index == expected.index);
      constexpr float kAllInfinite[4] = {kInfinite, kInfinite, kInfinite, kInfinite};
      const std::vector<Vec4> even(count, Vec4{0.25f, 0.25f, 0.25f, 0.25f});
      const LowVertex none = LowestVertex(even, kAllInfinite);
      CHECK(none.gap == kInfinite);
      CHECK(none.index == 0);
    }
  }
}

TEST_CASE("The lowest point beside taken nodes is the first of them, on every instruction set") {
  constexpr uint32_t kTaken[4] = {3, 0, 9, 5};
  Random random(7);
  for (size_t count = 16; count <= 64; count += 16) {
    std::vector<uint32_t> nodes(count);
    std::vector<float> gaps(count);
    for (size_t i = 0; i < count; ++i) {
      nodes[i] = random.Below(12);
      gaps[i] = 0.25f * static_cast<float>(random.Below(8)) - 2.0f;
    }
    std::vector<float> left = gaps;
    LowVertex expected = {0, kInfinite};
    for (uint32_t i = 0; i < count; ++i) {
      if (std::ranges::find(kTaken, nodes[i]) != std::end(kTaken)) left[i] = kInfinite;
      if (left[i] < expected.gap) expected = {i, left[i]};
    }
    for (const int64_t target : SimdTargets()) {
      const SimdTargetScope scope(target);
      CAPTURE(NameOf(target), count);
      std::vector<float> got = gaps;
      const LowVertex lowest = LowestBeside(kTaken, nodes.data(), count, got.data());
      CHECK(lowest.gap == expected.gap);
      CHECK(lowest.index == expected.index);
      CHECK(got == left);
      std::fill(got.begin(), got.end(), kInfinite);
      const LowVertex none = LowestBeside(kTaken, nodes.data(), count, got.data());
      CHECK(none.gap == kInfinite);
      CHECK(none.index == 0);
    }
  }
}

}  // namespace lowest_vertex_test
