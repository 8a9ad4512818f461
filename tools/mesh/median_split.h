// SPDX-License-Identifier: MIT
// The split of which trees over triangles are made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plush::tools {

/// A thing of a tree by its centre, which need not be precise.
struct CentredItem {
  std::array<float, 3> centre = {};
  uint32_t item = 0;  ///< breaks ties: all are different
};

/// Reorders `items` so that the first half, rounded down, lies before the second along the longest
/// axis of the centres' box; the number of the first half. O(n).
size_t SplitAtMedian(std::span<CentredItem> items);

}  // namespace plush::tools
