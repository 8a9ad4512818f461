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

/// Distinct materials with distinct pleasant colours (distinct as long as there are at most ten).
/// The same names in the same order give the same colours.
class Palette {
 public:
  /// Index of the material called `name`, added where it is new.
  uint32_t IndexOf(std::string_view name);

  const std::vector<NamedColour>& materials() const { return materials_; }

 private:
  std::vector<NamedColour> materials_;
};

}  // namespace plush::tools
