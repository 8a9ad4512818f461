// SPDX-License-Identifier: MIT
// The material of every tet of a cage.
#pragma once

#include "bake/material_map.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Most materials that the file can tell apart.
inline constexpr size_t kMaxMaterials = size_t{UINT16_MAX} + 1;

/// Index into `materials` for every tet of `cage`. A tet takes the material with the largest area
/// among the triangles that it carries (`vertex_tets`: the carrying tet of every vertex; a third of
/// a triangle's area counts for the tet of each corner), the one of lowest index at a tie. A tet
/// that carries none takes that of the nearest one that does, counted in faces passed, of lowest id
/// at a tie; the first material where there is no way to one. `materials` holds the material of
/// every part and at most kMaxMaterials. Sums run in the order of the triangles: same input, same
/// result. O((v + t) log).
std::vector<uint16_t> ChooseTetMaterials(const SurfaceMesh& surface,
                                         const std::vector<NamedMaterial>& materials,
                                         std::span<const uint32_t> vertex_tets,
                                         const TetMesh& cage);

}  // namespace plush::tools
