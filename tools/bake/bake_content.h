// SPDX-License-Identifier: MIT
// Parts of a baked file: the render mesh, the settings, the tets.
#pragma once

#include "bake/asset_writer.h"
#include "bake/bake.h"
#include "embed/embedding.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"
#include "rest/rest_data.h"

#include <string>

namespace plush::tools {

/// Copies the render surface, its tangents (UnitTangents) and its embedding into `content`.
void FillVisual(const SurfaceMesh& surface, Embedding embedding, AssetContent* content);

/// The settings that the bytes depend on, as JSON with sorted keys.
std::string SettingsJson(const ImportedModel& model, const BakeSettings& settings, Mesher mesher);

/// The tets of a file, with its node numbers.
TetMesh MeshOf(const RestData& rest);

}  // namespace plush::tools
