// SPDX-License-Identifier: MIT
// The factor's structure: a numeric refactoring stays inside any that Open accepts.
#include "plush/asset.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "plush_generated.h"
#include "runtime/asset/check_subject.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>
#include <string>

using plush::Asset;
using plush::BlockIndex;
using plush::BlockValues;
using plush::CheckKind;
using plush::FactorView;
using plush::PaddedRows;
using plush::Status;
using plush::Supernode;
using plush::test::ExactBuffer;
using plush::test::Failures;
using plush::test::Subject;

namespace factor_checks_test {

// Rows below the diagonal of each column.
std::vector<std::set<uint32_t>> StoredRows(const FactorView& factor) {
  std::vector<std::set<uint32_t>> stored(factor.supernode_of.size());
  for (const Supernode& s : factor.supernodes) {
    for (uint32_t column = s.first_column; column < s.first_column + s.num_columns; ++column) {
      for (uint32_t row = column + 1; row < s.first_column + s.num_columns; ++row) {
        stored[column].insert(row);
      }
      for (uint32_t k = 0; k < s.num_rows; ++k) stored[column].insert(factor.rows[s.first_row + k]);
    }
  }
  return stored;
}

// Whether eliminating a matrix with the tets' pattern writes only stored entries. Works on sets,
// column by column, as the definition says.
bool EliminationStaysInside(const FactorView& factor, std::span<const plush::Tet> tets) {
  const std::vector<std::set<uint32_t>> stored = StoredRows(factor);
  std::vector<std::set<uint32_t>> needed(stored.size());
  for (const plush::Tet& t : tets) {
    for (const uint32_t i : {t.a, t.b, t.c, t.d}) {
      for (const uint32_t k : {t.a, t.b, t.c, t.d}) {
        if (i < k) needed[i].insert(k);
      }
    }
  }
  for (size_t j = 0; j < stored.size(); ++j) {
    needed[j].insert(stored[j].begin(), stored[j].end());  // a stored zero updates too
    if (needed[j] != stored[j]) return false;
    for (const uint32_t i : stored[j]) {
      for (const uint32_t k : stored[j]) {
        if (i < k) needed[i].insert(k);
      }
    }
  }
  return true;
}

template <class T>
T& At(std::span<const T> view, size_t index) {
  return const_cast<T&>(view[index]);
}

// The first supernode with at least this many columns and rows. If `padded`, it must also have
// padding rows.
size_t FindSupernode(const FactorView& factor, uint32_t num_columns, uint32_t num_rows,
                     bool padded = false) {
  for (size_t i = 0; i < factor.supernodes.size(); ++i) {
    const Supernode& s = factor.supernodes[i];
    if (s.num_columns >= num_columns && s.num_rows >= num_rows &&
        (!padded || s.num_rows < PaddedRows(s.num_rows))) {
      return i;
    }
  }
  FAIL("the fixture has no such supernode");
  return 0;
}

// A bar whose ends are regions.
std::vector<std::byte> LongBar() {
  return plush::test::AssetBytesOf(plush::test::TetBox(2, 6, 2, 0.1));
}

TEST_CASE("A written factor holds its own elimination") {
  const ExactBuffer file(plush::test::AssetBytesOf(plush::test::TetBox(3, 3, 2, 0.1)));
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  CHECK(EliminationStaysInside(asset.factor(), asset.simulation().tets));
}

TEST_CASE("A factor opens only if its structure holds the elimination", "[long]") {
  const uint32_t seed = 7;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto bytes = plush::test::AssetBytesOf(plush::test::TetBox(2, 3, 2, 0.1));
  int opened = 0, refused = 0, lacking = 0;
  for (int repeat = 0; repeat < 3000; ++repeat) {
    ExactBuffer file(bytes);
    Asset asset;
    REQUIRE(asset.Open(file.bytes()).ok());
    const FactorView& factor = asset.factor();
    const plush::SimulationView& sim = asset.simulation();
    const auto any_node = [&] { return static_cast<uint32_t>(random() % sim.nodes.size()); };
    // Change rows and tets at random. Most results are nonsense; some are still a factor.
    if (repeat % 3 != 1) {
      uint32_t& row = At(factor.rows, random() % factor.rows.size());
      row = random() % 2 == 0 ? row + 1 : any_node();
    }
    if (repeat % 3 != 0) {
      const size_t t = random() % sim.tets.size();
      At(sim.tets, t).a = any_node();
      const_cast<uint32_t&>(sim.BlockOf(t).nodes[0][sim.LaneOf(t)]) = sim.tets[t].a;
    }
    Asset changed;
    const Status status = changed.Open(file.bytes());
    opened += status.ok() ? 1 : 0;
    refused += status.ok() ? 0 : 1;
    if (status.ok()) {
      REQUIRE(EliminationStaysInside(changed.factor(), changed.simulation().tets));
    } else if (std::string(status.reason).find("lacks") != std::string::npos) {
      REQUIRE_FALSE(EliminationStaysInside(factor, sim.tets));
      ++lacking;
    }
  }
  CHECK(opened > 0);
  CHECK(refused > 0);
  CHECK(lacking > 0);
}

TEST_CASE("Broken supernodes are named") {
  Subject s(LongBar());
  const FactorView factor = s.asset().factor();
  const auto num_nodes = static_cast<uint32_t>(factor.supernode_of.size());
  const auto last = factor.supernodes.size() - 1;
  SECTION("numbers") {
    s.Break(factor.supernodes[1].num_columns, 0, CheckKind::kRange, "factor.supernodes", 1);
    s.Break(factor.supernodes[0].num_columns, 33, CheckKind::kRange, "factor.supernodes", 0);
    s.Break(factor.supernodes[1].first_column, UINT32_MAX, CheckKind::kIndex, "factor.supernodes",
            1);
    s.Break(factor.supernodes[0].num_rows, UINT32_MAX, CheckKind::kRange, "factor.supernodes", 0);
    s.Break(factor.supernodes[last].first_row, factor.supernodes[last].first_row - 8,
            CheckKind::kOrder, "factor.supernodes", last);
    s.Break(factor.supernodes[last].first_value, factor.supernodes[last].first_value + 8,
            CheckKind::kOrder, "factor.supernodes", last);
    s.Break(factor.supernode_of[2], factor.supernode_of[2] ^ 1, CheckKind::kOrder,
            "factor.supernode_of", 2);
  }
  SECTION("a row beyond the nodes") {
    const Supernode& node = factor.supernodes[FindSupernode(factor, 1, 2)];
    At(factor.rows, node.first_row + node.num_rows - 1) = num_nodes;
    s.ExpectOnly(CheckKind::kIndex, "factor.rows", node.first_row + node.num_rows - 1);
  }
  SECTION("a repeated row") {
    const Supernode& node = factor.supernodes[FindSupernode(factor, 1, 2)];
    At(factor.rows, node.first_row + 1) = factor.rows[node.first_row];
    s.ExpectOnly(CheckKind::kOrder, "factor.rows", node.first_row + 1);
  }
  SECTION("a row among the columns") {
    const Supernode& node = factor.supernodes[FindSupernode(factor, 1, 1)];
    At(factor.rows, node.first_row) = node.first_column;
    s.ExpectOnly(CheckKind::kOrder, "factor.rows", node.first_row);
  }
  SECTION("padding that is a node") {
    const Supernode& node = factor.supernodes[FindSupernode(factor, 1, 1, true)];
    At(factor.rows, node.first_row + node.num_rows) = num_nodes - 1;
    s.ExpectOnly(CheckKind::kIndex, "factor.rows", node.first_row + node.num_rows);
  }
  SECTION("columns on both sides of num_free") {
    const size_t i = FindSupernode(factor, 2, 0);
    auto* table =
        const_cast<plush::format::Factor*>(plush::format::GetAsset(s.bytes().data())->factor());
    REQUIRE(reinterpret_cast<flatbuffers::Table*>(table)->SetField<uint32_t>(
        plush::format::Factor::VT_NUM_FREE, factor.supernodes[i].first_column + 1, 0));
    const auto failures = Failures(s.bytes());
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].kind == CheckKind::kOrder);
    CHECK(failures[0].section == "factor.supernodes");
  }
  SECTION("more free nodes than nodes") {
    auto* table =
        const_cast<plush::format::Factor*>(plush::format::GetAsset(s.bytes().data())->factor());
    REQUIRE(reinterpret_cast<flatbuffers::Table*>(table)->SetField<uint32_t>(
        plush::format::Factor::VT_NUM_FREE, num_nodes + 1, 0));
    s.ExpectOnly(CheckKind::kIndex, "factor.num_free", 0);
  }
  SECTION("a diagonal entry that is not positive") {
    const Supernode& node = factor.supernodes[FindSupernode(factor, 2, 1)];
    const size_t place = node.first_value + BlockValues(node.num_rows, node.num_columns) +
                         BlockIndex(node.num_columns, node.num_columns, 1, 1);
    At(factor.values, place) = 0.0f;
    s.ExpectOnly(CheckKind::kRange, "factor.values", place);
  }
  SECTION("a missing row of L that is not zero") {
    const size_t i = FindSupernode(factor, 1, 1, true);
    const Supernode& node = factor.supernodes[i];
    At(factor.values, node.first_value + BlockIndex(node.num_rows, node.num_columns, node.num_rows,
                                                    node.num_columns - 1)) = 1.0e-30f;
    s.ExpectOnly(CheckKind::kRange, "factor.supernodes", i);
  }
  SECTION("a missing row of D^-1 that is not zero") {
    size_t i = 0;
    while (factor.supernodes[i].num_columns % 8 == 0) ++i;
    const Supernode& node = factor.supernodes[i];
    const size_t place = node.first_value + BlockValues(node.num_rows, node.num_columns) +
                         BlockIndex(node.num_columns, node.num_columns, node.num_columns, 0);
    At(factor.values, place) = -1.0f;
    s.ExpectOnly(CheckKind::kRange, "factor.supernodes", i);
  }
}

