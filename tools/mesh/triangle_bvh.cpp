// SPDX-License-Identifier: MIT
#include "mesh/triangle_bvh.h"

#include <algorithm>

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
}

uint32_t TriangleBvh::Build(uint32_t begin, uint32_t end) {
  const auto id = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back();
  Node node;
  if (end - begin <= kLeafTriangles) {
    node.begin = begin;
    node.end = end;
    for (uint32_t i = begin; i < end; ++i) {
      node.box.Add(boxes_[order_[i]]);
      node.max_triangle = std::max(node.max_triangle, order_[i]);
    }
  } else {
    const uint32_t middle = SplitAtMedian(begin, end);
    const uint32_t first = Build(begin, middle);
    node.second_child = Build(middle, end);
    node.box = nodes_[first].box;
    node.box.Add(nodes_[node.second_child].box);
    node.max_triangle =
        std::max(nodes_[first].max_triangle, nodes_[node.second_child].max_triangle);
  }
  nodes_[id] = node;
  return id;
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
    if (node.max_triangle < first || !node.box.Overlaps(box)) continue;
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
