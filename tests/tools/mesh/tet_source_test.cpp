// SPDX-License-Identifier: MIT
#include "mesh/tet_source.h"

#include <catch2/catch.hpp>

#include <limits>

namespace tet_source_test {

using plush::tools::CleanTets;
using plush::tools::kNoNode;
using plush::tools::RawTets;
using plush::tools::TetSource;

const std::vector<plush::tools::Vec3d> kCorner = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

TEST_CASE("Tags follow their tets through the clean-up") {
  RawTets raw = {.positions = kCorner};
  raw.positions.push_back({1, 1, 1});
  raw.tets = {{0, 1, 2, kNoNode}, {0, 2, 1, 3}, {3, 1, 2, 0}, {1, 2, 3, 4}};
  raw.tags = {10, 11, 12, 13};
  const TetSource source = CleanTets(raw);
  CHECK(source.num_dropped == 2);
  CHECK(source.num_oriented == 1);
  CHECK(source.tags == std::vector<int32_t>{11, 13});
}

TEST_CASE("Loose nodes are left out and counted, middles of edges not counted") {
  RawTets raw;
  raw.positions = {{9, 9, 9}, kCorner[0], kCorner[1], kCorner[2], {0.5, 0.5, 0}, kCorner[3]};
  raw.tets = {{1, 2, 3, 5}};
  CHECK(CleanTets(raw).mesh.nodes == kCorner);
  CHECK(CleanTets(raw).num_unused == 2);
  raw.has_midpoints = true;
  CHECK(CleanTets(raw).num_unused == 0);
}

TEST_CASE("Coordinates that are not finite or too large for a volume drop their tet") {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e300}) {
    RawTets raw = {.positions = kCorner};
    for (plush::tools::Vec3d& p : raw.positions) p = p * 1e300;
    raw.positions[0].x = bad;
    raw.tets = {{0, 1, 2, 3}};
    const TetSource source = CleanTets(raw);
    CHECK(source.mesh.tets.size() + source.num_dropped == 1);
    CHECK(source.mesh.nodes.size() == 4 * source.mesh.tets.size());
  }
}

TEST_CASE("Tets that become flat when rounded to single precision are dropped") {
  RawTets raw = {.positions = kCorner};
  for (plush::tools::Vec3d& p : raw.positions) p.x += 4096.0;
  raw.positions.push_back({4096.0 + 1e-5, 0.0, 0.0});  // rounds to the first
  raw.tets = {{0, 4, 2, 3}, {0, 1, 2, 3}};
  raw.tags = {1, 2};
  TetSource source = CleanTets(raw);
  REQUIRE(source.mesh.tets.size() == 2);
  plush::tools::DropTetsFlatInFloat(&source);
  CHECK(source.mesh.tets.size() == 1);
  CHECK(source.mesh.nodes.size() == 4);
  CHECK(source.mesh.nodes[1].x == 4097.0);
  CHECK(source.tags == std::vector<int32_t>{2});
  CHECK(source.num_dropped == 1);
}

TEST_CASE("Each change to the tets has its finding") {
  TetSource source;
  plush::tools::FindingList none;
  AddTetFindings(source, &none);
  CHECK(none.all().empty());
  source.num_dropped = source.num_oriented = source.num_unused = 1;
  source.num_solid_cells = source.num_surface_cells = 1;
  plush::tools::FindingList findings;
  AddTetFindings(source, &findings);
  CHECK(findings.all().size() == 5);
  CHECK(findings.CountOf(plush::tools::Severity::kWarning) == 2);
}

}  // namespace tet_source_test