TEST_CASE("A supernode before one that updates it is refused") {
  auto content = plush::test::ContentOf(plush::test::SingleTet());
  auto& rest = content.rest;
  rest.num_free = 4;
  const bool is_turned = GENERATE(false, true);
  const Supernode lower = {0, 2, 0, 2, 0};  // columns 0 and 1 with the rows 2 and 3
  const Supernode upper = {2, 2, 0, 0, 0};
  rest.supernodes = {is_turned ? upper : lower, is_turned ? lower : upper};
  rest.supernodes[1].first_row = PaddedRows(rest.supernodes[0].num_rows);
  rest.supernodes[1].first_value = static_cast<uint32_t>(plush::PanelValues(rest.supernodes[0]));
  rest.supernode_of = {0, 0, 1, 1};
  if (is_turned) rest.supernode_of = {1, 1, 0, 0};
  rest.rows = {2, 3, 4, 4, 4, 4, 4, 4};
  rest.values.assign(plush::PanelValues(lower) + plush::PanelValues(upper), 0.0f);
  for (const Supernode& s : rest.supernodes) {
    const size_t start = s.first_value + BlockValues(s.num_rows, 2);
    for (uint32_t c = 0; c < 2; ++c) rest.values[start + BlockIndex(2, 2, c, c)] = 1.0f;
  }
  const auto bytes = plush::tools::WriteAsset(content);
  REQUIRE(bytes.ok() == !is_turned);
  if (is_turned) {
    INFO(bytes.error().message);
    CHECK(bytes.error().message.find("comes after one that has its rows") != std::string::npos);
  }
}

TEST_CASE("Supernodes that do not cover the columns, rows or values are refused") {
  Subject s(LongBar());
  const FactorView factor = s.asset().factor();
  // One supernode less.
  auto* length =
      const_cast<uint32_t*>(reinterpret_cast<const uint32_t*>(factor.supernodes.data()) - 1);
  --*length;
  const auto failures = Failures(s.bytes());
  REQUIRE(failures.size() >= 2);
  CHECK(failures[0].kind == CheckKind::kCounts);
  CHECK(failures[0].section == "factor.supernodes");
  CHECK(failures.back().section == "factor.values");
}

}  // namespace factor_checks_test
