// SPDX-License-Identifier: MIT
// Exported .obj and TetGen files against the asset and through the import.
#include "export/cage_exports.h"

#include "plush/format/tet_block.h"

#include "base/vec3.h"
#include "import/tet_files.h"
#include "report/asset_info.h"
#include "tools/export/exported_bar.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <numeric>

using namespace plush::tools;
using plush::tests::ExportedBar;
using plush::tests::Lines;
using plush::tests::Number;

TEST_CASE("The exported shapes of tets agree with the summary of plush info") {
  const ExportedBar bar;
  const auto shapes = MeasureTets(bar.simulation());
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

TEST_CASE("An exported .obj is the closed surface of the cage, facing outwards") {
  const ExportedBar bar;
  std::vector<Vec3d> points;
  std::map<std::pair<int, int>, int> edges;
  double volume = 0.0;
  for (const auto& line : Lines(CageObjTextOf(bar.cage()))) {
    if (line[0] == "v") points.push_back({Number(line[1]), Number(line[2]), Number(line[3])});
    if (line[0] != "f") continue;
    REQUIRE(line.size() == 4);
    const int ids[3] = {std::stoi(line[1]), std::stoi(line[2]), std::stoi(line[3])};
    for (int i = 0; i < 3; ++i) ++edges[{ids[i], ids[(i + 1) % 3]}];
    const auto at = [&](int i) { return points.at(static_cast<size_t>(ids[i] - 1)); };
    volume += Dot(at(0), Cross(at(1), at(2))) / 6.0;
  }
  CHECK(points.size() == 30);  // all nodes are on the surface
  CHECK(edges.size() == 3 * 2 * 2 * (4 * 2 + 4 * 1 + 2 * 1));
  for (const auto& [edge, uses] : edges) {
    CHECK(uses == 1);
    CHECK(edges.count({edge.second, edge.first}) == 1);
  }
  double expected = 0.0;
  for (size_t t = 0; t < 40; ++t) expected += bar.simulation().Volume(t);
  CHECK(volume == Approx(expected).epsilon(1e-5));
}

TEST_CASE("Exported .node and .ele files import as the same tets") {
  const ExportedBar bar;
  const TetGenText text = TetGenTextOf(bar.cage());
  const plush::tests::TemporaryFolder folder;
  plush::tests::WriteText(folder / "bar.node", text.node);
  plush::tests::WriteText(folder / "bar.ele", text.ele);
  const auto read = ReadTetFile(folder / "bar.ele");
  REQUIRE(read.ok());
  CHECK(read.value().num_dropped == 0);
  CHECK(read.value().num_oriented == 0);
  const auto& s = bar.simulation();
  REQUIRE(read.value().mesh.nodes.size() == s.nodes.size());
  for (size_t i = 0; i < s.nodes.size(); ++i) {
    const Vec3d& x = read.value().mesh.nodes[i];
    CHECK(static_cast<float>(x.x) == s.nodes[i].x);
    CHECK(static_cast<float>(x.y) == s.nodes[i].y);
    CHECK(static_cast<float>(x.z) == s.nodes[i].z);
  }
  REQUIRE(read.value().mesh.tets.size() == s.tets.size());
  for (size_t i = 0; i < s.tets.size(); ++i) {
    const plush::Tet& t = s.tets[i];
    CHECK(read.value().mesh.tets[i] == std::array<uint32_t, 4>{t.a, t.b, t.c, t.d});
  }
}

TEST_CASE("The attribute of an exported tet is its material") {
  const ExportedBar bar;
  const TetGenText text = TetGenTextOf(bar.cage());
  const auto nodes = Lines(text.node);
  const auto tets = Lines(text.ele);
  CHECK(nodes[0] == std::vector<std::string>{"30", "3", "0", "0"});
  CHECK(tets[0] == std::vector<std::string>{"40", "4", "1"});
  REQUIRE(tets.size() == 1 + 40 + 2);
  for (size_t i = 0; i < 40; ++i) {
    REQUIRE(tets[1 + i].size() == 6);
    CHECK(tets[1 + i][0] == std::to_string(i));
    CHECK(tets[1 + i][5] == (i < 20 ? "0" : "1"));
  }
  CHECK_THAT(text.ele, Catch::EndsWith("# attribute 1 is material shoe\n"));
}
