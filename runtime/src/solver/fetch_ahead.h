// SPDX-License-Identifier: MIT
// Fetching the numbers of a large factor before a solve reads them. Its panels are short runs, on
// the way up taken from the last to the first, and a processor's own prefetching starts anew at
// each: a factor of 18 MB came at 13 GB/s of memory's 35, and fetched ahead at 30 (Zen 5).
#pragma once

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace plush {

/// For factors that stay in a core's caches: nothing to fetch.
struct FetchNothing {
  void StartPanel(size_t /*end*/, size_t /*num_steps*/) {}
  void Step() {}
};

/// Fetches a factor's numbers in the order of the panels or against it. Distances are in numbers
/// from the first one read.
template <bool kBackward>
class FetchPanels {
 public:
  explicit FetchPanels(std::span<const float> values) : values_(values) {}

  /// The panel that ends at distance `end` is read in `num_steps` steps; until then everything up
  /// to kAhead after it is fetched.
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
  // 16 KB: what memory delivers in the time that it takes to answer, several times over. From a
  // quarter to eight times as much measured the same.
  static constexpr size_t kAhead = 4096;

  std::span<const float> values_;
  size_t fetched_ = 0;  // before this distance
  size_t target_ = 0;
  size_t share_ = 0;  // of a step
};

/// Factors of more numbers than this are fetched ahead (4 MB): smaller ones stay in caches from one
/// step to the next, and to fetch them costs a tenth of a solve or more.
inline constexpr size_t kMostNearValues = size_t{1} << 20;

}  // namespace plush
