// SPDX-License-Identifier: MIT

#include "export/cage_exports.h"
#include "tools/export/exported_bar.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace plush::tools;
using plush::tests::ExportedBar;
using plush::tests::Lines;
using plush::tests::Number;

namespace gmsh_export_test {

using Rows = std::vector<std::vector<std::string>>;

// The lines between "$NAME" and "$EndNAME" of the section with this name and index.
Rows Section(const std::string& text, const std::string& name, int which = 0) {
  const Rows lines = Lines(text);
  auto begin = lines.begin();
  for (int skipped = 0; skipped <= which; ++skipped) {
    begin = std::find(begin, lines.end(), std::vector<std::string>{"$" + name});
    REQUIRE(begin != lines.end());
    ++begin;
  }
  const auto end = std::find(begin, lines.end(), std::vector<std::string>{"$End" + name});
  REQUIRE(end != lines.end());
  return {begin, end};
}

TEST_CASE("An exported .msh holds nodes, tets and a physical volume per material") {
  const ExportedBar bar;
  const std::string text = GmshTextOf(bar.cage());
  CHECK_THAT(text, Catch::StartsWith("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"));
  CHECK(Section(text, "PhysicalNames") ==
        Rows{{"2"}, {"3", "1", "\"skin\""}, {"3", "2", "\"shoe\""}});
  const Rows nodes = Section(text, "Nodes");
  REQUIRE(nodes.size() == 31);
  CHECK(nodes[0][0] == "30");
  for (size_t i = 0; i < 30; ++i) {
    CHECK(nodes[1 + i][0] == std::to_string(i + 1));
    CHECK(Number(nodes[1 + i][2]) == bar.simulation().nodes[i].y);
  }
  const Rows tets = Section(text, "Elements");
  REQUIRE(tets.size() == 41);
  for (size_t i = 0; i < 40; ++i) {
    const plush::Tet& t = bar.simulation().tets[i];
    const std::string group = i < 20 ? "1" : "2";
    CHECK(tets[1 + i] == std::vector<std::string>{std::to_string(i + 1), "4", "2", group, group,
                                                  std::to_string(t.a + 1), std::to_string(t.b + 1),
                                                  std::to_string(t.c + 1),
                                                  std::to_string(t.d + 1)});
  }
}

TEST_CASE("An exported .msh holds quality and smallest angle as data of its elements") {
  const ExportedBar bar;
  const std::string text = GmshTextOf(bar.cage());
  const char* names[] = {"\"quality\"", "\"min_dihedral_deg\""};
  for (const int which : {0, 1}) {
    const Rows data = Section(text, "ElementData", which);
    const Rows head(data.begin(), data.begin() + 8);
    CHECK(head == Rows{{"1"}, {names[which]}, {"1"}, {"0"}, {"3"}, {"0"}, {"1"}, {"40"}});
    REQUIRE(data.size() == 48);
    const auto& expected = which == 0 ? bar.cage().quality : bar.cage().min_dihedral_deg;
    for (size_t i = 0; i < 40; ++i) {
      CHECK(data[8 + i][0] == std::to_string(i + 1));
      CHECK(Number(data[8 + i][1]) == expected[i]);
    }
  }
}

TEST_CASE("A quotation mark in a material's name does not end the name") {
  const Rows names = Section(GmshTextOf(ExportedBar("a\"b").cage()), "PhysicalNames");
  CHECK(names[2] == std::vector<std::string>{"3", "2", "\"a'b\""});
}

}  // namespace gmsh_export_test
