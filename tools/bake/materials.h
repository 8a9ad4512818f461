// SPDX-License-Identifier: MIT
// The materials of a bake: their names and numbers, and which tet has which.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"
#include "rest/rest_data.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// The file cannot distinguish more materials.
inline constexpr size_t kMaxMaterials = size_t{UINT16_MAX} + 1;

/// A material of the source.
struct NamedMaterial {
  std::string name;  ///< as in the source, may be empty
  Material material;
};

/// Reads a material map:
///   {"materials": [{"name": "fur", "young": 1e5, "poisson": 0.4, "density": 1000,
///                   "friction": 0.6, "restitution": 0.1}, ...]}
/// Missing numbers come from `defaults`. The empty name means parts of the source without a
/// material. Errors: kUsage, with the key's place and MATERIAL_INVALID.
Result<std::vector<NamedMaterial>> ParseMaterialMap(std::string_view json,
                                                    const Material& defaults);

/// The materials of the parts of `surface`, without repeats, in the order of their first use. Each
/// has the numbers of `map`, or else `defaults`. Without parts: one material without a name. A name
/// of the map that no part has is the finding MATERIAL_UNMATCHED.
std::vector<NamedMaterial> MaterialsOf(const SurfaceMesh& surface,
                                       const std::vector<NamedMaterial>& map,
                                       const Material& defaults, FindingList* findings);

/// The index into `materials` of every tet of `cage` (num_tets x 1).
/// - A tet with triangles takes the material with the largest area in it. Of each triangle, a third
///   counts for the tet of each corner; `vertex_tets` is the tet of every vertex. Ties: lowest
///   index.
/// - Any other tet takes the material of the nearest tet with triangles, counted in faces passed.
///   Ties: lowest tet. If none can be reached: material 0.
/// `materials` holds the material of every part and at most kMaxMaterials. The sums run in the
/// order of the triangles: same input, same result. O((v + t) log).
std::vector<uint16_t> ChooseTetMaterials(const SurfaceMesh& surface,
                                         const std::vector<NamedMaterial>& materials,
                                         std::span<const uint32_t> vertex_tets,
                                         const TetMesh& cage);

}  // namespace plush::tools
