// SPDX-License-Identifier: MIT
// A clock for ratios of short times: what other programs do in between does not count.
#pragma once

#include <chrono>
#include <ctime>

namespace plush::bench {

/// Processor time of this thread [s], or the time of a steady clock on systems without one.
inline double ThreadSeconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1.0e-9 * static_cast<double>(now.tv_nsec);
#else
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

}  // namespace plush::bench
