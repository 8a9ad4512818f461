// SPDX-License-Identifier: MIT
#include "mesh/median_split.h"

#include <algorithm>

namespace plush::tools {

size_t SplitAtMedian(std::span<CentredItem> items) {
  std::array<float, 3> low = items[0].centre;
  std::array<float, 3> high = low;
  for (const CentredItem& item : items) {
    for (size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], item.centre[axis]);
      high[axis] = std::max(high[axis], item.centre[axis]);
    }
  }
  size_t longest = 0;
  for (size_t axis = 1; axis < 3; ++axis) {
    if (high[axis] - low[axis] > high[longest] - low[longest]) longest = axis;
  }
  const size_t middle = items.size() / 2;
  std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(middle), items.end(),
                   [longest](const CentredItem& a, const CentredItem& b) {
                     return a.centre[longest] != b.centre[longest]
                                ? a.centre[longest] < b.centre[longest]
                                : a.item < b.item;
                   });
  return middle;
}

}  // namespace plush::tools
