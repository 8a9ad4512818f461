// SPDX-License-Identifier: MIT
// Builds a median-split tree over triangle boxes and finds the boxes that overlap a given one.
// The tree's boxes are in single precision, rounded outwards, so that no overlap is missed.
#include "mesh/triangle_bvh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace plush::tools {
namespace {

constexpr size_t kSmallestRun = 4;

// Kept small, since sorting moves it.
struct Item {
  std::array<float, 3> centre = {};
  uint32_t number = 0;  // index of the centre; breaks ties
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
    // Makes the order independent of the implementation of nth_element.
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

// Larger leaves test more boxes in vain; smaller ones make a larger tree.
constexpr uint32_t kLeafTriangles = 4;

std::vector<uint32_t> OrderOf(std::span<const Vec3d> points,
                              std::span<const std::array<uint32_t, 3>> triangles) {
  std::vector<Vec3d> centres;
  centres.reserve(triangles.size());
  for (const auto& [a, b, c] : triangles) {
    centres.push_back((points[a] + points[b] + points[c]) / 3.0);
  }
  return OrderByHalves(centres);
}

}  // namespace

std::vector<uint32_t> OrderByHalves(std::span<const Vec3d> centres) {
  std::vector<Item> items;
  items.reserve(centres.size());
  for (const Vec3d& c : centres) {
    const Vec3 centre = ToFloat(c);
    items.push_back({{centre.x, centre.y, centre.z}, static_cast<uint32_t>(items.size())});
  }
  Halve(items);
  std::vector<uint32_t> order;
  order.reserve(items.size());
  for (const Item& item : items) order.push_back(item.number);
  return order;
}

TriangleBvh::TriangleBvh(std::span<const Vec3d> points,
                         std::span<const std::array<uint32_t, 3>> triangles)
    : TriangleBvh(points, triangles, OrderOf(points, triangles)) {}

TriangleBvh::TriangleBvh(std::span<const Vec3d> points,
                         std::span<const std::array<uint32_t, 3>> triangles,
                         std::span<const uint32_t> order)
    : boxes_(triangles.size()), order_(order.begin(), order.end()) {
  for (uint32_t t = 0; t < boxes_.size(); ++t) {
    for (const uint32_t v : triangles[t]) boxes_[t].Add(points[v]);
  }
  if (boxes_.empty()) return;
  nodes_.reserve(boxes_.size());
  Build(0, static_cast<uint32_t>(boxes_.size()));
  leaf_boxes_.reserve(boxes_.size());
  for (const uint32_t t : order_) leaf_boxes_.push_back(RoundOutwards(boxes_[t]));
}

TriangleBvh::FloatBox TriangleBvh::RoundOutwards(const Box3& box) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  FloatBox out;
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<size_t>(axis);
    out.low[a] = static_cast<float>(box.low[axis]);
    out.high[a] = static_cast<float>(box.high[axis]);
    if (static_cast<double>(out.low[a]) > box.low[axis]) {
      out.low[a] = std::nextafter(out.low[a], -kInfinity);
    }
    if (static_cast<double>(out.high[a]) < box.high[axis]) {
      out.high[a] = std::nextafter(out.high[a], kInfinity);
    }
  }
  return out;
}

// Adds the node of a range of order_, and its descendants. Returns its box.
Box3 TriangleBvh::Build(uint32_t begin, uint32_t end) {
  const auto id = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back();
  Node node;
  Box3 box;
  if (end - begin <= kLeafTriangles) {
    node.begin = begin;
    node.end = end;
    for (uint32_t i = begin; i < end; ++i) {
      box.Add(boxes_[order_[i]]);
      node.max_triangle = std::max(node.max_triangle, order_[i]);
    }
  } else {
    const uint32_t middle = begin + (end - begin) / 2;
    box = Build(begin, middle);
    node.second_child = static_cast<uint32_t>(nodes_.size());
    box.Add(Build(middle, end));
    node.max_triangle =
        std::max(nodes_[id + 1].max_triangle, nodes_[node.second_child].max_triangle);
  }
  node.box = RoundOutwards(box);
  nodes_[id] = node;
  return box;
}

void TriangleBvh::FindOverlaps(const Box3& box, uint32_t first,
                               std::vector<uint32_t>* triangles) const {
  triangles->clear();
  const FloatBox rounded = RoundOutwards(box);
  const auto enter = [&](const Node& node) {
    return node.max_triangle >= first && node.box.Overlaps(rounded);
  };
  Walk(enter, [&](uint32_t i) {
    const uint32_t t = order_[i];
    if (t >= first && boxes_[t].Overlaps(box)) triangles->push_back(t);
    return false;
  });
  std::sort(triangles->begin(), triangles->end());
}

}  // namespace plush::tools
