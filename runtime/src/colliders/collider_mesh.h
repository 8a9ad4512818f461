// SPDX-License-Identifier: MIT
// Triangles of a height field or a mesh as a collider, near one body.
//
// Contacts are made by the faces' planes: a point that crosses a triangle from its front is held
// by the triangle's plane, and one that starts behind the surface by the plane of the nearest
// triangle. Neighbours share their vertices bit for bit, and triangles overlap by a rounding, so
// no point slips through between them.
#pragma once

#include "plush/collider.h"
#include "plush/types.h"

#include "colliders/face_patches.h"
#include "colliders/mesh_box.h"
#include "collision/static_mesh.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace plush {

/// Most triangles of a collider: twice their indices, and one more, fit into 32 bits.
inline constexpr uint64_t kMostMeshTriangles = uint64_t{1} << 30;

/// The triangles of a collider in its own coordinates: a mesh's, or a height field's if `mesh` is
/// null.
///
/// Cell (column, row) of a height field has triangles 2 cell and 2 cell + 1, where cell = row
/// (columns - 1) + column. Its diagonal leads from its first corner to the opposite one.
struct TriangleSource {
  HeightFieldShape field = {.code = nullptr};
  const TriangleCode* code = nullptr;  ///< triangle_code.h
  const Asset* asset = nullptr;        ///< with the materials of `mesh`
  const StaticMeshView* mesh = nullptr;
  const FacePatches* patches = nullptr;  ///< of a `mesh` of many triangles, or null
  float scale = 1.0f;                    ///< of the mesh
  uint64_t hash = 0;                     ///< of all that it is, in the same order on every machine
  bool gives_coefficients = false;       ///< whether a material of `asset` gives some

  bool exists() const { return mesh != nullptr || !field.heights.empty(); }
  /// Whether triangles hold points from behind, too.
  bool has_two_sides() const { return mesh != nullptr && mesh->sides == MeshSides::kBoth; }
  uint32_t num_triangles() const;
  /// Writes the triangle's corners, without scale [m] (3 x 1), counter-clockwise seen from its
  /// front.
  void Corners(uint32_t triangle, Vec3* corners) const;
  /// The triangle across the side from corner k to k + 1, or kNoTriangle.
  uint32_t Neighbour(uint32_t triangle, int k) const;
};

/// A side of a triangle, in the coordinates of a ColliderMesh.
struct MeshFace {
  uint32_t index = 0;  ///< 2 triangle, or 2 triangle + 1: its back
  Vec3 corners[3];
  Vec3 normal;  ///< unit, out of this side; zero if the triangle has no area

  MeshFace Back() const {
    return {index ^ 1u, {corners[0], corners[2], corners[1]}, {-normal.x, -normal.y, -normal.z}};
  }
  /// Distance of a point from the plane [m].
  float Gap(const Vec3& point) const {
    return normal.x * (point.x - corners[0].x) + normal.y * (point.y - corners[0].y) +
           normal.z * (point.z - corners[0].z);
  }
};

/// A point of a mesh near another point.
struct NearestPoint {
  uint32_t face = kNoTriangle;
  float distance = 0.0f;  ///< [m]
  float gap = 0.0f;       ///< of the other point from the face's plane [m]
  Vec3 normal;            ///< of the face
};

/// Looks for the face nearest to a point, no farther away than `reach`. If several are equally
/// near, takes the one whose plane is farthest: its side is the surface's side. If `front` is not
/// null, only faces count that face it (dot(normal, front) > 0); otherwise, of a mesh with two
/// sides, those that face the point.
class NearestFace {
 public:
  NearestFace(const Vec3& point, float reach, const Vec3* front, bool has_two_sides)
      : point_(point), front_(front), has_two_sides_(has_two_sides) {
    nearest_.distance = reach;
  }

  void Visit(MeshFace face);
  /// Takes what is nearest so far.
  void StartFrom(const NearestPoint& nearest) { nearest_ = nearest; }
  const NearestPoint& nearest() const { return nearest_; }

 private:
  Vec3 point_;
  const Vec3* front_;
  bool has_two_sides_;
  NearestPoint nearest_;
};

/// A mesh in coordinates along its axes, with the origin near a body, in the body's unit of length:
/// there floats are as fine as the body's.
struct ColliderMesh {
  const TriangleSource* source = nullptr;
  double anchor[3] = {};  ///< the origin, in the mesh's coordinates [m]
  double unit = 1.0;      ///< converts the mesh's lengths to the body's

  /// The face with this index, below twice the number of triangles.
  MeshFace Face(uint32_t index) const;
  /// The corners (3 x 1) of a triangle's front, as its face has them.
  void Corners(uint32_t triangle, Vec3* corners) const;

