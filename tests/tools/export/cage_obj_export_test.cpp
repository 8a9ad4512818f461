// SPDX-License-Identifier: MIT
#include "export/cage_obj_export.h"

#include "plush/format/tet_block.h"

#include "base/vec3.h"
#include "tools/export/exported_bar.h"

#include <catch2/catch.hpp>

#include <map>

using namespace plush::tools;
using plush::tests::ExportedBar;
using plush::tests::Number;

TEST_CASE("An exported .obj is the closed surface of the cage, facing outwards") {
  const ExportedBar bar;
  std::vector<Vec3d> points;
  std::map<std::pair<int, int>, int> edges;
  double volume = 0.0;
  for (const auto& line : plush::tests::Lines(CageObjTextOf(bar.cage()))) {
    if (line[0] == "v") points.push_back({Number(line[1]), Number(line[2]), Number(line[3])});
    if (line[0] != "f") continue;
    REQUIRE(line.size() == 4);
    const int ids[3] = {std::stoi(line[1]), std::stoi(line[2]), std::stoi(line[3])};
    for (int i = 0; i < 3; ++i) ++edges[{ids[i], ids[(i + 1) % 3]}];
    const auto at = [&](int i) { return points.at(static_cast<size_t>(ids[i] - 1)); };
    volume += Dot(at(0), Cross(at(1), at(2))) / 6.0;
  }
  CHECK(points.size() == 30);  // no node of the bar is inside
  CHECK(edges.size() == 3 * 2 * 2 * (4 * 2 + 4 * 1 + 2 * 1));
  for (const auto& [edge, uses] : edges) {
    CHECK(uses == 1);
    CHECK(edges.count({edge.second, edge.first}) == 1);
  }
  double expected = 0.0;
  for (size_t t = 0; t < 40; ++t) expected += bar.simulation().Volume(t);
  CHECK(volume == Approx(expected).epsilon(1e-5));
}
