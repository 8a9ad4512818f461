// SPDX-License-Identifier: MIT
// Sharp convex edges of a mesh that press on a body's triangles between the corners.
//
// What of a ridge is behind a triangle is deepest at an end: the ridge's own, a peak for example,
// or where the ridge leaves the triangle. The plane there, parallel to the triangle, holds the
// triangle's point above it. Edges that bend by less than 4 degrees are left to the body's
// vertices: smooth terrain has no ridge, and costs nothing.
#pragma once

#include "colliders/collider_mesh.h"
#include "colliders/easiest_plane.h"

#include <array>

namespace plush {

inline constexpr float kSharpEdge = 0.9976f;  ///< cosine of 4 degrees

/// A sharp convex edge, in the coordinates of its ColliderMesh.
struct Ridge {
  uint32_t face = kNoTriangle;  ///< the front of that of its two triangles with the lower index
  Vec3 ends[2];
  Vec3 into[2];  ///< unit, along the triangles, away from the edge
};

/// Whether a ridge on side `k` of a triangle's front would be that one's: the neighbour has a
/// higher index.
inline bool OwnsEdge(const ColliderMesh& mesh, uint32_t triangle, int k) {
  const uint32_t other = mesh.source->Neighbour(triangle, k);
  return other != kNoTriangle && other >= triangle;
}

/// Finds the ridge on side `k` of a triangle's front, from corner k to k + 1. Returns whether there
/// is one; if the neighbour has a lower index, the ridge is that one's.
bool FindRidge(const ColliderMesh& mesh, const MeshFace& front, int k, Ridge* ridge);

/// Whether the planes of the ridge's own triangles are less in the way than what `easiest` has.
bool HasEasierFace(const Ridge& ridge, EasiestPlane easiest);

/// A point of a triangle that a ridge presses on, and the plane that holds it there.
struct RidgePoint {
  float u = 0.0f, v = 0.0f;  ///< weights of the triangle's second and third corner
  float gap = 0.0f;          ///< of the point from the plane [m]
  Vec3 normal;               ///< unit, out of the mesh
  float offset = 0.0f;       ///< dot(normal, x) on the plane [m]
};

/// The points of a triangle (corners counter-clockwise seen from outside its body) that a ridge
/// presses on.
struct RidgePoints {
  /// Those with gaps below `most`.
  RidgePoints(const Ridge& ridge, const Vec3* corners, float most);

  std::array<RidgePoint, 2> at;
  uint32_t count = 0;
};

/// The point of a triangle on which a ridge of the mesh's face presses, of several the one nearest
/// to the weights `u` and `v`. Returns whether there is one with a gap below `most`.
bool FindRidgePoint(const ColliderMesh& mesh, uint32_t face, const Vec3* corners, float u, float v,
                    float most, RidgePoint* point);

}  // namespace plush
