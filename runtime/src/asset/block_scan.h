// SPDX-License-Identifier: MIT
// Looks for wrong elements of long vectors, several at a time.
#pragma once

#include "asset/check_sink.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace plush {

/// Calls report(i) for every element i below `size` for which is_bad(i) is not 0, until the sink
/// has had enough. is_bad is a test without branches: of a block of elements the compiler makes a
/// loop over vectors, and a block without a wrong one costs a single branch.
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

/// Reports these elements as failures of one kind.
template <class IsBad>
void ReportWhere(size_t size, CheckKind kind, const char* section, const char* reason,
                 CheckSink* sink, const IsBad& is_bad) {
  ForEachBad(size, *sink, is_bad, [&](size_t i) { sink->Fail(kind, section, reason, i); });
}

}  // namespace plush
