// SPDX-License-Identifier: MIT
#include "mesh/halving_order.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace plush::tools;

TEST_CASE("An order by halves has every number once and the nearer ones together") {
  std::mt19937 random(3);
  std::vector<Vec3d> centres;
  for (int i = 0; i < 1000; ++i) {
    centres.push_back({4.0 * random() * 0x1p-32, random() * 0x1p-32, random() * 0x1p-32});
  }
  const std::vector<uint32_t> order = OrderByHalves(centres);
  std::vector<uint32_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> all(centres.size());
  std::iota(all.begin(), all.end(), 0u);
  CHECK(sorted == all);
  // The box is longest along x: the first half lies before the second there.
  double last = 0.0;
  double first = 4.0;
  for (size_t i = 0; i < 500; ++i) last = std::max(last, centres[order[i]].x);
  for (size_t i = 500; i < 1000; ++i) first = std::min(first, centres[order[i]].x);
  CHECK(last <= first);
  CHECK(OrderByHalves(centres) == order);
  CHECK(OrderByHalves({}).empty());
  CHECK(OrderByHalves(std::vector<Vec3d>(100)).size() == 100);
}