  /// Calls visit(triangle) for those that may overlap the box, touching included, ascending, until
  /// it returns false. Those of a height field also if they are above it: what is below the
  /// surface is inside.
  template <class Visit>
  void ForTriangles(const Vec3& low, const Vec3& high, const Visit& visit) const;

  /// Whether any triangle may overlap the box.
  bool HasTriangles(const Vec3& low, const Vec3& high) const;

  /// Calls visit(patch, above) for patches near the box, in these coordinates, first those of the
  /// most triangles. Goes on to the parts of those for which it returns true. The source has
  /// patches.
  template <class Visit>
  void ForPatches(const MeshBox& box, const Visit& visit) const;

  /// Looks for the NearestFace in the mesh. Below a height field there is one at any distance: at
  /// least the triangle right above.
  NearestPoint FindNearest(const Vec3& point, float reach, const Vec3* front) const;

 private:
  struct Cells {
    uint32_t columns[2], rows[2];  // first, and one beyond the last
  };
  Cells CellsOf(const Vec3& low, const Vec3& high) const;
  MeshBox BoxOf(const Vec3& low, const Vec3& high) const;  // in the mesh's coordinates
  NearestPoint TriangleRightAbove(const Vec3& point) const;
};

/// Where a point on its way meets a mesh.
struct MeshHit {
  uint32_t face = kNoTriangle;
  float start_gap = 0.0f;  ///< of the way's start from the face's plane [m]
  float gap = 0.0f;        ///< of its end
};

/// Finds the first triangle that a point crosses on a straight way: from the front, or if the mesh
/// has two sides, from the side of `inside`, a point of the same body. Which side a touching point
/// is on matters for such meshes only.
class WayToMesh {
 public:
  /// Ends of ways that are less deep than `depth` do not count, and ways that start less deep than
  /// `slop` behind the side of `inside` start in front of it.
  WayToMesh(const Vec3& from, const Vec3& to, const Vec3* inside, float depth, float slop)
      : from_(from), to_(to), inside_(inside), depth_(depth), slop_(slop) {}

  void Visit(const MeshFace& front);
  const MeshHit& hit() const { return hit_; }

 private:
  Vec3 from_, to_;
  const Vec3* inside_;  // or null: the mesh has one side
  float depth_, slop_;
  float first_ = 2.0f;  // share of the way to the hit
  MeshHit hit_;
};

/// The point of a face nearest to another, and the square of their distance [m^2].
Vec3 NearestTo(const MeshFace& face, const Vec3& point);
float SquaredDistance(const MeshFace& face, const Vec3& point);

/// Whether a point's projection along the normal is in the face, its border included.
bool IsAbove(const MeshFace& face, const Vec3& point);

template <class Visit>
void ColliderMesh::ForTriangles(const Vec3& low, const Vec3& high, const Visit& visit) const {
  if (source->mesh != nullptr) {
    const MeshBox box = BoxOf(low, high);
    return ForTrianglesInBox(*source->mesh, box.low, box.high, visit);
  }
  const HeightFieldShape& field = source->field;
  const Cells cells = CellsOf(low, high);
  // Heights are rounded to the body's unit on the way to its coordinates.
  const double lowest = double(low.y) / unit + anchor[1];
  const double margin = 1.0e-6 * std::fabs(double(low.y) / unit);
  for (uint32_t row = cells.rows[0]; row < cells.rows[1]; ++row) {
    const float* heights = field.heights.data() + size_t{row} * field.columns;
    for (uint32_t column = cells.columns[0]; column < cells.columns[1]; ++column) {
      const float* at = heights + column;
      const float highest =
          std::max(std::max(at[0], at[1]), std::max(at[field.columns], at[field.columns + 1]));
      if (double(highest) < lowest - margin) continue;
      const uint32_t cell = row * (field.columns - 1) + column;
      if (!visit(2 * cell) || !visit(2 * cell + 1)) return;
    }
  }
}

template <class Visit>
void ColliderMesh::ForPatches(const MeshBox& box, const Visit& visit) const {
  const MeshBox in_mesh = BoxOf(box.low, box.high);
  ForNodesInBox(*source->mesh, in_mesh.low, in_mesh.high, [&](uint32_t above, uint32_t index) {
    if (above >= FacePatches::kLevels) return true;
    FacePatch patch = source->patches->Level(above)[index];
    const double middle[3] = {patch.middle.x, patch.middle.y, patch.middle.z};
    const auto place = [&](int axis) {
      return static_cast<float>((middle[axis] - anchor[axis]) * unit);
    };
    patch.middle = {place(0), place(1), place(2)};
    patch.half = patch.half * static_cast<float>(unit);
    patch.radius *= static_cast<float>(unit);
    patch.height *= static_cast<float>(unit);
    return visit(patch, above, index);
  });
}

}  // namespace plush
