// SPDX-License-Identifier: MIT
// Source: plush/format/static_mesh.h. The boxes of a level take the place of those below.
#include "plush/format/static_mesh.h"

#include <algorithm>

namespace plush {
namespace {

// Puts the box of each group of `size` boxes that follow each other at the front.
std::span<StaticBox> Grouped(std::span<StaticBox> boxes, size_t size) {
  size_t count = 0;
  for (size_t begin = 0; begin < boxes.size(); begin += size) {
    StaticBox box = boxes[begin];
    for (size_t i = begin + 1; i < std::min(begin + size, boxes.size()); ++i) box.Add(boxes[i]);
    boxes[count++] = box;
  }
  return boxes.first(count);
}

constexpr StaticNode EmptyNode() {
  StaticNode node;
  for (int axis = 0; axis < 3; ++axis) {
    for (uint32_t child = 0; child < kStaticChildren; ++child) {
      node.low[axis][child] = node.flipped_high[axis][child] = UINT16_MAX;
    }
  }
  return node;
}

}  // namespace

void StaticBox::Add(const StaticBox& other) {
  low = {std::min(low.x, other.low.x), std::min(low.y, other.low.y), std::min(low.z, other.low.z)};
  high = {std::max(high.x, other.high.x), std::max(high.y, other.high.y),
          std::max(high.z, other.high.z)};
}

void FillStaticTree(const StaticGrid& grid, std::span<StaticBox> boxes,
                    std::span<StaticNode> nodes) {
  const StaticLevels levels = StaticLevels::For(boxes.size());
  std::fill(nodes.begin(), nodes.end(), EmptyNode());
  std::span<StaticBox> children = Grouped(boxes, kStaticLeafTriangles);
  for (uint32_t level = levels.count; level-- > 0;) {
    for (uint32_t i = 0; i < children.size(); ++i) {
      StaticNode& node = nodes[levels.begin[level] + i / kStaticChildren];
      node = grid.NodeOf(children[i].low, children[i].high, i % kStaticChildren, node);
    }
    children = Grouped(children, kStaticChildren);
  }
}

}  // namespace plush
