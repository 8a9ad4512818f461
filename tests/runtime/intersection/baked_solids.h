// SPDX-License-Identifier: MIT
// Bodies whose cages and surfaces are baked from closed meshes.
#pragma once

#include "mesh/surface_mesh.h"
#include "runtime/collision/surface_fixtures.h"

#include <cstdint>

namespace plush::test {

struct BakedSolid {
  SurfaceBody body;
  uint32_t split_tets;  ///< copies, for limbs that share a tet of the lattice
};

/// With about so many tets.
BakedSolid BakeSolid(const tools::SurfaceMesh& mesh, uint32_t tets);

/// The letter U, 1 wide, 1.3 high, 0.4 deep along z: limbs of `width` above a base [m].
tools::SurfaceMesh MakeU(double width);

}  // namespace plush::test
