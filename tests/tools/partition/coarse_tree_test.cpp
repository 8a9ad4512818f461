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

namespace {

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
  size_t node = 0;
  size_t leaf = 0;
  WalkNode(tree, leaves, leaves.size(), 1, &node, &leaf, &walk);
  return walk;
}

// The plain algorithm: compares all pairs in every step.
double VolumeByAllPairs(std::vector<Dop14> nodes) {
  double sum = 0.0;
  while (nodes.size() > 1) {
    double best = std::numeric_limits<double>::infinity();
    size_t a = 0;
    size_t b = 1;
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

}  // namespace

TEST_CASE("The coarse tree joins the closest pair first, as all pairs would") {
  for (const size_t count : {1, 2, 3, 10, 60, 120}) {
    const auto leaves = RandomLeaves(count, static_cast<uint32_t>(count));
    const Walk walk = WalkTree(BuildCoarseTree(leaves), leaves);
    CHECK(walk.volume == Approx(VolumeByAllPairs(leaves)).epsilon(1e-9));
  }
}

TEST_CASE("A coarse tree of many leaves is sound and nearly as tight") {
  // One leaf too many for the exact algorithm: the sum of volumes hardly differs.
  const auto leaves = RandomLeaves(kMaxExact + 1, 9);
  const Walk walk = WalkTree(BuildCoarseTree(leaves), leaves);
  const std::vector<Dop14> some(leaves.begin(), leaves.end() - 1);
  const Walk exact = WalkTree(BuildCoarseTree(some), some);
  std::printf("coarse tree in groups: %.3f of the exact one's volume\n",
              walk.volume / exact.volume);
  CHECK(walk.depth < plush::kMaxTreeDepth);
  CHECK(walk.volume < 1.3 * exact.volume);
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
