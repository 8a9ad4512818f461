// SPDX-License-Identifier: MIT
// Which materials a bake knows: those of the source, with the numbers of the material map.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "mesh/surface_mesh.h"
#include "rest/rest_data.h"

#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// A material with the name that the source gives it.
struct NamedMaterial {
  std::string name;  ///< may be empty
  Material material;
};

/// Reads a material map:
///   {"materials": [{"name": "fur", "young": 1e5, "poisson": 0.4, "density": 1000}, ...]}
/// A number that is missing is that of `defaults`; the empty name stands for parts of the source
/// without a material. Errors: kUsage, with the key's place and MATERIAL_INVALID.
Result<std::vector<NamedMaterial>> ParseMaterialMap(std::string_view json,
                                                    const Material& defaults);

/// The materials of the parts of `surface`, each name once, in the order of the first use: as in
/// `map` where it has the name, else `defaults`. One without a name where there is no part. A name
/// of the map that no part has is the finding MATERIAL_UNMATCHED.
std::vector<NamedMaterial> MaterialsOf(const SurfaceMesh& surface,
                                       const std::vector<NamedMaterial>& map,
                                       const Material& defaults, FindingList* findings);

}  // namespace plush::tools
