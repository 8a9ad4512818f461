// SPDX-License-Identifier: MIT
// Builds the tree over tets bottom-up by volumes of 14-DOPs [Civ 5.4.4], and orders the triangles
// of a patch into an implicit tree [Civ 5.4.3].
#include "partition/collision_trees.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace plush::tools {
namespace {

// Largest group into which a set above kMaxExact is divided.
constexpr size_t kGroup = 250;

// Sign of x, y and z in each of the four diagonals: true for +.
constexpr std::array<std::array<bool, 3>, 4> kPlus = {
    {{true, true, true}, {true, true, false}, {true, false, true}, {false, true, true}}};

// Volume cut off at the corners of a box with edges e. Corner i loses the part in which x + y + z,
// measured from that corner, is below cut[i]. The inner loop takes all eight so that the compiler
// can vectorise it.
double CornerVolumes(const std::array<double, 3>& e, const std::array<double, 8>& cut) {
  const std::array<double, 7> beyond = {
      e[0], e[1], e[2], e[0] + e[1], e[1] + e[2], e[2] + e[0], e[0] + e[1] + e[2]};
  std::array<double, 8> sum = {};
  const auto add = [&](double offset, double sign) {
    for (size_t i = 0; i < 8; ++i) {
      const double s = std::max(cut[i] - offset, 0.0);
      sum[i] += sign * (s * s * s);
    }
  };
  add(0.0, 1.0);
  const double largest = *std::max_element(cut.begin(), cut.end());
  for (size_t k = 0; k < beyond.size(); ++k) {
    if (largest > beyond[k]) add(beyond[k], k < 3 || k == 6 ? -1.0 : 1.0);
  }
  double total = 0.0;
  for (const double volume : sum) total += volume / 6.0;
  return total;
}

// Node of a tree under construction. A leaf has no children.
struct BuildNode {
  Dop14 bounds;
  uint32_t left = UINT32_MAX;
  uint32_t right = UINT32_MAX;
  uint32_t count = 1;  // leaves below
  uint32_t depth = 1;
};

class Builder {
 public:
  explicit Builder(std::span<const Dop14> leaves) : num_leaves_(leaves.size()) {
    nodes_.reserve(2 * leaves.size());
    for (const Dop14& leaf : leaves) nodes_.push_back({.bounds = leaf});
  }

  CoarseTree Run() {
    std::vector<uint32_t> all(num_leaves_);
    std::iota(all.begin(), all.end(), 0u);
    uint32_t root = Join(all);
    if (nodes_[root].depth >= kMaxTreeDepth) {
      nodes_.resize(num_leaves_);
      root = Halve(all);
    }
    CoarseTree tree;
    Write(root, &tree);
    return tree;
  }

