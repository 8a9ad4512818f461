// SPDX-License-Identifier: MIT
// Which collision surface a body gets.
#pragma once

#include "mesh/surface_mesh.h"
#include "partition/partition.h"
#include "rest/rest_data.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <span>

namespace plush::tools {

/// The surface of a body whose cage holds it: `solid`, cut by the tets. `tet_of_point` says where
/// its points lie (num_points x 1). Adds what PartitionSurface adds.
Partition CutSolid(const SolidSurface& solid, std::span<const uint32_t> tet_of_point,
                   const RestData& rest, FindingList* findings);

/// The surface of a body of tets with a render mesh of its own: that mesh, cut, where the tets hold
/// it all; else the boundary of the tets, and CDG_OUTSIDE says so. `tet_ids` are the tets of the
/// mesh's vertices.
Partition CutEmbedded(const SurfaceMesh& surface, std::span<const uint32_t> tet_ids,
                      const RestData& rest, FindingList* findings);

/// The surface of a body whose tets end at it: their boundary.
Partition TakeBoundary(const SurfaceMesh& surface, const RestData& rest);

}  // namespace plush::tools
