// SPDX-License-Identifier: MIT
// Sweeps over fixed seeds and over grids: a tenth of them by day, all with PLUSH_TEST_FULL. The
// tenth is always the same, so that a commit that passed passes again.
#pragma once

#include "skip.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace plush::tests {

/// How many tenths of each sweep run: 1, 10 with PLUSH_TEST_FULL, K + 1 with PLUSH_TEST_SEED=K (1
/// to 9).
inline int SweepTenths() {
  static const int tenths = [] {
    if (FullTests()) return 10;
    const char* text = std::getenv("PLUSH_TEST_SEED");
    if (text == nullptr) return 1;
    const int chosen = std::clamp(std::atoi(text), 0, 9) + 1;
    std::printf("PLUSH_TEST_SEED=%s: %d tenths of each sweep\n", text, chosen);
    return chosen;
  }();
  return tenths;
}

/// How many of a sweep's `all` seeds run, at least one. With PLUSH_TEST_FULL, `full` if that is not
/// 0.
template <class Count>
Count SweepCount(Count all, Count full = 0) {
  if (FullTests() && full != 0) return full;
  return static_cast<Count>((all * static_cast<Count>(SweepTenths()) + 9) / 10);
}

/// Picks cells of a grid that GENERATE makes: a static one in the case, which asks it once per
/// cell.
class SweepCells {
 public:
  /// Whether the next cell runs. Those that do are spread over the grid, whatever its sizes.
  bool TakesNext() {
    constexpr double kGoldenRatio = 0.6180339887498949;
    const double at = kGoldenRatio * next_++;
    return 10.0 * (at - std::floor(at)) < SweepTenths();
  }

 private:
  int next_ = 0;
};

}  // namespace plush::tests
