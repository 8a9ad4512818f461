// SPDX-License-Identifier: MIT
// The body that tests write in every format.
#pragma once

#include "plush/asset.h"
#include "plush/format/tet_block.h"

#include "export/cage_exports.h"
#include "shapes/shape_asset.h"

#include <sstream>
#include <string>
#include <vector>

namespace plush::tests {

/// A bar of 40 tets with two materials, "skin" (20 tets) and one of the given name, and with the
/// regions "high" and "low & <wide>".
class ExportedBar {
 public:
  explicit ExportedBar(const std::string& second_material = "shoe");
  const Asset& asset() const { return asset_; }
  const SimulationView& simulation() const { return asset_.simulation(); }
  const tools::CageTable& cage() const { return cage_; }

 private:
  test::ExactBuffer file_;
  Asset asset_;
  tools::CageTable cage_;
};

/// The words of a text by line, without blank lines.
std::vector<std::vector<std::string>> Lines(const std::string& text);

/// `word` as a number; the test fails if it is anything else.
float Number(const std::string& word);

}  // namespace plush::tests