 private:
  uint32_t MakeParent(uint32_t left, uint32_t right) {
    const BuildNode& a = nodes_[left];
    const BuildNode& b = nodes_[right];
    BuildNode node = {a.bounds, left, right, a.count + b.count, 1 + std::max(a.depth, b.depth)};
    node.bounds.Add(b.bounds);
    nodes_.push_back(node);
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  // Sorts along the longest axis of the set's bounds and splits at the median.
  std::pair<std::vector<uint32_t>, std::vector<uint32_t>> Parts(std::vector<uint32_t> set) const {
    Dop14 bounds;
    for (const uint32_t id : set) bounds.Add(nodes_[id].bounds);
    size_t axis = 0;
    for (size_t i = 1; i < 3; ++i) {
      const auto width = [&bounds](size_t a) { return bounds.high[a] - bounds.low[a]; };
      if (width(i) > width(axis)) axis = i;
    }
    const auto middle = [&](uint32_t id) {
      return nodes_[id].bounds.low[axis] + nodes_[id].bounds.high[axis];
    };
    std::sort(set.begin(), set.end(), [&](uint32_t a, uint32_t b) {
      return middle(a) != middle(b) ? middle(a) < middle(b) : a < b;
    });
    const auto half = set.begin() + static_cast<ptrdiff_t>(set.size() / 2);
    return {{set.begin(), half}, {half, set.end()}};
  }

  uint32_t Halve(const std::vector<uint32_t>& set) {
    if (set.size() == 1) return set[0];
    const auto [lower, upper] = Parts(set);
    const uint32_t left = Halve(lower);
    const uint32_t right = Halve(upper);
    return MakeParent(left, right);
  }

  void Group(const std::vector<uint32_t>& set, std::vector<uint32_t>* roots) {
    if (set.size() <= kGroup) {
      roots->push_back(JoinExactly(set));
      return;
    }
    const auto [lower, upper] = Parts(set);
    Group(lower, roots);
    Group(upper, roots);
  }

  uint32_t Join(std::vector<uint32_t> set) {
    while (set.size() > kMaxExact) {
      std::vector<uint32_t> roots;
      Group(set, &roots);
      set = std::move(roots);
    }
    return JoinExactly(set);
  }

  double UnionVolume(uint32_t a, uint32_t b) const {
    Dop14 bounds = nodes_[a].bounds;
    bounds.Add(nodes_[b].bounds);
    return bounds.Volume();
  }

  // Joins the closest two until one is left. Unions only grow. So if a node's partner is gone, its
  // volume is still a lower bound: the node needs a new partner only if that bound is the least.
  uint32_t JoinExactly(std::vector<uint32_t> active) {
    struct Best {
      double volume = std::numeric_limits<double>::infinity();
      uint32_t partner = UINT32_MAX;  // a node, or none
    };
    std::vector<Best> best(active.size());
    const auto offer = [&](size_t i, uint32_t partner, double volume) {
      if (volume < best[i].volume) best[i] = {volume, partner};
    };
    for (size_t i = 0; i < active.size(); ++i) {
      for (size_t j = i + 1; j < active.size(); ++j) {
        const double volume = UnionVolume(active[i], active[j]);
        offer(i, active[j], volume);
        offer(j, active[i], volume);
      }
    }
    const auto search = [&](size_t i) {
      best[i] = {};
      for (size_t j = 0; j < active.size(); ++j) {
        if (j != i) offer(i, active[j], UnionVolume(active[i], active[j]));
      }
    };
    while (active.size() > 1) {
      const auto least = std::ranges::min_element(best, {}, &Best::volume);
      const auto at = static_cast<size_t>(least - best.begin());
      const uint32_t a = active[at];
      const uint32_t b = best[at].partner;
      if (b == UINT32_MAX) {
        search(at);
        continue;
      }
      const auto other = std::find(active.begin(), active.end(), b) - active.begin();
      active[at] = MakeParent(std::min(a, b), std::max(a, b));
      active.erase(active.begin() + other);
      best.erase(best.begin() + other);
      for (Best& found : best) {
        if (found.partner == a || found.partner == b) found.partner = UINT32_MAX;
      }
      if (active.size() > 1) search(other < static_cast<ptrdiff_t>(at) ? at - 1 : at);
    }
    return active[0];
  }

  void Write(uint32_t root, CoarseTree* tree) const {
    std::vector<uint32_t> waiting = {root};
    while (!waiting.empty()) {
      const uint32_t id = waiting.back();
      waiting.pop_back();
      const BuildNode& node = nodes_[id];
      if (node.left == UINT32_MAX) {
        tree->left_counts.push_back(0);
        tree->leaves.push_back(id);
        continue;
      }
      tree->left_counts.push_back(nodes_[node.left].count);
      waiting.push_back(node.right);
      waiting.push_back(node.left);
    }
  }

  size_t num_leaves_;
  std::vector<BuildNode> nodes_;
};

size_t LongestAxis(const BarycentricBox& box) {
  size_t axis = 0;
  for (size_t i = 1; i < 4; ++i) {
    if (box.high[i] - box.low[i] > box.high[axis] - box.low[axis]) axis = i;
  }
  return axis;
}

float LongestInterval(const BarycentricBox& box) {
  const size_t axis = LongestAxis(box);
  return box.high[axis] - box.low[axis];
}

}  // namespace

Dop14::Dop14() {
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
}

void Dop14::Add(const Vec3d& p) {
  const std::array<double, 7> along = {
      p.x, p.y, p.z, p.x + p.y + p.z, p.x + p.y - p.z, p.x - p.y + p.z, -p.x + p.y + p.z};
  for (size_t i = 0; i < 7; ++i) {
    low[i] = std::min(low[i], along[i]);
    high[i] = std::max(high[i], along[i]);
  }
}

void Dop14::Add(const Dop14& other) {
  for (size_t i = 0; i < 7; ++i) {
    low[i] = std::min(low[i], other.low[i]);
    high[i] = std::max(high[i], other.high[i]);
  }
}

double Dop14::Volume() const {
  const std::array<double, 3> e = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
  if (!(e[0] > 0.0 && e[1] > 0.0 && e[2] > 0.0)) return 0.0;
  std::array<double, 8> cuts = {};
  for (size_t d = 0; d < 4; ++d) {
    double least = 0.0;
    double greatest = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      least += kPlus[d][i] ? low[i] : -high[i];
      greatest += kPlus[d][i] ? high[i] : -low[i];
    }
    cuts[2 * d] = low[3 + d] - least;
    cuts[2 * d + 1] = greatest - high[3 + d];
  }
  return std::max(e[0] * e[1] * e[2] - CornerVolumes(e, cuts), 0.0);
}

CoarseTree BuildCoarseTree(std::span<const Dop14> leaves) {
  if (leaves.empty()) return {};
  return Builder(leaves).Run();
}

BarycentricBox Union(const BarycentricBox& a, const BarycentricBox& b) {
  BarycentricBox box;
  for (size_t i = 0; i < 4; ++i) {
    box.low[i] = std::min(a.low[i], b.low[i]);
    box.high[i] = std::max(a.high[i], b.high[i]);
  }
  return box;
}

BarycentricBox BoxOf(std::span<const Vec4> weights) {
  BarycentricBox box;
  for (size_t k = 0; k < weights.size(); ++k) {
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
  std::vector<std::pair<uint32_t, uint32_t>> waiting;  // ranges
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
