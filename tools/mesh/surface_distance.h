// SPDX-License-Identifier: MIT
// How far triangles are from a surface, by bounds that hold for all their points.
#pragma once

#include "base/vec3.h"
#include "mesh/exact_predicates.h"
#include "mesh/triangle_bvh.h"

#include <array>
#include <cstdint>
#include <span>

namespace plush::tools {

/// Bounds that do not settle a question quarter the triangle, down to this share of the limit.
inline constexpr double kDistanceShare = 1.0 / 16.0;

/// Answers for one surface. All answers hold up to the rounding of doubles. Immutable, thread-safe.
class SurfaceDistance {
 public:
  /// Keeps the spans. At least one triangle. O(n log n).
  SurfaceDistance(std::span<const Vec3d> points,
                  std::span<const std::array<uint32_t, 3>> triangles);

  /// Whether every point of `triangle` has a point of the surface within `limit` [m]. May be false
  /// for a triangle whose farthest point has less than kDistanceShare of the limit left.
  bool IsWithin(const Triangle3& triangle, double limit) const;

  /// Upper bound of the distance of all points of the triangles from the surface [m], at most
  /// `excess` [m] above the largest one. Takes the longer the less excess is allowed: in proportion
  /// to the length of the surface's edges along the triangles over the excess.
  double Farthest(std::span<const Vec3d> points, std::span<const std::array<uint32_t, 3>> triangles,
                  double excess) const;

  /// Distance of `p` from the surface [m]. `*hint` is a triangle that may be near, 0 at first; sets
  /// it to the nearest one.
  double DistanceOf(const Vec3d& p, uint32_t* hint) const;

  /// The triangle nearest to `p`; the lowest of equally near ones. It is the faster the nearer
  /// triangle `hint` is.
  uint32_t Nearest(const Vec3d& p, uint32_t hint = 0) const;

 private:
  Triangle3 CornersOf(uint32_t t) const;
  double Search(const Vec3d& p, double enough, uint32_t* hint) const;
  bool IsWithin(const Triangle3& triangle, double limit, uint32_t* hint) const;
  void RaiseBound(const Triangle3& triangle, double excess, double* lower, double* upper,
                  uint32_t* hint) const;

  std::span<const Vec3d> points_;
  std::span<const std::array<uint32_t, 3>> triangles_;
  TriangleBvh bvh_;
};

/// Distance of `p` from the closed triangle [m].
double DistanceFrom(const Triangle3& triangle, const Vec3d& p);

/// The four triangles between the corners and the middles of the edges.
std::array<Triangle3, 4> Quartered(const Triangle3& triangle);

/// Mean of the corners, and the largest distance of a corner from it [m]: a ball around all points.
struct TriangleBall {
  Vec3d centre;
  double radius = 0.0;
};
TriangleBall BallOf(const Triangle3& triangle);

}  // namespace plush::tools
