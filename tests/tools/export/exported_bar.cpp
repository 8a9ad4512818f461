// SPDX-License-Identifier: MIT
#include "tools/export/exported_bar.h"

#include "bake/asset_writer.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <charconv>
#include <utility>

namespace plush::tests {
namespace {

std::vector<std::byte> BarBytes(const std::string& second_material) {
  tools::AssetContent content = test::TwoMaterialContentOf(test::TetBox(4, 2, 1, 0.1, 0.05));
  content.materials[1].name = second_material;
  content.regions[1].name = "low & <wide>";
  return tools::WriteAsset(content).value();
}

}  // namespace

ExportedBar::ExportedBar(const std::string& second_material) : file_(BarBytes(second_material)) {
  REQUIRE(asset_.Open(std::as_const(file_).bytes()).ok());
  cage_ = tools::MeasureCage(asset_);
}

std::vector<std::vector<std::string>> Lines(const std::string& text) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::vector<std::string> found;
    for (std::string word; words >> word;) found.push_back(word);
    if (!found.empty()) lines.push_back(found);
  }
  return lines;
}

float Number(const std::string& word) {
  float number = 0.0f;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), number);
  INFO(word);
  REQUIRE((parsed.ec == std::errc() && parsed.ptr == word.data() + word.size()));
  return number;
}

}  // namespace plush::tests
