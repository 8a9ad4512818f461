// SPDX-License-Identifier: MIT
// Blocks of tets without common nodes: complete, valid, well filled, near in memory.
#include "rest/tet_blocks.h"

#include "plush/format/tet_block.h"

#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>

using namespace plush::tools;
using plush::kBlockTets;

namespace tet_blocks_test {

using Tets = std::vector<std::array<uint32_t, 4>>;

// Checks that each tet occurs once, and that a block's tets share no node and precede its free
// places.
void CheckBlocks(const Tets& tets, const std::vector<uint32_t>& places) {
  REQUIRE(places.size() % kBlockTets == 0);
  std::vector<uint32_t> seen(tets.size(), 0);
  for (size_t block = 0; block < places.size(); block += kBlockTets) {
    REQUIRE(places[block] != kNoTet);
    std::set<uint32_t> nodes;
    size_t num_tets = 0;
    for (size_t i = block; i < block + kBlockTets; ++i) {
      if (places[i] == kNoTet) continue;
      REQUIRE(num_tets++ == i - block);
      ++seen[places[i]];
      nodes.insert(tets[places[i]].begin(), tets[places[i]].end());
    }
    REQUIRE(nodes.size() == 4 * num_tets);
  }
  REQUIRE(std::all_of(seen.begin(), seen.end(), [](uint32_t times) { return times == 1; }));
}

uint32_t MostTetsOfANode(uint32_t num_nodes, const Tets& tets) {
  std::vector<uint32_t> counts(num_nodes, 0);
  for (const auto& tet : tets) {
    for (const uint32_t node : tet) ++counts[node];
  }
  return *std::max_element(counts.begin(), counts.end());
}

Tets RandomTets(uint32_t num_nodes, size_t num_tets, std::mt19937* random) {
  Tets tets;
  while (tets.size() < num_tets) {
    std::set<uint32_t> nodes;
    while (nodes.size() < 4) nodes.insert(static_cast<uint32_t>((*random)() % num_nodes));
    std::copy(nodes.begin(), nodes.end(), tets.emplace_back().begin());
    std::shuffle(tets.back().begin(), tets.back().end(), *random);
  }
  return tets;
}

TEST_CASE("Blocks of a mesh of some thousand tets are full") {
  const auto mesh = plush::test::TetBox(9, 9, 10, 1.0);
  REQUIRE(mesh.tets.size() == 4050);
  const auto num_nodes = static_cast<uint32_t>(mesh.nodes.size());
  const std::vector<uint32_t> places = PackTetBlocks(num_nodes, mesh.tets);
  CheckBlocks(mesh.tets, places);
  const size_t num_blocks = places.size() / kBlockTets;
  CHECK(num_blocks <= (mesh.tets.size() + kBlockTets - 1) / kBlockTets + 1);
  CHECK(PackTetBlocks(num_nodes, mesh.tets) == places);
}

TEST_CASE("Small cages have few blocks more than the tets around a node need") {
  const auto mesh = plush::test::TetBox(3, 5, 6, 1.0);
  REQUIRE(mesh.tets.size() == 450);
  const auto num_nodes = static_cast<uint32_t>(mesh.nodes.size());
  const std::vector<uint32_t> places = PackTetBlocks(num_nodes, mesh.tets);
  CheckBlocks(mesh.tets, places);
  CHECK(places.size() / kBlockTets <= MostTetsOfANode(num_nodes, mesh.tets) + 2);
}

TEST_CASE("Blocks of near tets are near in the nodes' order") {
  const auto mesh = plush::test::TetBox(4, 4, 60, 1.0);  // node numbers ascend along the beam
  const std::vector<uint32_t> places =
      PackTetBlocks(static_cast<uint32_t>(mesh.nodes.size()), mesh.tets);
  CheckBlocks(mesh.tets, places);
  size_t sum = 0;
  for (size_t block = 0; block < places.size(); block += kBlockTets) {
    uint32_t lowest = UINT32_MAX, highest = 0;
    for (size_t i = block; i < block + kBlockTets && places[i] != kNoTet; ++i) {
      const auto [low, high] =
          std::minmax_element(mesh.tets[places[i]].begin(), mesh.tets[places[i]].end());
      lowest = std::min(lowest, *low);
      highest = std::max(highest, *high);
    }
    sum += highest - lowest;
  }
  CHECK(sum / (places.size() / kBlockTets) * 6 < mesh.nodes.size());
}

TEST_CASE("Any tets can be put into blocks") {
  CHECK(PackTetBlocks(0, {}).empty());
  const Tets single = {{3, 1, 0, 2}};
  CheckBlocks(single, PackTetBlocks(4, single));
  std::mt19937 random(9);
  for (int round = 0; round < 50; ++round) {
    const auto num_nodes = static_cast<uint32_t>(4 + random() % 200);
    const Tets tets = RandomTets(num_nodes, random() % 3000, &random);
    CheckBlocks(tets, PackTetBlocks(num_nodes, tets));
  }
}

TEST_CASE("Tets around one node have a block each") {
  Tets fan;
  for (uint32_t i = 0; i < 5000; ++i) fan.push_back({0, 3 * i + 1, 3 * i + 2, 3 * i + 3});
  const std::vector<uint32_t> places = PackTetBlocks(15001, fan);
  CheckBlocks(fan, places);
  CHECK(places.size() == fan.size() * kBlockTets);
}

}  // namespace tet_blocks_test
