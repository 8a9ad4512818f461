// SPDX-License-Identifier: MIT
// Blocks of tets: what Open accepts can be computed 16 tets at a time.
#include "plush/asset.h"
#include "plush/format/tet_block.h"

#include "runtime/asset/check_subject.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>

using plush::CheckKind;
using plush::kBlockTets;
using plush::SimulationView;
using plush::TetBlock;
using plush::test::Failures;
using plush::test::Subject;

namespace block_checks_test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TetBlock& BlockOf(const SimulationView& s, size_t tet) {
  return const_cast<TetBlock&>(s.BlockOf(tet));
}

// Checks the properties that the kernels rely on, by sets of nodes and slots.
void RequireSound(const SimulationView& s) {
  std::set<uint32_t> slots(s.tet_slots.begin(), s.tet_slots.end());
  REQUIRE(slots.size() == s.tets.size());
  for (size_t t = 0; t < s.tets.size(); ++t) {
    const TetBlock& block = s.BlockOf(t);
    const size_t lane = s.LaneOf(t);
    REQUIRE(s.tet_slots[t] < s.blocks.size() * kBlockTets);
    REQUIRE(block.nodes[0][lane] == s.tets[t].a);
    REQUIRE(block.nodes[1][lane] == s.tets[t].b);
    REQUIRE(block.nodes[2][lane] == s.tets[t].c);
    REQUIRE(block.nodes[3][lane] == s.tets[t].d);
    REQUIRE(s.Volume(t) > 0.0f);
    REQUIRE(std::isfinite(s.Mu(t)));
  }
  for (size_t b = 0; b < s.blocks.size(); ++b) {
    std::set<uint32_t> nodes;
    for (uint32_t lane = 0; lane < kBlockTets; ++lane) {
      const bool is_used = slots.count(static_cast<uint32_t>(b * kBlockTets) + lane) == 1;
      for (const auto& row : s.blocks[b].nodes) {
        REQUIRE((row[lane] < s.nodes.size()) == is_used);
        if (is_used) REQUIRE(nodes.insert(row[lane]).second);
        if (!is_used) REQUIRE(row[lane] == s.nodes.size());
      }
      if (!is_used) REQUIRE(s.blocks[b].stiffness[lane] == 0.0f);
    }
  }
}

// The lane of a place without a tet in the block, or kBlockTets.
size_t EmptyLane(const SimulationView& s, size_t block) {
  size_t lane = 0;
  while (lane < kBlockTets && s.blocks[block].nodes[0][lane] < s.nodes.size()) ++lane;
  return lane;
}

TEST_CASE("Blocks open only if every tet has a place and no node is in a block twice") {
  const uint32_t seed = 11;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto bytes = plush::test::AssetBytesOf(plush::test::TetBox(3, 3, 3, 0.1, 0.05));
  int opened = 0, refused = 0;
  for (int repeat = 0; repeat < 2000; ++repeat) {
    plush::test::ExactBuffer file(bytes);
    plush::Asset asset;
    REQUIRE(asset.Open(file.bytes()).ok());
    const SimulationView& s = asset.simulation();
    const size_t a = random() % s.tets.size(), b = random() % s.tets.size();
    auto& slots = const_cast<uint32_t&>(s.tet_slots[0]);
    if (repeat % 2 == 0) {  // swaps two tets and everything in their places
      std::swap((&slots)[a], (&slots)[b]);
      TetBlock& first = BlockOf(s, a);
      TetBlock& second = BlockOf(s, b);
      const size_t i = s.LaneOf(a), k = s.LaneOf(b);
      for (int row = 0; row < 4; ++row) std::swap(first.nodes[row][i], second.nodes[row][k]);
    } else {
      const auto value = static_cast<uint32_t>(random() % (s.blocks.size() * kBlockTets));
      (&slots)[a] = value;
    }
    plush::Asset changed;
    const plush::Status status = changed.Open(file.bytes());
    opened += status.ok() ? 1 : 0;
    refused += status.ok() ? 0 : 1;
    if (status.ok()) RequireSound(changed.simulation());
  }
  CHECK(opened > 0);
  CHECK(refused > 0);
}

TEST_CASE("Wrong places are named") {
  Subject s;
  const SimulationView& sim = s.asset().simulation();
  const uint32_t slot = sim.tet_slots[9];
  const size_t lane = sim.LaneOf(9);
  TetBlock& block = BlockOf(sim, 9);
  const auto num_nodes = static_cast<uint32_t>(sim.nodes.size());
  SECTION("numbers") {
    s.Break(sim.tet_slots[3], static_cast<uint32_t>(sim.blocks.size() * kBlockTets),
            CheckKind::kIndex, "simulation.tet_slots", 3);
    s.Break(sim.tet_slots[3], sim.tet_slots[4], CheckKind::kOrder, "simulation.tet_slots", 3);
    s.Break(block.nodes[3][lane], num_nodes + 1, CheckKind::kIndex, "simulation.blocks.nodes",
            slot);
    s.Break(block.nodes[3][lane], num_nodes, CheckKind::kIndex, "simulation.blocks.nodes", slot);
    s.Break(block.nodes[3][lane], block.nodes[0][lane], CheckKind::kOrder,
            "simulation.blocks.nodes", slot);
  }
  SECTION("another node than the tet's") {
    std::swap(block.nodes[1][lane], block.nodes[2][lane]);
    s.ExpectOnly(CheckKind::kOrder, "simulation.tet_slots", 9);
  }
  SECTION("a node twice in a block") {
    const size_t other = lane == 0 ? 1 : 0;
    REQUIRE(block.nodes[0][other] < num_nodes);
    block.nodes[3][other] = block.nodes[2][lane];
    const auto failures = Failures(s.bytes());
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].kind == CheckKind::kOrder);
    CHECK(failures[0].section == "simulation.blocks.nodes");
  }
}

