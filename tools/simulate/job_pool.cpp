// SPDX-License-Identifier: MIT
#include "simulate/job_pool.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace plush::tools {

struct JobPool::Impl {
  explicit Impl(uint32_t threads)
      : control(tbb::global_control::max_allowed_parallelism, threads),
        arena(static_cast<int>(threads)) {}

  static void Run(void* user, uint32_t count, JobFunction job, void* context) {
    static_cast<Impl*>(user)->arena.execute([&] {
      // One index per task: a job is a whole body or a block of elements, large enough.
      tbb::parallel_for(tbb::blocked_range<uint32_t>(0, count, 1),
                        [&](const tbb::blocked_range<uint32_t>& range) {
                          for (uint32_t i = range.begin(); i < range.end(); ++i) job(context, i);
                        });
    });
  }

  tbb::global_control control;
  tbb::task_arena arena;
};

JobPool::JobPool(uint32_t threads)
    : impl_(threads > 1 ? std::make_unique<Impl>(threads) : nullptr) {}

JobPool::~JobPool() = default;

JobSystem JobPool::job_system() {
  if (impl_ == nullptr) return {};
  return {&Impl::Run, impl_.get()};
}

}  // namespace plush::tools
