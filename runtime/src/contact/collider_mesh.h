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

#include "contact/rounded_box.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace plush {

/// The triangles of a collider in its own coordinates: a height field's.
///
/// Cell (column, row) has triangles 2 cell and 2 cell + 1, where cell = row (columns - 1) + column.
/// Its diagonal leads from its first corner to the opposite one.
struct TriangleSource {
  HeightFieldShape field;

  bool exists() const { return !field.heights.empty(); }
  uint32_t num_triangles() const { return 2 * (field.columns - 1) * (field.rows - 1); }
  /// Writes the triangle's corners [m] (3 x 1), counter-clockwise seen from its front.
  void Corners(uint32_t triangle, Vec3* corners) const;
};

/// A triangle in the coordinates of a ColliderMesh.
struct MeshTriangle {
  uint32_t index = 0;
  Vec3 corners[3];
  Vec3 normal;  ///< unit, to the front; zero if the triangle has no area

  /// Distance of a point from the triangle's plane [m].
  float Gap(const Vec3& point) const {
    return normal.x * (point.x - corners[0].x) + normal.y * (point.y - corners[0].y) +
           normal.z * (point.z - corners[0].z);
  }
};

/// A point of a mesh near another point.
struct NearestPoint {
  uint32_t triangle = kNoTriangle;
  float distance = 0.0f;  ///< [m]
  float gap = 0.0f;       ///< of the other point from the triangle's plane [m]
  Vec3 normal;            ///< of the triangle
};

/// A mesh in coordinates along its axes, with the origin near a body, in the body's unit of length:
/// there floats are as fine as the body's.
struct ColliderMesh {
  const TriangleSource* source = nullptr;
  double anchor[3] = {};  ///< the origin, in the mesh's coordinates [m]
  double unit = 1.0;      ///< converts the mesh's lengths to the body's

  /// The triangle with this index, below the number of triangles.
  MeshTriangle Triangle(uint32_t index) const;

  /// Calls visit(index) for the triangles that may overlap the box, touching included, ascending,
  /// until it returns false. Those of a height field also if they are above it: what is below the
  /// surface is inside.
  template <class Visit>
  void ForTriangles(const Vec3& low, const Vec3& high, const Visit& visit) const;

  /// Whether any triangle may overlap the box.
  bool HasTriangles(const Vec3& low, const Vec3& high) const;

  /// The point of the mesh nearest to `point`, no farther away than `reach`; below a height field,
  /// at any distance: at least that of the triangle right above. If several triangles
  /// are equally near, the one whose plane is farthest: its side is the surface's side. If `front`
  /// is not null, only triangles count that face it (dot(normal, front) > 0).
  NearestPoint FindNearest(const Vec3& point, float reach, const Vec3* front) const;

 private:
  struct Cells {
    uint32_t columns[2], rows[2];  // first, and one beyond the last
  };
  Cells CellsOf(const Vec3& low, const Vec3& high) const;
  NearestPoint TriangleRightAbove(const Vec3& point) const;
};

/// Where a point on its way meets a mesh.
struct MeshHit {
  uint32_t triangle = kNoTriangle;
  float start_gap = 0.0f;  ///< of the way's start from the triangle's plane [m]
  float gap = 0.0f;        ///< of its end
};

/// Looks for the place where a point that moves straight from one place to another meets triangles:
/// the first one that it crosses from the front.
class WayToMesh {
 public:
  WayToMesh(const Vec3& from, const Vec3& to, float depth) : from_(from), to_(to), depth_(depth) {}

  /// Ends of ways that are less deep than `depth` do not count.
  void Visit(const MeshTriangle& triangle);
  const MeshHit& hit() const { return hit_; }
  /// Whether the way starts behind a triangle's plane and ends deep below it: the point may be
  /// behind the surface.
  bool may_start_behind() const { return may_start_behind_; }

 private:
  Vec3 from_, to_;
  float depth_;
  float first_ = 2.0f;  // share of the way to the hit
  bool may_start_behind_ = false;
  MeshHit hit_;
};

/// The square of a point's distance from a triangle [m^2].
float SquaredDistance(const MeshTriangle& triangle, const Vec3& point);

/// Whether a point's projection along the normal is in the triangle, its border included.
bool IsAbove(const MeshTriangle& triangle, const Vec3& point);

template <class Visit>
void ColliderMesh::ForTriangles(const Vec3& low, const Vec3& high, const Visit& visit) const {
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

}  // namespace plush
