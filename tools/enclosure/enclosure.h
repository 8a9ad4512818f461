// SPDX-License-Identifier: MIT
// Proof that a cage encloses a surface, tet by tet.
//
// On which side of a cage's faces points lie: exact, and quick where many points are asked about.
#pragma once

#include "base/vec3.h"
#include "lattice/cage_boundary.h"
#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// The planes of all faces of all tets of a mesh. The sign of a product that is certain in spite of
/// rounding is the answer; the few others come from Orient3dSign.
class TetSides {
 public:
  /// Keeps a reference to `mesh`. O(number of tets).
  explicit TetSides(const TetMesh& mesh);

  /// 1 where `point` lies outside the face opposite corner `corner` (0..3) of tet `tet`, -1 on the
  /// tet's side of its plane, 0 in the plane.
  int SideOf(uint32_t tet, size_t corner, const Vec3d& point) const;
  /// Whether `point` lies in the closed tet; false for tets that are none of the mesh's.
  bool Contains(uint32_t tet, const Vec3d& point) const;

 private:
  struct Plane {
    Vec3d corner;
    Vec3d normal;  // outwards, twice the face's area
    Vec3d error;   // of what a product with the normal has in error per distance along each axis
  };

  const TetMesh& mesh_;
  std::vector<std::array<Plane, 4>> planes_;
};

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
