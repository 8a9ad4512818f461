// SPDX-License-Identifier: MIT
// Parallelism of the runtime comes from the engine.
#pragma once

#include <cstdint>

namespace plush {

/// One unit of work; called with each index of a range once, from any thread.
using JobFunction = void (*)(void* context, uint32_t index);

/// The engine's job system. `run` calls job(context, i) for every i in [0, count), in any order and
/// on any threads, and returns when all calls have returned and what they wrote can be seen by the
/// caller. `count` may be 0. Calls follow one another, never from inside a job. Results do not
/// depend on the order.
struct JobSystem {
  void (*run)(void* user, uint32_t count, JobFunction job, void* context) = nullptr;
  void* user = nullptr;  ///< passed through
};

}  // namespace plush
