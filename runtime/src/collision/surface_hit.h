// SPDX-License-Identifier: MIT
// Converts a query's hit into the caller's SurfacePoint, and collects the nearest of many.
#pragma once

#include "plush/collision.h"

#include "collision/collision_state.h"

#include <cstdint>
#include <span>

namespace plush {

/// A place that a query found.
struct SurfaceHit {
  uint32_t triangle = kNoTriangle;
  uint32_t patch = 0;
  uint32_t tet = 0;       ///< CdgTet
  double distance = 0.0;  ///< along the ray, or from the point asked about [m]
  double part[3] = {};    ///< barycentric coordinates in the triangle
};

/// Callback of the searches; `nearest` is a SurfaceHit. Keeps the nearest hit; of equally near
/// ones, that with the lowest triangle index. Returns its distance [m].
double KeepNearest(void* nearest, const SurfaceHit& hit);

/// The hit with all fields of SurfacePoint. `towards` (any length) points back to the query's
/// origin: against the ray, or from the hit to the query's point. World position of a point x of
/// the body: origin + scale x [m].
SurfacePoint DescribeHit(const CollisionBody& body, const SurfaceHit& hit, const double towards[3],
                         const double origin[3], double scale = 1.0);

/// Keeps the nearest of many points in the caller's memory.
class NearestPoints {
 public:
  explicit NearestPoints(std::span<SurfacePoint> points) : points_(points) {}

  /// Whether a point at this distance would be kept.
  bool Keeps(double distance) const {
    return num_kept_ < points_.size() ||
           (num_kept_ > 0 && distance < double(points_[num_kept_ - 1].distance));
  }
  /// Counts a point without keeping it.
  void Count() { ++num_found_; }
  /// Counts a point and inserts it in order of distance, then body or collider, then
  /// triangle.
  void Add(const SurfacePoint& point);

  uint32_t num_found() const { return num_found_; }

 private:
  std::span<SurfacePoint> points_;
  size_t num_kept_ = 0;
  uint32_t num_found_ = 0;
};

}  // namespace plush
