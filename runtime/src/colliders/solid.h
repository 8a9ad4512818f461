// SPDX-License-Identifier: MIT
// A convex solid of any shape. Boxes, spheres and capsules are called directly, hulls through their
// HullCode: that costs little beside the work on a hull.
#pragma once

#include "colliders/hull.h"
#include "colliders/rounded_box.h"

#include <algorithm>
#include <cmath>

namespace plush {

/// A rounded box or a hull, in any units of length.
struct Solid {
  RoundedBox box;              ///< unless it is a hull
  const Hull* hull = nullptr;  ///< or null
  float unit = 1.0f;           ///< a metre of the hull

  /// The same in other units: a metre is `factor` as long.
  Solid Times(float factor) const {
    return {{box.half_extents * factor, box.radius * factor}, hull, unit * factor};
  }
  /// Half of its bounding box.
  Vec3 Reach() const { return hull != nullptr ? hull->reach * unit : box.Reach(); }
  /// A point that moves farther than this may pass through.
  float Thinness() const {
    const Vec3 reach = box.Reach();
    return hull != nullptr ? hull->thickness * unit : std::min({reach.x, reach.y, reach.z});
  }
  /// Whether its surface is round, so that a triangle has one point to press on.
  bool is_round() const { return box.radius > 0.0f; }
};

/// How far the solid reaches against a unit normal: the least dot(normal, x) of its points, below
/// 0.
inline float FarSideOf(const Solid& solid, const Vec3& normal) {
  const Vec3& half = solid.box.half_extents;
  float far = -std::fabs(normal.x) * half.x - std::fabs(normal.y) * half.y -
              std::fabs(normal.z) * half.z - solid.box.radius;
  if (solid.hull == nullptr) return far;
  for (const Vec3& point : solid.hull->points) far = std::min(far, Dot(normal, point));
  return far * solid.unit;
}

inline Tangent ScaledBy(float unit, Tangent tangent) {
  tangent.gap *= unit;
  return tangent;
}

inline TrianglePoint ScaledBy(float unit, TrianglePoint point) {
  point.gap *= unit;
  return point;
}

/// A triangle in a hull's metres.
struct HullCorners {
  HullCorners(const Solid& solid, const Vec3* corners) {
    for (int k = 0; k < 3; ++k) at[k] = corners[k] * (1.0f / solid.unit);
  }
  Vec3 at[3];
};

/// The calls of rounded_box.h.
inline Tangent TangentAt(const Solid& solid, const Vec3& point) {
  if (solid.hull == nullptr) return TangentAt(solid.box, point);
  const Vec3 in_metres = point * (1.0f / solid.unit);
  return ScaledBy(solid.unit, solid.hull->code->tangent_at(*solid.hull, in_metres));
}

inline bool FindEntry(const Solid& solid, const Vec3& from, const Vec3& to, Tangent* hit) {
  if (solid.hull == nullptr) return FindEntry(solid.box, from, to, hit);
  const float metres = 1.0f / solid.unit;
  const bool enters = solid.hull->code->find_entry(*solid.hull, from * metres, to * metres, hit);
  hit->gap *= solid.unit;
  return enters;
}

inline SolidFace FindEasierFace(const Solid& solid, const EasiestPlane& easiest) {
  // What is in front of a face of a thin solid is not in front of the opposite one.
  const float thinness = solid.Thinness();
  if (solid.hull == nullptr) return FindEasierFace(solid.box, easiest.Times(1.0f, thinness));
  const HullCode& code = *solid.hull->code;
  SolidFace face = code.find_easier_face(*solid.hull, easiest.Times(1.0f / solid.unit, thinness));
  face.offset *= solid.unit;
  return face;
}

inline TrianglePoint FindDeepest(const Solid& solid, const Vec3* corners,
                                 float limit = std::numeric_limits<float>::infinity()) {
  if (solid.hull == nullptr) return FindDeepest(solid.box, corners, limit);
  const HullCorners in_metres(solid, corners);
  const HullCode& code = *solid.hull->code;
  return ScaledBy(solid.unit, code.find_deepest(*solid.hull, in_metres.at, limit / solid.unit));
}

inline TrianglePoint FollowDeepest(const Solid& solid, const Vec3* corners,
                                   const TrianglePoint& last) {
  return solid.hull == nullptr ? FollowDeepest(solid.box, corners, last)
                               : FindDeepest(solid, corners);
}

inline Tangent PlaneBetween(const Solid& solid, const Vec3* corners, const TrianglePoint& deepest) {
  if (solid.hull == nullptr) return PlaneBetween(solid.box, corners, deepest);
  const HullCorners in_metres(solid, corners);
  return ScaledBy(solid.unit, solid.hull->code->plane_between(*solid.hull, in_metres.at, deepest));
}

}  // namespace plush
