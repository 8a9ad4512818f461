// SPDX-License-Identifier: MIT
// The first triangle of a static mesh on a line, and the one nearest a point. All in the
// coordinates of the mesh.
#pragma once

#include "plush/format/static_mesh.h"

#include <cstdint>

namespace plush {

/// Where a line meets a static mesh.
struct StaticHit {
  uint32_t triangle = kNoTriangle;
  double parameter = 0.0;  ///< in [0, 1]: 0 at the line's start, 1 at its end
  Vec3 barycentrics;       ///< of the point in the triangle, >= 0, sum 1
  bool front = false;      ///< whether the line comes from the triangle's front

  bool valid() const { return triangle != kNoTriangle; }
};

/// The first triangle on the line from `from` to `to` [m]. With `sides` kBoth triangles are hit
/// from either side, else from the front only. A line passes no gap between neighbours; triangles
/// seen edge-on are not hit. Of equally near ones, any that does not depend on the machine. Does
/// not allocate. Based on: Sven Woop, Carsten Benthin, Ingo Wald. Watertight Ray/Triangle
/// Intersection. 2013, in double.
StaticHit RaycastStaticMesh(const StaticMeshView& mesh, const Vec3& from, const Vec3& to,
                            MeshSides sides);

/// The part of a triangle that a point lies in.
enum class StaticFeature : uint8_t { kFace, kEdge, kVertex };

/// The point of a static mesh that is nearest to another.
struct StaticNearest {
  uint32_t triangle = kNoTriangle;
  StaticFeature feature = StaticFeature::kFace;
  uint8_t corner = 0;  ///< the vertex, or the one at which the edge begins
  Vec3 point;          ///< [m]
  Vec3 barycentrics;   ///< of the point in the triangle, >= 0, sum 1
  Vec3 normal;         ///< unit pseudo-normal of the feature; zero if the triangles there have no
                       ///< area in floats
  float distance = 0.0f;  ///< [m]
  bool behind = false;    ///< whether the queried point is on the side that `normal` points away
                          ///< from: inside, if the mesh is closed

  bool valid() const { return triangle != kNoTriangle; }
};

/// The nearest point within `max_distance` >= 0 [m], or none. Does not allocate. The side follows
/// from the pseudo-normal: of an edge the sum of its two unit normals, of a vertex that of the unit
/// normals times the angles there, in the fan of triangles around the vertex. Based on: Jakob
/// Andreas Baerentzen, Henrik Aanaes. Signed Distance Computation Using the Angle Weighted
/// Pseudonormal. 2005.
StaticNearest NearestOfStaticMesh(const StaticMeshView& mesh, const Vec3& point,
                                  float max_distance);

}  // namespace plush
