// SPDX-License-Identifier: MIT
// The one tet that holds a point of the surface, also where it lies on a face.
#pragma once

#include "base/vec3.h"
#include "cage/cage_boundary.h"
#include "mesh/tet_mesh.h"

#include <cstdint>

namespace plush::tools {

/// No tet holds the point.
inline constexpr uint32_t kNotHeld = UINT32_MAX;

/// The tet that holds `p`, moved by an infinitely small vector (perturbed_signs.h): `start` or,
/// where the point lies on its boundary (or outside), the one reached across the faces that it is
/// beyond. kNotHeld where such a face has no neighbour.
uint32_t FindHoldingTet(const TetMesh& mesh, const CageFaces& faces, uint32_t start,
                        const Vec3d& p);

}  // namespace plush::tools
