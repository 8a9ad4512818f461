// SPDX-License-Identifier: MIT
// Inside and outside of any triangle soup, by generalised winding numbers and solid angles.
// Based on:
// Alec Jacobson, Ladislav Kavan, Olga Sorkine-Hornung. Robust Inside-Outside Segmentation using
//   Generalized Winding Numbers. 2013
// Gavin Barill, Neil Dickson, Ryan Schmidt, David Levin, Alec Jacobson. Fast Winding Numbers for
//   Soups and Clouds. 2018
// Adriaan Van Oosterom, Jan Strackee. The Solid Angle of a Plane Triangle. 1983
#pragma once

#include "base/vec3.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <memory>
#include <span>

namespace plush::tools {

/// atan2(y, x) in [-pi, pi] to 1e-9, without a mathematical library, so that baked bytes do not
/// depend on one. atan2(0, 0) is 0.
double PortableAtan2(double y, double x);

/// Signed solid angle of triangle (a, b, c) seen from `point`, divided by 4 pi. Positive if the
/// point lies behind the triangle: inside a closed outward surface the triangles sum to 1. 0 for a
/// point on a corner, or in the triangle's plane beside the triangle.
double WindingOfTriangle(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c);

/// Answers winding-number queries. Thread-safe.
class InsideTest {
 public:
  /// O(t log t) for t triangles. Does not keep `surface`.
  explicit InsideTest(const SolidSurface& surface);

  /// Generalised winding number: 1 inside a closed outward surface, 0 outside. The error is below
  /// 0.1: triangles near `point` count by their solid angles, distant branches by expansions.
  double WindingNumber(const Vec3d& point) const;
  /// Whether |winding number| > 1/2.
  bool IsInside(const Vec3d& point) const;

  /// The surface's triangles in the order of the tree (OrderByHalves), for other trees over them.
  std::span<const uint32_t> order() const;

 private:
  struct Tree;
  std::shared_ptr<const Tree> tree_;
};

}  // namespace plush::tools
