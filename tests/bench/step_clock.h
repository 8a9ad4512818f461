// SPDX-License-Identifier: MIT
// Times of single steps of two solvers that take turns, so that both see the same machine.
#pragma once

#include "plush/world.h"

#include "bench/swinging_arm.h"
#include "bench/thread_clock.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace plush::bench {

class StepClock {
 public:
  /// Steps of a turn. The first ones after a turn of the other find cold caches; medians leave
  /// them out.
  static constexpr int kTurn = 20;

  /// With one thread, what other programs do meanwhile does not count.
  explicit StepClock(uint32_t threads = 1) : is_alone_(threads == 1) {}

  /// Whether kTurn steps of the other solver are due.
  bool IsTurnOfOther() const { return seconds_.size() % kTurn == 0; }

  /// Runs `step` and returns its time [s].
  template <class Function>
  double Time(const Function& step) {
    return TimeTo(step, &seconds_);
  }
  template <class Function>
  double TimeOther(const Function& step) {
    return TimeTo(step, &seconds_of_other_);
  }
  double Time(World* world, float dt) {
    return Time([&] { Advance(world, dt); });
  }
  double TimeOther(World* world, float dt) {
    return TimeOther([&] { Advance(world, dt); });
  }

  double median() const { return Median(seconds_); }                    ///< [s]
  double median_of_other() const { return Median(seconds_of_other_); }  ///< [s]

 private:
  static void Advance(World* world, float dt) {
    if (!world->Step(dt).ok()) std::abort();  // the first steps were fine
  }

  double Now() const {
    if (is_alone_) return ThreadSeconds();
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  template <class Function>
  double TimeTo(const Function& step, std::vector<double>* times) {
    const double start = Now();
    step();
    times->push_back(Now() - start);
    return times->back();
  }

  bool is_alone_;
  std::vector<double> seconds_, seconds_of_other_;
};

}  // namespace plush::bench
