// SPDX-License-Identifier: MIT
#include "mesh/triangle_bvh.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush::tools {
namespace {

// Small enough that few boxes are tested in vain, large enough that the tree stays small.
constexpr uint32_t kLeafTriangles = 4;

}  // namespace

TriangleBvh::TriangleBvh(std::span<const Vec3d> points,
                         std::span<const std::array<uint32_t, 3>> triangles)
    : boxes_(triangles.size()), order_(triangles.size()) {
  for (uint32_t t = 0; t < boxes_.size(); ++t) {
    for (const uint32_t v : triangles[t]) boxes_[t].Add(points[v]);
    order_[t] = t;
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

// Adds the node of a range of order_ and all below it; its box.
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
    const uint32_t middle = SplitAtMedian(begin, end);
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

uint32_t TriangleBvh::SplitAtMedian(uint32_t begin, uint32_t end) {
  Box3 centres;
  for (uint32_t i = begin; i < end; ++i) centres.Add(boxes_[order_[i]].Centre());
  const Vec3d extent = centres.Extent();
  const int axis =
      extent.x >= extent.y && extent.x >= extent.z ? 0 : (extent.y >= extent.z ? 1 : 2);
  const uint32_t middle = begin + (end - begin) / 2;
  const auto key = [this, axis](uint32_t t) { return boxes_[t].low[axis] + boxes_[t].high[axis]; };
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&key](uint32_t a, uint32_t b) {
                     const double key_a = key(a);
                     const double key_b = key(b);
                     return key_a != key_b ? key_a < key_b : a < b;
                   });
  return middle;
}

void TriangleBvh::FindOverlaps(const Box3& box, uint32_t first,
                               std::vector<uint32_t>* triangles) const {
  triangles->clear();
  if (nodes_.empty()) return;
  std::array<uint32_t, kStackSize> stack;
  size_t depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const uint32_t id = stack[--depth];
    const Node& node = nodes_[id];
    if (node.max_triangle < first || !node.box.ToBox().Overlaps(box)) continue;
    if (node.second_child != 0) {
      stack[depth++] = node.second_child;
      stack[depth++] = id + 1;
      continue;
    }
    for (uint32_t i = node.begin; i < node.end; ++i) {
      const uint32_t t = order_[i];
      if (t >= first && boxes_[t].Overlaps(box)) triangles->push_back(t);
    }
  }
  std::sort(triangles->begin(), triangles->end());
}

}  // namespace plush::tools
