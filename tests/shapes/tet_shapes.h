// SPDX-License-Identifier: MIT
// Procedural tet meshes for tests.
#pragma once

#include "mesh/tet_mesh.h"

#include <cstdint>

namespace plush::test {

/// A box from the origin to (nx, ny, nz) * cell: five tets per cube, alternating parity. All nodes
/// move by up to `jitter` * cell in each direction, reproducibly from `seed`. If `jitter` is below
/// 0.1, every tet keeps a positive volume.
tools::TetMesh TetBox(uint32_t nx, uint32_t ny, uint32_t nz, double cell, double jitter = 0.0,
                      uint32_t seed = 1);

/// The unit corner tet: (0,0,0), (1,0,0), (0,1,0), (0,0,1), scaled by `size`.
tools::TetMesh SingleTet(double size = 1.0);

/// Adds `part`, moved by `shift` [m], to `mesh`. They share no node.
void AppendMesh(const tools::TetMesh& part, const tools::Vec3d& shift, tools::TetMesh* mesh);

/// Sum of the tets' volumes [m^3].
double Volume(const tools::TetMesh& mesh);

}  // namespace plush::test
