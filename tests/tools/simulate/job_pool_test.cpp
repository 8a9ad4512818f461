// SPDX-License-Identifier: MIT
#include "simulate/job_pool.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <vector>

TEST_CASE("A job pool calls every index once, for any number of threads and jobs") {
  for (const uint32_t threads : {2u, 3u, 8u}) {
    plush::tools::JobPool pool(threads);
    const plush::JobSystem jobs = pool.job_system();
    REQUIRE(jobs.run != nullptr);
    for (const uint32_t count : {0u, 1u, 7u, 1000u}) {
      std::vector<std::atomic<int>> calls(count);
      jobs.run(
          jobs.user, count,
          [](void* context, uint32_t index) {
            ++(*static_cast<std::vector<std::atomic<int>>*>(context))[index];
          },
          &calls);
      for (const auto& call : calls) CHECK(call == 1);
    }
  }
}

TEST_CASE("One thread needs no job system") {
  plush::tools::JobPool pool(1);
  CHECK(pool.job_system().run == nullptr);
}
