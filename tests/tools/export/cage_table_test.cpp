// SPDX-License-Identifier: MIT
#include "export/cage_table.h"

#include "plush/format/tet_block.h"

#include "report/asset_info.h"
#include "tools/export/exported_bar.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

using plush::tests::ExportedBar;

TEST_CASE("The exported shapes of tets are those that plush info sums up") {
  const ExportedBar bar;
  const auto shapes = plush::tools::MeasureTets(bar.simulation());
  const auto& quality = bar.cage().quality;
  const auto& angles = bar.cage().min_dihedral_deg;
  REQUIRE(quality.size() == 40);
  REQUIRE(angles.size() == 40);
  CHECK(*std::min_element(quality.begin(), quality.end()) == Approx(shapes.min_quality));
  CHECK(std::accumulate(quality.begin(), quality.end(), 0.0) / 40 == Approx(shapes.mean_quality));
  CHECK(*std::min_element(angles.begin(), angles.end()) == Approx(shapes.min_dihedral_deg));
}

TEST_CASE("Material names are fit for a text file") {
  CHECK(ExportedBar().cage().material_names == std::vector<std::string>{"skin", "shoe"});
  CHECK(ExportedBar("").cage().material_names[1] == "unnamed");
  CHECK(ExportedBar("a\nb").cage().material_names[1] ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(ExportedBar(std::string(5000, 'x')).cage().material_names[1].size() == 100);
}
