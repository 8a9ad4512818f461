// SPDX-License-Identifier: MIT
// Exported .vtu files: well-formed XML, the grid, and data at tets and nodes.
#include "plush/format/tet_block.h"

#include "bake/asset_writer.h"
#include "export/cage_exports.h"
#include "shapes/tet_shapes.h"
#include "tools/export/exported_bar.h"

#include <catch2/catch.hpp>

#include <utility>

using namespace plush::tools;
using plush::tests::ExportedBar;
using plush::tests::Number;

namespace vtu_export_test {

// The words of the array with this name.
std::vector<std::string> Array(const std::string& text, const std::string& name) {
  const size_t at = text.find("Name=\"" + name + "\"");
  INFO(name);
  REQUIRE(at != std::string::npos);
  const size_t begin = text.find('>', at) + 1, end = text.find("</DataArray>", begin);
  REQUIRE(end != std::string::npos);
  std::vector<std::string> words;
  for (const auto& line : plush::tests::Lines(text.substr(begin, end - begin))) {
    words.insert(words.end(), line.begin(), line.end());
  }
  return words;
}

std::vector<float> Numbers(const std::string& text, const std::string& name) {
  std::vector<float> numbers;
  for (const std::string& word : Array(text, name)) numbers.push_back(Number(word));
  return numbers;
}

template <class T>
std::vector<float> Floats(std::span<const T> values) {
  return {values.begin(), values.end()};
}

// Whether elements nest and end, and every character is allowed in its place.
bool IsWellFormed(const std::string& text) {
  std::vector<std::string> open;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const size_t end = text.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end;
    if (tag.front() == '?') continue;
    if (tag.front() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    } else if (open.empty() || tag.substr(1) != open.back()) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

TEST_CASE("An exported .vtu holds the grid") {
  const ExportedBar bar;
  const std::string text = VtuTextOf(bar.cage()).value();
  const auto& s = bar.simulation();
  CHECK(IsWellFormed(text));
  CHECK_THAT(text, Catch::Contains("<Piece NumberOfPoints=\"30\" NumberOfCells=\"40\">"));
  const std::vector<float> points = Numbers(text, "Points");
  REQUIRE(points.size() == 90);
  for (size_t i = 0; i < 30; ++i) {
    CHECK(points[3 * i] == s.nodes[i].x);
    CHECK(points[3 * i + 2] == s.nodes[i].z);
  }
  const std::vector<std::string> corners = Array(text, "connectivity");
  const std::vector<std::string> offsets = Array(text, "offsets");
  REQUIRE(corners.size() == 160);
  REQUIRE(offsets.size() == 40);
  for (size_t i = 0; i < 40; ++i) {
    CHECK(corners[4 * i] == std::to_string(s.tets[i].a));
    CHECK(corners[4 * i + 3] == std::to_string(s.tets[i].d));
    CHECK(offsets[i] == std::to_string(4 * i + 4));
  }
  CHECK(Array(text, "types") == std::vector<std::string>(40, "10"));
}

TEST_CASE("An exported .vtu holds data of tets and nodes") {
  const ExportedBar bar;
  const std::string text = VtuTextOf(bar.cage()).value();
  CHECK(Numbers(text, "quality") == bar.cage().quality);
  CHECK(Numbers(text, "min_dihedral_deg") == bar.cage().min_dihedral_deg);
  std::vector<float> volumes;
  for (size_t t = 0; t < 40; ++t) volumes.push_back(bar.simulation().Volume(t));
  CHECK(Numbers(text, "volume") == volumes);
  CHECK(Numbers(text, "material") == Floats(bar.simulation().tet_materials));
  CHECK(Numbers(text, "mass") == Floats(bar.simulation().masses));
  for (const auto& [index, name] :
       {std::pair(0u, "region_high"), std::pair(1u, "region_low &amp; &lt;wide&gt;")}) {
    std::vector<std::string> expected(30, "0");
    for (const uint32_t node : bar.asset().region(index).nodes) expected[node] = "1";
    CHECK(Array(text, name) == expected);
  }
}

TEST_CASE("More regions than a .vtu should hold are a limit") {
  auto content = plush::test::ContentOf(plush::test::TetBox(30, 30, 4, 0.1));
  content.regions.clear();
  for (uint32_t i = 10000; i < 35000; ++i) content.regions.push_back({std::to_string(i), {}});
  const plush::test::ExactBuffer file(WriteAsset(content).value());
  plush::Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const auto text = VtuTextOf(MeasureCage(asset));
  REQUIRE_FALSE(text.ok());
  CHECK(text.error().exit_code == ExitCode::kLimit);
}

}  // namespace vtu_export_test
