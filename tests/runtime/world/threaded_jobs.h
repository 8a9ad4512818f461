// SPDX-License-Identifier: MIT
// Job systems: on threads that start and end with each call, and on the calling thread.
#pragma once

#include "plush/jobs.h"

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace plush::test {

/// Runs jobs on `num_threads` threads, each taking the next index.
struct ThreadedJobs {
  uint32_t num_threads = 1;

  JobSystem system() { return {Run, this}; }

 private:
  static void Run(void* user, uint32_t count, JobFunction job, void* context) {
    std::atomic<uint32_t> next{0};
    const auto work = [&] {
      for (uint32_t i = next++; i < count; i = next++) job(context, i);
    };
    std::vector<std::thread> threads;
    for (uint32_t t = 1; t < static_cast<ThreadedJobs*>(user)->num_threads; ++t) {
      threads.emplace_back(work);
    }
    work();
    for (std::thread& thread : threads) thread.join();
  }
};

/// Runs the last job first: the order must not matter.
inline JobSystem BackwardJobs() {
  return {[](void*, uint32_t count, JobFunction job, void* context) {
            for (uint32_t i = count; i-- > 0;) job(context, i);
          },
          nullptr};
}

}  // namespace plush::test
