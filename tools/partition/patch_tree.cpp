// SPDX-License-Identifier: MIT
#include "partition/patch_tree.h"

#include <algorithm>
#include <numeric>

namespace plush::tools {
namespace {

BarycentricBox Union(const BarycentricBox& a, const BarycentricBox& b) {
  BarycentricBox box;
  for (size_t i = 0; i < 4; ++i) {
    box.low[i] = std::min(a.low[i], b.low[i]);
    box.high[i] = std::max(a.high[i], b.high[i]);
  }
  return box;
}

float LongestInterval(const BarycentricBox& box) {
  float longest = 0.0f;
  for (size_t i = 0; i < 4; ++i) longest = std::max(longest, box.high[i] - box.low[i]);
  return longest;
}

size_t LongestAxis(const BarycentricBox& box) {
  size_t axis = 0;
  for (size_t i = 1; i < 4; ++i) {
    if (box.high[i] - box.low[i] > box.high[axis] - box.low[axis]) axis = i;
  }
  return axis;
}

struct Range {
  uint32_t begin = 0;
  uint32_t end = 0;
};

}  // namespace

BarycentricBox BoxOfTriangle(const std::array<Vec4, 3>& weights) {
  BarycentricBox box;
  for (size_t k = 0; k < 3; ++k) {
    const std::array<float, 4> w = {weights[k].x, weights[k].y, weights[k].z, weights[k].w};
    for (size_t i = 0; i < 4; ++i) {
      box.low[i] = k == 0 ? w[i] : std::min(box.low[i], w[i]);
      box.high[i] = k == 0 ? w[i] : std::max(box.high[i], w[i]);
    }
  }
  return box;
}

PatchTree BuildPatchTree(std::span<const BarycentricBox> boxes) {
  PatchTree tree;
  tree.order.resize(boxes.size());
  tree.bounds.resize(boxes.size());
  std::iota(tree.order.begin(), tree.order.end(), 0u);
  std::vector<Range> waiting;
  if (!boxes.empty()) waiting.push_back({0, static_cast<uint32_t>(boxes.size())});
  while (!waiting.empty()) {
    const auto [begin, end] = waiting.back();
    waiting.pop_back();
    uint32_t* order = tree.order.data();
    BarycentricBox bounds = boxes[order[begin]];
    uint32_t largest = begin;
    for (uint32_t i = begin; i < end; ++i) {
      bounds = Union(bounds, boxes[order[i]]);
      const float extent = LongestInterval(boxes[order[i]]);
      const float best = LongestInterval(boxes[order[largest]]);
      if (extent > best || (extent == best && order[i] < order[largest])) largest = i;
    }
    tree.bounds[begin] = QuantiseBounds(bounds);
    std::swap(order[begin], order[largest]);
    const size_t axis = LongestAxis(bounds);
    const uint32_t middle = PatchTreeMiddle(begin, end);
    if (middle < end) {
      const auto along = [&](uint32_t t) { return boxes[t].low[axis] + boxes[t].high[axis]; };
      std::nth_element(order + begin + 1, order + middle, order + end, [&](uint32_t a, uint32_t b) {
        return along(a) != along(b) ? along(a) < along(b) : a < b;
      });
      waiting.push_back({middle, end});
    }
    if (begin + 1 < middle) waiting.push_back({begin + 1, middle});
  }
  return tree;
}

}  // namespace plush::tools
