// SPDX-License-Identifier: MIT
// Prefetches the numbers of a large factor before a solve reads them. The processor's own
// prefetcher restarts at each panel, and panels are short. A factor of 18 MB was read at 13 GB/s
// without this and at 30 GB/s with it; memory delivers 35 (Zen 5).
#pragma once

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace plush {

/// For factors that stay in a core's caches: fetches nothing.
struct FetchNothing {
  void StartPanel(size_t /*end*/, size_t /*num_steps*/) {}
  void Step() {}
};

/// Fetches a factor's numbers from first to last, or backwards. Distances count numbers from the
/// first one read.
template <bool kBackward>
class FetchPanels {
 public:
  explicit FetchPanels(std::span<const float> values) : values_(values) {}

  /// Call before the panel that ends at distance `end`. While it is read, call Step `num_steps`
  /// times: together the steps fetch everything up to kAhead beyond it.
  void StartPanel(size_t end, size_t num_steps) {
    target_ = std::min(end + kAhead, values_.size());
    share_ = target_ > fetched_ ? (target_ - fetched_) / num_steps + kLine : 0;
  }

  void Step() {
    const size_t stop = std::min(fetched_ + share_, target_);
    for (; fetched_ < stop; fetched_ += kLine) {
      hwy::Prefetch(&values_[kBackward ? values_.size() - 1 - fetched_ : fetched_]);
    }
  }

 private:
  static constexpr size_t kLine = 16;  // numbers
  // 16 KB: several times what memory delivers within its latency. 4 KB to 128 KB measured the same.
  static constexpr size_t kAhead = 4096;

  std::span<const float> values_;
  size_t fetched_ = 0;  // all numbers before this distance
  size_t target_ = 0;
  size_t share_ = 0;  // numbers to fetch per step
};

/// Factors of more numbers than this (4 MB) are fetched ahead. Smaller ones stay in caches between
/// steps, and fetching them would cost a tenth of a solve or more.
inline constexpr size_t kMostNearValues = size_t{1} << 20;

}  // namespace plush
