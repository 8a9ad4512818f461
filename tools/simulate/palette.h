// SPDX-License-Identifier: MIT
// Colours for materials of which the asset knows only the name.
#pragma once

#include "plush/types.h"

#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// A material by name and its base colour, linear RGB.
struct NamedColour {
  std::string name;
  Vec3 linear_rgb;
};

/// Distinct materials with pleasant colours: the one that a word of the name names in English
/// ("black", "Fur_Brown"), or else the next of ten different ones. The same names in the same order
/// give the same colours.
class Palette {
 public:
  /// Index of the material called `name`, added where it is new.
  uint32_t IndexOf(std::string_view name);

  const std::vector<NamedColour>& materials() const { return materials_; }

 private:
  Vec3 NextUnnamed();

  std::vector<NamedColour> materials_;
  uint32_t num_unnamed_ = 0;
};

}  // namespace plush::tools
