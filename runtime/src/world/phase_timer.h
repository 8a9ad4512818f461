// SPDX-License-Identifier: MIT
// Times the parts of a step.
#pragma once

#include "plush/world.h"

#include <chrono>

namespace plush {

/// Adds the wall time of a scope to a phase.
class PhaseTimer {
 public:
  PhaseTimer(StepStats* stats, Phase phase)
      : seconds_(&stats->phase_s[static_cast<size_t>(phase)]),
        start_(std::chrono::steady_clock::now()) {}
  ~PhaseTimer() {
    *seconds_ += std::chrono::duration<float>(std::chrono::steady_clock::now() - start_).count();
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;

 private:
  float* seconds_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace plush
