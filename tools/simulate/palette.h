// SPDX-License-Identifier: MIT
// Colours for materials. Assets hold only the names of materials.
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

/// Distinct materials with colours. A material whose name contains a colour word of the sample
/// models ("black", "Fur_Brown") gets that colour, any other the next of ten. The same names in the
/// same order give the same colours.
class Palette {
 public:
  /// Index of the material called `name`, which is added if it is new.
  uint32_t IndexOf(std::string_view name);

  const std::vector<NamedColour>& materials() const { return materials_; }

 private:
  std::vector<NamedColour> materials_;
  uint32_t num_unnamed_ = 0;
};

}  // namespace plush::tools
