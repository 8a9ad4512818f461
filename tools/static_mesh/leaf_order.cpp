// SPDX-License-Identifier: MIT
// Splits triangles at medians, top down, into sub-trees that are full except for the last one.
#include "static_mesh/leaf_order.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace plush::tools {
namespace {

float CentreAlong(const StaticBox& box, int axis) {
  return axis == 0 ? box.low.x + box.high.x
                   : (axis == 1 ? box.low.y + box.high.y : box.low.z + box.high.z);
}

double HalfSurface(const StaticBox& box) {
  const double x = double(box.high.x) - double(box.low.x),
               y = double(box.high.y) - double(box.low.y),
               z = double(box.high.z) - double(box.low.z);
  return x * y + y * z + z * x;
}

// A triangle on its way to its place.
struct Item {
  std::array<float, 3> centre;  // twice that of its box
  uint32_t triangle;
};

class Orderer {
 public:
  explicit Orderer(std::span<const StaticBox> boxes) : boxes_(boxes) {
    items_.reserve(boxes.size());
    for (uint32_t t = 0; t < boxes.size(); ++t) {
      const StaticBox& box = boxes[t];
      items_.push_back({{CentreAlong(box, 0), CentreAlong(box, 1), CentreAlong(box, 2)}, t});
    }
  }

  std::vector<uint32_t> Order() {
    size_t capacity = kStaticLeafTriangles;
    while (capacity < items_.size()) capacity *= kStaticChildren;
    Divide(0, items_.size(), capacity);
    std::vector<uint32_t> order;
    order.reserve(items_.size());
    for (const Item& item : items_) order.push_back(item.triangle);
    return order;
  }

 private:
  // Orders [begin, end), which fits into a sub-tree of `capacity` triangles.
  void Divide(size_t begin, size_t end, size_t capacity) {
    if (capacity > kStaticLeafTriangles) {
      Split(begin, end, capacity / kStaticChildren);
    } else {
      std::sort(items_.begin() + Offset(begin), items_.begin() + Offset(end),
                [](const Item& a, const Item& b) { return a.triangle < b.triangle; });
    }
  }

  // Splits [begin, end) into children of `capacity` triangles; the last may have fewer.
  void Split(size_t begin, size_t end, size_t capacity) {
    const size_t num_children = (end - begin + capacity - 1) / capacity;
    if (num_children <= 1) {
      Divide(begin, end, capacity);
      return;
    }
    const size_t middle = begin + capacity * ((num_children + 1) / 2);
    Part(begin, middle, end, BestAxis(begin, middle, end));
    Split(begin, middle, capacity);
    Split(middle, end, capacity);
  }

  // Puts the triangles with the least centres along `axis` first. Ties go by number, so that every
  // standard library makes the same two sets.
  void Part(size_t begin, size_t middle, size_t end, int axis) {
    const auto k = static_cast<size_t>(axis);
    std::nth_element(items_.begin() + Offset(begin), items_.begin() + Offset(middle),
                     items_.begin() + Offset(end), [k](const Item& a, const Item& b) {
                       return a.centre[k] != b.centre[k] ? a.centre[k] < b.centre[k]
                                                         : a.triangle < b.triangle;
                     });
  }

  int BestAxis(size_t begin, size_t middle, size_t end) {
    int best = 0;
    double least = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      Part(begin, middle, end, axis);
      const double cost = Cost(begin, middle) + Cost(middle, end);
      if (axis > 0 && !(cost < least)) continue;
      least = cost;
      best = axis;
    }
    return best;
  }

  double Cost(size_t begin, size_t end) const {
    StaticBox box = boxes_[items_[begin].triangle];
    for (size_t i = begin + 1; i < end; ++i) box.Add(boxes_[items_[i].triangle]);
    return HalfSurface(box) * static_cast<double>(end - begin);
  }

  static std::ptrdiff_t Offset(size_t i) { return static_cast<std::ptrdiff_t>(i); }

  std::span<const StaticBox> boxes_;
  std::vector<Item> items_;
};

}  // namespace

std::vector<uint32_t> LeafOrder(std::span<const StaticBox> boxes) { return Orderer(boxes).Order(); }

std::vector<StaticNode> StaticTreeOf(std::vector<StaticBox> boxes, const StaticGrid& grid) {
  std::vector<StaticNode> nodes(StaticLevels::For(boxes.size()).num_nodes());
  FillStaticTree(grid, boxes, nodes);
  return nodes;
}

}  // namespace plush::tools
