// SPDX-License-Identifier: MIT
#include "export/tetgen_export.h"

#include "plush/format/tet_block.h"

#include "import/tet_files.h"
#include "tools/export/exported_bar.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

using namespace plush::tools;
using plush::tests::ExportedBar;
using plush::tests::Lines;

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
