// SPDX-License-Identifier: MIT
// slurm_batch.sh tests the rest on a cluster.
#include "batch/slurm_run.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

namespace plush::tools {
namespace {

TEST_CASE("Chunks hold every bake once and reach the cost with their last bake") {
  std::mt19937 random(20);
  for (int round = 0; round < 100; ++round) {
    std::vector<double> costs(random() % 50);
    for (double& cost : costs) cost = static_cast<double>(random() % 30);
    std::ranges::sort(costs, std::ranges::greater());
    const double chunk_cost = static_cast<double>(random() % 100);
    const std::vector<size_t> ends = CutIntoChunks(costs, chunk_cost);
    CAPTURE(round, costs, chunk_cost, ends);
    size_t begin = 0;
    for (const size_t end : ends) {
      REQUIRE(end > begin);
      REQUIRE(end <= costs.size());
      const auto first = costs.begin() + static_cast<ptrdiff_t>(begin);
      const auto last = costs.begin() + static_cast<ptrdiff_t>(end) - 1;
      const double before = std::accumulate(first, last, 0.0);
      CHECK((before < chunk_cost || end - begin == 1));
      CHECK((before + *last >= chunk_cost || end == costs.size()));
      begin = end;
    }
    CHECK(begin == costs.size());
  }
  CHECK(CutIntoChunks(std::vector<double>(5, 0.0), 0.0).size() == 5);
}

}  // namespace
}  // namespace plush::tools
