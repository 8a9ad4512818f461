// SPDX-License-Identifier: MIT
// slurm_batch.sh tests the rest on a cluster.
#include "batch/slurm_run.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace plush::tools::slurm_run_test {
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

TEST_CASE("A round has no more tasks than a cluster takes") {
  std::mt19937 random(20);
  for (const size_t num_bakes : {100u, 8000u, 30000u}) {
    std::vector<double> costs(num_bakes);
    for (double& cost : costs) cost = 1.0 + static_cast<double>(random() % 30);
    std::ranges::sort(costs, std::ranges::greater());
    const size_t num_tasks = CutIntoChunks(costs, RoundChunkCost(costs, 0.0)).size();
    CHECK(num_tasks <= kMaxRoundTasks);
    CHECK(num_tasks >= std::min(num_bakes, kMaxRoundTasks / 4));
    const double large = 1e4;
    CHECK(RoundChunkCost(costs, large) == large);
  }
}

}  // namespace
}  // namespace plush::tools::slurm_run_test
