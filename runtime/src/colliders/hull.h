// SPDX-License-Identifier: MIT
// The convex hull of points as a solid.
#pragma once

#include "plush/collider.h"
#include "plush/status.h"

#include "base/array.h"
#include "colliders/convex_distance.h"
#include "colliders/easiest_plane.h"

#include <cstdint>
#include <span>

namespace plush {

/// A triangle of a hull's surface, counter-clockwise seen from outside.
struct HullTriangle {
  uint16_t corners[3] = {};
  uint16_t neighbours[3] = {};  ///< number k across the edge from corner k to corner k + 1
  uint16_t plane = 0;           ///< its own; triangles of one face share it
};

/// A hull about its centre, the middle of its bounding box. Its points are rounded to a millionth
/// of its size. None of them lies above a plane.
struct Hull {
  const HullCode* code = nullptr;
  double centre[3] = {};   ///< in the collider's coordinates [m]
  Vec3 reach;              ///< half of its bounding box [m]
  float thickness = 0.0f;  ///< half of the least width along the normal of a face [m]
  Array<Vec3> given;       ///< HullShape::points (num_points x 1)
  Array<Vec3> points;      ///< the same about the centre, on a grid [m] (num_points x 1)
  Array<HullTriangle> triangles;
  uint32_t num_planes = 0;
  /// Unit normals by axis, then offsets: dot(normal, x) on the plane [m] (4 x kPlanesAtOnce
  /// num_blocks). The last block repeats the first plane.
  Array<float> planes;
  Array<uint16_t> largest_triangles;  ///< the largest one of each plane (num_planes x 1)

  static constexpr uint32_t kPlanesAtOnce = 8;

  uint32_t stride() const { return static_cast<uint32_t>(planes.size() / 4); }
  Vec3 Normal(uint32_t plane) const {
    return {planes[plane], planes[stride() + plane], planes[2 * stride() + plane]};
  }
  float Offset(uint32_t plane) const { return planes[3 * stride() + plane]; }
};

/// What the runtime calls of hulls. HullShape refers to it, so that a program that makes none does
/// not link it. All points are about the hull's centre, in metres.
struct HullCode {
  /// Makes the hull of a shape. Errors: kInvalidArgument (see HullShape), kOutOfMemory.
  Status (*make)(const Allocator& allocator, std::span<const Vec3> points, Hull** out_hull);
  // See rounded_box.h. Outside, distances are those of the nearest corner, edge or face.
  Tangent (*tangent_at)(const Hull& hull, const Vec3& point);
  bool (*find_entry)(const Hull& hull, const Vec3& from, const Vec3& to, Tangent* hit);
  SolidFace (*find_easier_face)(const Hull& hull, EasiestPlane easiest);
  TrianglePoint (*find_deepest)(const Hull& hull, const Vec3* corners, float limit);
  Tangent (*plane_between)(const Hull& hull, const Vec3* corners, const TrianglePoint& deepest);
};

/// See HullCode::make.
Status MakeHull(const Allocator& allocator, std::span<const Vec3> points, Hull** out_hull);

}  // namespace plush
