// SPDX-License-Identifier: MIT
// Collects the failures of a file's checks, and scans long vectors for wrong elements.
#pragma once

#include "plush/format/asset_check.h"
#include "plush/status.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace plush {

/// Passes failures to a callback until the callback asks to stop.
class CheckSink {
 public:
  CheckSink(void* user, CheckCallback callback) : user_(user), callback_(callback) {}

  /// Reports element `index` of `section`. Returns false if checking must stop.
  bool Fail(CheckKind kind, const char* section, const char* reason, uint64_t index = 0,
            StatusCode code = StatusCode::kCorrupt) {
    ++num_failures_;
    stopped_ = stopped_ || callback_ == nullptr ||
               !callback_(user_, kind, Status{code, section, reason, index});
    return !stopped_;
  }

  /// Reports a number that is not in its range.
  bool FailNumber(float number, const char* section, uint64_t index) {
    return std::isfinite(number)
               ? Fail(CheckKind::kRange, section, "a number is outside its range", index)
               : Fail(CheckKind::kNonFinite, section, "a number is not finite", index);
  }

  bool stopped() const { return stopped_; }
  uint64_t num_failures() const { return num_failures_; }

 private:
  void* user_;
  CheckCallback callback_;
  uint64_t num_failures_ = 0;
  bool stopped_ = false;
};

/// 1 if the number is not in [lowest, highest], as NaN is not; else 0. Without a branch.
inline uint32_t IsOutside(float number, float lowest, float highest) {
  return static_cast<uint32_t>(!(number >= lowest)) | static_cast<uint32_t>(!(number <= highest));
}

/// Calls report(i) for every element i < `size` for which is_bad(i) is not 0, until the sink stops.
/// is_bad must be free of branches: the compiler then turns a block of elements into a vector loop,
/// and a block without a wrong element costs a single branch.
template <class IsBad, class Report>
void ForEachBad(size_t size, const CheckSink& sink, const IsBad& is_bad, const Report& report) {
  constexpr size_t kBlock = 1024;
  for (size_t begin = 0; begin < size && !sink.stopped(); begin += kBlock) {
    const size_t end = std::min(size, begin + kBlock);
    uint32_t bad = 0;
    for (size_t i = begin; i < end; ++i) bad |= is_bad(i);
    if (bad == 0) continue;
    for (size_t i = begin; i < end && !sink.stopped(); ++i) {
      if (is_bad(i) != 0) report(i);
    }
  }
}

/// Reports the elements for which is_bad is not 0 as failures of one kind.
template <class IsBad>
void ReportWhere(size_t size, CheckKind kind, const char* section, const char* reason,
                 CheckSink* sink, const IsBad& is_bad) {
  ForEachBad(size, *sink, is_bad, [&](size_t i) { sink->Fail(kind, section, reason, i); });
}

}  // namespace plush
