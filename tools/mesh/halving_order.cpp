// SPDX-License-Identifier: MIT
#include "mesh/halving_order.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace plush::tools {
namespace {

constexpr size_t kSmallestRun = 4;

// Small, as it is moved about.
struct Item {
  std::array<float, 3> centre = {};
  uint32_t number = 0;  // breaks ties
};

size_t LongestAxis(std::span<const Item> items) {
  std::array<float, 3> low = items[0].centre;
  std::array<float, 3> high = low;
  for (const Item& item : items) {
    for (size_t axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], item.centre[axis]);
      high[axis] = std::max(high[axis], item.centre[axis]);
    }
  }
  size_t longest = 0;
  for (size_t axis = 1; axis < 3; ++axis) {
    if (high[axis] - low[axis] > high[longest] - low[longest]) longest = axis;
  }
  return longest;
}

void Halve(std::span<Item> items) {
  if (items.size() <= kSmallestRun) {
    // Otherwise the order within a run would depend on how nth_element works.
    std::sort(items.begin(), items.end(),
              [](const Item& a, const Item& b) { return a.number < b.number; });
    return;
  }
  const size_t axis = LongestAxis(items);
  const size_t half = items.size() / 2;
  std::nth_element(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(half), items.end(),
                   [axis](const Item& a, const Item& b) {
                     return a.centre[axis] != b.centre[axis] ? a.centre[axis] < b.centre[axis]
                                                             : a.number < b.number;
                   });
  Halve(items.first(half));
  Halve(items.subspan(half));
}

}  // namespace

std::vector<uint32_t> OrderByHalves(std::span<const Vec3d> centres) {
  std::vector<Item> items;
  items.reserve(centres.size());
  for (const Vec3d& c : centres) {
    items.push_back({{static_cast<float>(c.x), static_cast<float>(c.y), static_cast<float>(c.z)},
                     static_cast<uint32_t>(items.size())});
  }
  Halve(items);
  std::vector<uint32_t> order;
  order.reserve(items.size());
  for (const Item& item : items) order.push_back(item.number);
  return order;
}

}  // namespace plush::tools
