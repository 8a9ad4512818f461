// SPDX-License-Identifier: MIT
// The job system that the tools supply to a World.
#pragma once

#include "plush/jobs.h"

#include <memory>

namespace plush::tools {

/// A pool of worker threads (oneTBB). It really runs `threads` threads, also where the machine has
/// fewer cores, so that tests of thread counts test something.
class JobPool {
 public:
  /// `threads` >= 1, the calling one included.
  explicit JobPool(uint32_t threads);
  ~JobPool();
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  /// Valid as long as the pool. With one thread `run` is null: the World then needs no help.
  JobSystem job_system();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plush::tools
