// SPDX-License-Identifier: MIT
// The factor's structure: what Open accepts, a numeric refactoring can fill without leaving it.
#include "plush/asset.h"

#include "plush_generated.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <random>
#include <set>
#include <string>

using plush::Asset;
using plush::FactorView;
using plush::Status;
using plush::test::ExactBuffer;

namespace {

// Whether the elimination of a matrix with the tets' pattern writes only stored entries: done on
// sets, column by column, as the definition says.
bool EliminationStaysInside(const FactorView& factor, std::span<const plush::Tet> tets) {
  const size_t n = factor.column_starts.size() - 1;
  std::vector<std::set<uint32_t>> stored(n);
  std::vector<std::set<uint32_t>> needed(n);
  for (size_t j = 0; j < n; ++j) {
    for (uint32_t k = factor.column_starts[j] + 1; k < factor.column_starts[j + 1]; ++k) {
      stored[j].insert(factor.rows[k]);
    }
  }
  for (const plush::Tet& t : tets) {
    for (const uint32_t i : {t.a, t.b, t.c, t.d}) {
      for (const uint32_t k : {t.a, t.b, t.c, t.d}) {
        if (i < k) needed[i].insert(k);
      }
    }
  }
  for (size_t j = 0; j < n; ++j) {
    needed[j].insert(stored[j].begin(), stored[j].end());  // a stored zero updates, too
    if (needed[j] != stored[j]) return false;
    for (const uint32_t i : stored[j]) {
      for (const uint32_t k : stored[j]) {
        if (i < k) needed[i].insert(k);
      }
    }
  }
  return true;
}

uint32_t& At(std::span<const uint32_t> view, size_t index) {
  return const_cast<uint32_t&>(view[index]);
}

}  // namespace

TEST_CASE("A written factor holds its own elimination") {
  const ExactBuffer file(plush::test::AssetBytesOf(plush::test::TetBox(3, 3, 2, 0.1)));
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  CHECK(EliminationStaysInside(asset.factor(), asset.simulation().tets));
}

TEST_CASE("A factor opens only if its structure holds the elimination") {
  const uint32_t seed = 7;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto bytes = plush::test::AssetBytesOf(plush::test::TetBox(2, 2, 2, 0.1));
  int opened = 0;
  int refused = 0;
  for (int repeat = 0; repeat < 3000; ++repeat) {
    ExactBuffer file(bytes);
    Asset asset;
    REQUIRE(asset.Open(file.bytes()).ok());
    const FactorView& factor = asset.factor();
    // Rows and tets are moved about; most results are nonsense, some are still a factor.
    uint32_t& row = At(factor.rows, random() % factor.rows.size());
    row = random() % 2 == 0 ? row + 1 : static_cast<uint32_t>(random() % 27);
    if (repeat % 3 == 0) {
      auto& tet = const_cast<plush::Tet&>(
          asset.simulation().tets[random() % asset.simulation().tets.size()]);
      tet.a = static_cast<uint32_t>(random() % 27);
    }
    Asset changed;
    const Status status = changed.Open(file.bytes());
    opened += status.ok() ? 1 : 0;
    refused += status.ok() ? 0 : 1;
    if (status.ok()) {
      REQUIRE(EliminationStaysInside(changed.factor(), changed.simulation().tets));
    } else if (std::string(status.reason).find("lacks") != std::string::npos) {
      REQUIRE_FALSE(EliminationStaysInside(factor, asset.simulation().tets));
    }
  }
  CHECK(opened > 0);
  CHECK(refused > 0);
}

TEST_CASE("Broken columns are named") {
  ExactBuffer file(plush::test::AssetBytesOf(plush::test::TetBox(2, 1, 1, 0.1)));
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const FactorView factor = asset.factor();
  const auto expect = [&](const char* section, uint64_t index, const char* reason) {
    Asset other;
    const Status status = other.Open(file.bytes());
    CHECK(status.code == plush::StatusCode::kCorrupt);
    CHECK(std::string(status.section) == section);
    CHECK(std::string(status.reason) == reason);
    CHECK(status.index == index);
  };
  SECTION("start of the first column") {
    At(factor.column_starts, 0) = 1;
    expect("factor.column_starts", 0, "the first column is not at 0");
  }
  SECTION("an empty column") {
    At(factor.column_starts, 2) = factor.column_starts[1];
    expect("factor.column_starts", 2, "the starts do not ascend");
  }
  SECTION("a start beyond the rows") {
    At(factor.column_starts, factor.column_starts.size() - 1) = UINT32_MAX;
    expect("factor.column_starts", factor.column_starts.size() - 1,
           "the columns do not cover the rows");
  }
  SECTION("no diagonal") {
    At(factor.rows, factor.column_starts[3]) = 4;
    expect("factor.rows", 3, "a column does not start with its diagonal");
  }
  SECTION("a row beyond the nodes") {
    At(factor.rows, factor.column_starts[1] - 1) = 12;
    expect("factor.rows", 0, "a row is not below the number of nodes");
  }
  SECTION("a repeated row") {
    At(factor.rows, 1) = 0;
    expect("factor.rows", 0, "the rows of a column do not ascend");
  }
}
