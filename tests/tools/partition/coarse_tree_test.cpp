// SPDX-License-Identifier: MIT
// The tree over tets against the plain algorithm, and its bounds.
#include "plush/format/cdg_records.h"

#include "partition/collision_trees.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <numeric>
#include <random>

using namespace plush::tools;

namespace coarse_tree_test {

std::vector<Dop14> RandomLeaves(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> in(0.0, 1.0);
  std::vector<Dop14> leaves(count);
  for (Dop14& leaf : leaves) {
    const Vec3d middle = {10.0 * in(random), 3.0 * in(random), in(random)};
    for (int i = 0; i < 4; ++i) {
      leaf.Add(middle + Vec3d{0.3 * in(random), 0.3 * in(random), 0.3 * in(random)});
    }
  }
  return leaves;
}

// Sum of the volumes of all inner nodes, and the depth, found by walking the nodes in preorder.
struct Walk {
  double volume = 0.0;
  size_t depth = 0;
};

Dop14 WalkNode(const CoarseTree& tree, const std::vector<Dop14>& leaves, size_t count, size_t depth,
               size_t* node, size_t* leaf, Walk* walk) {
  walk->depth = std::max(walk->depth, depth);
  const uint32_t left = tree.left_counts.at((*node)++);
  if (count == 1) {
    REQUIRE(left == 0);
    return leaves[tree.leaves.at((*leaf)++)];
  }
  REQUIRE(left > 0);
  REQUIRE(left < count);
  Dop14 bounds = WalkNode(tree, leaves, left, depth + 1, node, leaf, walk);
  bounds.Add(WalkNode(tree, leaves, count - left, depth + 1, node, leaf, walk));
  walk->volume += bounds.Volume();
  return bounds;
}

Walk WalkTree(const CoarseTree& tree, const std::vector<Dop14>& leaves) {
  std::vector<uint32_t> sorted = tree.leaves;
  std::sort(sorted.begin(), sorted.end());
  std::vector<uint32_t> all(leaves.size());
  std::iota(all.begin(), all.end(), 0u);
  REQUIRE(sorted == all);
  REQUIRE(tree.left_counts.size() == 2 * leaves.size() - 1);
  Walk walk;
  size_t node = 0, leaf = 0;
  WalkNode(tree, leaves, leaves.size(), 1, &node, &leaf, &walk);
  return walk;
}

// The plain algorithm: compares all pairs in every step.
double VolumeByAllPairs(std::vector<Dop14> nodes) {
  double sum = 0.0;
  while (nodes.size() > 1) {
    double best = std::numeric_limits<double>::infinity();
    size_t a = 0, b = 1;
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (size_t j = i + 1; j < nodes.size(); ++j) {
        Dop14 bounds = nodes[i];
        bounds.Add(nodes[j]);
        if (bounds.Volume() < best) {
          best = bounds.Volume();
          a = i;
          b = j;
        }
      }
    }
    nodes[a].Add(nodes[b]);
    nodes.erase(nodes.begin() + static_cast<ptrdiff_t>(b));
    sum += best;
  }
  return sum;
}

// The same joins, but a node searches all others for its best partner only after losing it. Takes
// about n^2 comparisons instead of n^3.
double VolumeByPartners(std::vector<Dop14> nodes) {
  struct Partner {
    size_t node = 0;
    double volume = std::numeric_limits<double>::infinity();
  };
  std::vector<bool> alive(nodes.size(), true);
  std::vector<Partner> partners(nodes.size());
  const auto search = [&](size_t i) {
    partners[i] = {};
    for (size_t j = 0; j < nodes.size(); ++j) {
      if (j == i || !alive[j]) continue;
      Dop14 bounds = nodes[i];
      bounds.Add(nodes[j]);
      if (bounds.Volume() < partners[i].volume) partners[i] = {j, bounds.Volume()};
    }
  };
  for (size_t i = 0; i < nodes.size(); ++i) search(i);
  double sum = 0.0;
  for (size_t joins = 1; joins < nodes.size(); ++joins) {
    size_t a = nodes.size();
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (alive[i] && (a == nodes.size() || partners[i].volume < partners[a].volume)) a = i;
    }
    const size_t b = partners[a].node;
    sum += partners[a].volume;
    nodes[a].Add(nodes[b]);
    alive[b] = false;
    // A union only grows, so nobody else prefers the new node to a partner that is still there.
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (alive[i] && (i == a || partners[i].node == a || partners[i].node == b)) search(i);
    }
  }
  return sum;
}

TEST_CASE("The coarse tree joins the closest pair first, as all pairs would") {
  for (const size_t count : {1, 2, 3, 10, 60, 120}) {
    const auto leaves = RandomLeaves(count, static_cast<uint32_t>(count));
    const Walk walk = WalkTree(BuildCoarseTree(leaves), leaves);
    const double by_all_pairs = VolumeByAllPairs(leaves);
    CHECK(walk.volume == Approx(by_all_pairs).epsilon(1e-9));
    CHECK(VolumeByPartners(leaves) == Approx(by_all_pairs).epsilon(1e-9));
  }
}

TEST_CASE("A coarse tree of many leaves is shallow and not much looser than the exact one",
          "[long]") {
  // One leaf too many for the exact algorithm, whose tree would be too deep. Halving costs volume.
  const auto leaves = RandomLeaves(kMaxExact + 1, 9);
  const Walk walk = WalkTree(BuildCoarseTree(leaves), leaves);
  const double exact = VolumeByPartners(leaves);
  std::printf("coarse tree in groups: %.3f of the exact one's volume\n", walk.volume / exact);
  CHECK(walk.depth < plush::kMaxTreeDepth);
  CHECK(walk.volume < 2.5 * exact);
}

TEST_CASE("A coarse tree that would be too deep is halved") {
  // Each leaf lies far beyond all before it, so joining bottom-up gives a chain.
  std::vector<Dop14> leaves(100);
  double place = 1.0;
  for (Dop14& leaf : leaves) {
    leaf.Add({place, 0.0, 0.0});
    leaf.Add({place * 1.01, 1.0, 1.0});
    place *= 3.0;
  }
  const Walk walk = WalkTree(BuildCoarseTree(leaves), leaves);
  CHECK(walk.depth < plush::kMaxTreeDepth);
}

TEST_CASE("The volume of a 14-DOP") {
  Dop14 box;
  for (int i = 0; i < 8; ++i) box.Add({i & 1 ? 2.0 : 0.0, i & 2 ? 3.0 : 0.0, i & 4 ? 4.0 : 0.0});
  CHECK(box.Volume() == Approx(24.0));
  Dop14 cut;  // a cube without a corner: minus one sixth of a cube with half its edge
  for (int i = 1; i < 8; ++i) cut.Add({i & 1 ? 1.0 : 0.0, i & 2 ? 1.0 : 0.0, i & 4 ? 1.0 : 0.0});
  cut.Add({0.5, 0.0, 0.0});
  cut.Add({0.0, 0.5, 0.0});
  cut.Add({0.0, 0.0, 0.5});
  CHECK(cut.Volume() == Approx(1.0 - 0.125 / 6.0));
  Dop14 flat;
  flat.Add({0, 0, 0});
  flat.Add({1, 1, 0});
  CHECK(flat.Volume() == 0.0);
}

}  // namespace coarse_tree_test
