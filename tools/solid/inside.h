// SPDX-License-Identifier: MIT
// Inside and outside of any triangle soup, by generalised winding numbers.
// Based on:
// Alec Jacobson, Ladislav Kavan, Olga Sorkine-Hornung. Robust Inside-Outside Segmentation using
//   Generalized Winding Numbers. 2013
// Gavin Barill, Neil Dickson, Ryan Schmidt, David Levin, Alec Jacobson. Fast Winding Numbers for
//   Soups and Clouds. 2018
//
// Solid angle of one triangle.
// Based on:
// Adriaan Van Oosterom, Jan Strackee. The Solid Angle of a Plane Triangle. 1983
#pragma once

#include "base/vec3.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <memory>
#include <span>

namespace plush::tools {

/// atan2(y, x) in [-pi, pi] to 1e-9 from multiplications, divisions and additions only, so that no
/// mathematical library has a say in what is baked. atan2(0, 0) is 0.
double PortableAtan2(double y, double x);

/// Signed solid angle of triangle (a, b, c) seen from `point`, divided by 4 pi: positive where the
/// point lies behind the triangle (the summed value is 1 inside a closed outward surface). 0 for a
/// point on a corner or in the plane beside the triangle.
double WindingOfTriangle(const Vec3d& point, const Vec3d& a, const Vec3d& b, const Vec3d& c);

/// Answers winding-number queries. Thread-safe.
class InsideTest {
 public:
  /// O(t log t). Copies what it needs of `surface`.
  explicit InsideTest(const SolidSurface& surface);
  ~InsideTest();
  InsideTest(InsideTest&&) noexcept;

  /// Generalised winding number, to better than 0.1: 1 inside a closed outward surface, 0 outside.
  /// Exact solid angles near `point`, expansions of whole branches far away.
  double WindingNumber(const Vec3d& point) const;
  /// |w| > 1/2.
  bool IsInside(const Vec3d& point) const;

  /// The surface's triangles in an order that can be halved (OrderByHalves): other trees over them
  /// need not find it again.
  std::span<const uint32_t> order() const;

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace plush::tools
