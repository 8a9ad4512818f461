// SPDX-License-Identifier: MIT
// A plane that all triangles of a fine mesh in a box are below, by its patches.
#pragma once

#include "colliders/collider_mesh.h"
#include "colliders/face_bounds.h"

namespace plush {

/// The plane along the mean of the normals of a mesh's triangles near a box that all their parts in
/// the box are below. None if one of them does not go up along it by the cosine `least`. The mesh
/// has patches.
PlaneAbove FindPlaneAbove(const ColliderMesh& mesh, const MeshBox& box, float least);

}  // namespace plush
