// SPDX-License-Identifier: MIT
// Parts of a baked file: the render mesh, the settings, the collision surface of an embedded mesh.
#pragma once

#include "bake/asset_writer.h"
#include "bake/bake.h"
#include "embed/embedding.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"
#include "partition/partition.h"
#include "rest/rest_data.h"

#include <cstdint>
#include <span>
#include <string>

namespace plush::tools {

/// Copies the render surface, its tangents (UnitTangents) and its embedding into `content`.
void FillVisual(const SurfaceMesh& surface, Embedding embedding, AssetContent* content);

/// The settings that the bytes depend on, as JSON with sorted keys.
std::string SettingsJson(const ImportedModel& model, const BakeSettings& settings, Mesher mesher);

/// The tets of a file, with its node numbers.
TetMesh MeshOf(const RestData& rest);

/// The collision surface of tets with a separate render mesh: that mesh, cut by the tets, if they
/// hold all of it. Otherwise adds CDG_OUTSIDE and takes the boundary of the tets. `tet_ids` are the
/// tets of the mesh's vertices (num_vertices x 1).
Partition CutEmbedded(const SurfaceMesh& surface, std::span<const uint32_t> tet_ids,
                      const TetMesh& tets, FindingList* findings);

}  // namespace plush::tools