TEST_CASE("Two tets with the same nodes need one place each") {
  // Equal tets differ only in their slots.
  auto content = plush::test::ContentOf(plush::test::SingleTet());
  content.rest.tets.push_back(content.rest.tets[0]);
  content.rest.tet_masses.push_back(content.rest.tet_masses[0]);
  content.tet_materials.push_back(0);
  content.rest.tet_slots.push_back(kBlockTets);
  content.rest.blocks.push_back(content.rest.blocks[0]);
  Subject s(plush::tools::WriteAsset(content).value());
  s.At(s.asset().simulation().tet_slots, 1) = 0;
  s.ExpectOnly(CheckKind::kOrder, "simulation.tet_slots", 1);
}

TEST_CASE("Empty blocks and places with invalid tets are refused") {
  auto content = plush::test::ContentOf(plush::test::TetBox(3, 2, 2, 0.1));
  REQUIRE(content.rest.blocks.size() < content.rest.tets.size());
  const auto refused = [&content](const std::string& words) {
    const auto bytes = plush::tools::WriteAsset(content);
    REQUIRE_FALSE(bytes.ok());
    INFO(bytes.error().message);
    CHECK(bytes.error().message.find(words) != std::string::npos);
  };
  const auto num_nodes = static_cast<uint32_t>(content.rest.nodes.size());
  TetBlock empty = {};
  for (auto& row : empty.nodes) std::fill(std::begin(row), std::end(row), num_nodes);
  SECTION("a block too many") {
    content.rest.blocks.push_back(empty);
    refused("the block has no tet");
  }
  SECTION("more blocks than tets") {
    content.rest.blocks.resize(content.rest.tets.size() + 1, empty);
    refused("not between one and the number of tets");
  }
  SECTION("a tet that the list of tets lacks") {
    content.rest.blocks.push_back(content.rest.blocks[0]);
    refused("not one place per tet");
  }
}

TEST_CASE("Wrong numbers of a block are named by their place") {
  Subject s;
  const SimulationView& sim = s.asset().simulation();
  const uint32_t slot = sim.tet_slots[9];
  const size_t lane = sim.LaneOf(9);
  TetBlock& block = BlockOf(sim, 9);
  SECTION("numbers") {
    s.Break(block.dm_inv[8][lane], kNan, CheckKind::kNonFinite, "simulation.blocks.dm_inv", slot);
    s.Break(block.dm_inv[3][lane], -1.1e18f, CheckKind::kRange, "simulation.blocks.dm_inv", slot);
    s.Break(block.det_dm_inv[lane], kNan, CheckKind::kNonFinite, "simulation.blocks.det_dm_inv",
            slot);
  }
  SECTION("a volume that is not positive") {
    block.det_dm_inv[lane] = GENERATE(-1.0f, 0.0f, 1.0e-32f, 2.0e37f, 1.0e38f);
    s.ExpectOnly(CheckKind::kRange, "simulation.blocks.det_dm_inv", slot);
  }
  SECTION("stiffness") {
    block.stiffness[lane] = GENERATE(0.0f, -1.0f, 1.0e-40f, 1.1e30f);
    s.ExpectOnly(CheckKind::kRange, "simulation.blocks.stiffness", slot);
  }
  SECTION("bulk") {
    block.bulk[lane] = GENERATE(-1.0f, 1.1e30f);
    s.ExpectOnly(CheckKind::kRange, "simulation.blocks.bulk", slot);
  }
}

TEST_CASE("Numbers in a place without a tet are named") {
  Subject s;
  const SimulationView& sim = s.asset().simulation();
  size_t b = 0;
  while (b < sim.blocks.size() && EmptyLane(sim, b) == kBlockTets) ++b;
  REQUIRE(b < sim.blocks.size());
  auto& block = const_cast<TetBlock&>(sim.blocks[b]);
  const size_t lane = EmptyLane(sim, b);
  const uint64_t slot = b * kBlockTets + lane;
  s.Break(block.dm_inv[0][lane], 1.0e-30f, CheckKind::kRange, "simulation.blocks.dm_inv", slot);
  s.Break(block.det_dm_inv[lane], 1.0f, CheckKind::kRange, "simulation.blocks.det_dm_inv", slot);
  s.Break(block.stiffness[lane], 1.0f, CheckKind::kRange, "simulation.blocks.stiffness", slot);
  s.Break(block.bulk[lane], kNan, CheckKind::kNonFinite, "simulation.blocks.bulk", slot);
}

}  // namespace block_checks_test
