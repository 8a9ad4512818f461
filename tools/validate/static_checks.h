// SPDX-License-Identifier: MIT
// Checks the meaning of a static mesh, alone and against its source.
#pragma once

#include "plush/asset.h"

#include "base/finding.h"
#include "import/import.h"

namespace plush::tools {

/// Adds FILE_STATIC_MESH for vertices that repeat another or belong to no triangle, triangles
/// without area, a box other than that of the vertices, and tree nodes other than the triangles'
/// bounds. Precondition: the file passes Asset::Open with Trust::kNothing.
void CheckStaticMeshMeaning(const Asset& asset, FindingList* findings);

/// Bakes the source again. Adds FILE_SOURCE for each section that differs. The asset may be
/// damaged.
void CompareStaticMesh(const Asset& asset, const ImportedModel& model, FindingList* findings);

}  // namespace plush::tools
