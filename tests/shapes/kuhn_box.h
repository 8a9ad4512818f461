// SPDX-License-Identifier: MIT
// Boxes of cells that are cut into six tets each, all the same way [Civ, Beam3D and Cube666].
#pragma once

#include "mesh/tet_mesh.h"

#include <cstdint>

namespace plush::test {

/// nx x ny x nz cells of dx x dy x dz [m]; one corner is at the origin. Each cell has the six tets
/// around its diagonal. Nodes in the order z, y, x.
tools::TetMesh KuhnBox(uint32_t nx, uint32_t ny, uint32_t nz, double dx, double dy, double dz);

}  // namespace plush::test
