// SPDX-License-Identifier: MIT
// A baked cage with what every exported format says about it.
#pragma once

#include "plush/asset.h"

#include <string>
#include <vector>

namespace plush::tools {

/// Rows by tet and names; the cage itself stands in the asset.
struct CageTable {
  const Asset* asset = nullptr;             ///< open; outlives the table
  std::vector<float> quality;               ///< 6 sqrt(2) V / l_rms^3 (num_tets x 1)
  std::vector<float> min_dihedral_deg;      ///< (num_tets x 1)
  std::vector<std::string> material_names;  ///< printable, "unnamed" where empty, up to 100 bytes
                                            ///< (num_materials x 1)
};

/// Measures the tets of an open asset.
CageTable MeasureCage(const Asset& asset);

}  // namespace plush::tools
