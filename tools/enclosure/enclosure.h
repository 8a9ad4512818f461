// SPDX-License-Identifier: MIT
// Finds the triangles of a surface that escape from a cage, and the side of the cage's faces on
// which points lie. All decisions are exact.
#pragma once

#include "base/vec3.h"
#include "lattice/cage_boundary.h"
#include "mesh/exact_predicates.h"
#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// The planes of all faces of all tets of a mesh, stored to test many points. A rounded product
/// decides the side if its sign is certain; Orient3dSign decides the few other cases.
class TetSides {
 public:
  /// Keeps a reference to `mesh`. O(number of tets).
  explicit TetSides(const TetMesh& mesh);

  /// The side of the face opposite corner `corner` (0..3) of tet `tet` on which `point` lies: 1
  /// outside its plane, -1 on the tet's side, 0 in the plane.
  int SideOf(uint32_t tet, size_t corner, const Vec3d& point) const;
  /// Whether `point` lies in the closed tet; false if `tet` is not a tet of the mesh.
  bool Contains(uint32_t tet, const Vec3d& point) const;

 private:
  struct Plane {
    Vec3d corner;
    Vec3d normal;  // outwards, twice the face's area
    Vec3d error;   // bound of the error of a product with the normal, per distance along each axis
  };

  const TetMesh& mesh_;
  std::vector<std::array<Plane, 4>> planes_;
};

/// Decides whether triangles are strictly inside a cage, one at a time.
///
/// Each triangle is followed from the tets of its corners across the faces that it crosses. It is
/// strictly inside if
/// - each corner lies in its tet,
/// - it meets no boundary face of any tet that it reaches, and
/// - the tets of its three corners are connected by the faces that it crosses.
///
/// A tet counts only if the triangle enters it through a face, so tets that overlap in space do no
/// harm. At a branch, a face that leads to several strands, one of the strands must hold the
/// triangle. All decisions are exact. Thread-safe.
class EnclosureTest {
 public:
  /// Keeps references. O(number of tets).
  EnclosureTest(const TetMesh& mesh, const CageFaces& faces)
      : mesh_(mesh), faces_(faces), sides_(mesh) {}

  /// TetSides::Contains of the cage.
  bool Contains(uint32_t tet, const Vec3d& point) const { return sides_.Contains(tet, point); }
  /// Whether the triangle is strictly inside. `tets` contain its corners.
  bool Holds(const Triangle3& triangle, const std::array<uint32_t, 3>& tets) const;
  /// The same for a triangle that also meets no branch: whoever follows it has one way only.
  bool HoldsInOneStrand(const Triangle3& triangle, const std::array<uint32_t, 3>& tets) const;

 private:
  const TetMesh& mesh_;
  const CageFaces& faces_;
  TetSides sides_;
};

/// Triangles of the surface that are not strictly inside the cage (EnclosureTest), ascending.
/// `tet_of_point` is the tet in which each point lies.
std::vector<uint32_t> FindEscapes(const TetMesh& mesh, const CageFaces& faces,
                                  std::span<const Vec3d> points,
                                  std::span<const std::array<uint32_t, 3>> triangles,
                                  std::span<const uint32_t> tet_of_point);

}  // namespace plush::tools
