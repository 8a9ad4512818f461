// SPDX-License-Identifier: MIT
// The engine provides the runtime's threads.
#pragma once

#include <cstdint>

namespace plush {

/// One unit of work; called once with each index of a range, on any thread.
using JobFunction = void (*)(void* context, uint32_t index);

/// The engine's job system. `run` calls job(context, i) for every i in [0, count), in any order and
/// on any threads. It returns when all calls have returned and the caller can see what they wrote.
/// `count` may be 0. The runtime never calls `run` from inside a job, nor twice at a time. Results
/// do not depend on the order.
struct JobSystem {
  void (*run)(void* user, uint32_t count, JobFunction job, void* context) = nullptr;
  void* user = nullptr;  ///< passed through
};

}  // namespace plush
