// SPDX-License-Identifier: MIT
// Tangents of a render surface, for normal maps.
#pragma once

#include "plush/types.h"

#include "mesh/surface_mesh.h"

#include <vector>

namespace plush::tools {

/// The tangent of each vertex (num_vertices x 1); empty if the surface has no UVs. Reads positions,
/// normals, uvs, v_downwards and triangles. Deterministic. O(num_vertices + num_triangles).
/// - x, y, z: unit vector perpendicular to the normal, towards growing u. The mean over the
///   vertex's triangles, weighted by area; a triangle without area in UV space does not count. If
///   nothing remains: any unit vector perpendicular to the normal.
/// - w: 1 or -1, so that w cross(normal, tangent) points up in the image, as in glTF: towards
///   growing v, or falling v if it counts downwards. 1 if the UVs do not tell.
std::vector<Vec4> UnitTangents(const SurfaceMesh& surface);

}  // namespace plush::tools
