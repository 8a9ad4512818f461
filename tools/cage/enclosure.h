// SPDX-License-Identifier: MIT
// Proof that a cage encloses a surface, tet by tet.
#pragma once

#include "base/vec3.h"
#include "cage/cage_boundary.h"
#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Triangles of the surface that are not strictly inside the cage, ascending. `tet_of_point` says
/// which tet each point lies in.
///
/// A triangle is inside where all tets that it meets, followed from the tets of its corners across
/// the faces that it crosses, keep it off their boundary faces, and the three corners are connected
/// that way. Tets that overlap in space do not confuse this: only those that the triangle enters by
/// way of a face count. At a branch, where one face leads to several strands, some strand has to
/// hold it. All decisions are exact.
std::vector<uint32_t> FindEscapes(const TetMesh& mesh, const CageFaces& faces,
                                  std::span<const Vec3d> points,
                                  std::span<const std::array<uint32_t, 3>> triangles,
                                  std::span<const uint32_t> tet_of_point);

}  // namespace plush::tools
