// SPDX-License-Identifier: MIT
// Orientation signs by CGAL's filtered kernel. The only file that includes CGAL. It is compiled
// with -frounding-math, which interval arithmetic needs.
#include "mesh/exact_predicates.h"

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/MP_Float.h>

#include <cmath>

namespace plush::tools {
namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;

Kernel::Point_3 ToPoint(const Vec3d& p) { return {p.x, p.y, p.z}; }

Kernel::Point_2 Project(const Vec3d& p, int dropped_axis) {
  if (dropped_axis == 0) return {p.y, p.z};
  if (dropped_axis == 1) return {p.z, p.x};
  return {p.x, p.y};
}

}  // namespace

int Orient3dSign(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  return static_cast<int>(CGAL::orientation(ToPoint(a), ToPoint(b), ToPoint(c), ToPoint(d)));
}

int Orient2dSign(const Vec3d& a, const Vec3d& b, const Vec3d& c, int dropped_axis) {
  return static_cast<int>(CGAL::orientation(Project(a, dropped_axis), Project(b, dropped_axis),
                                            Project(c, dropped_axis)));
}

int CrossComponentSign(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b, int axis) {
  const int i = (axis + 1) % 3;
  const int j = (axis + 2) % 3;
  const double left = (q[i] - p[i]) * (b[j] - a[j]);
  const double right = (q[j] - p[j]) * (b[i] - a[i]);
  // Each product has three roundings, the difference one. Below the second bound, underflow may
  // have cost the products their accuracy.
  const double size = std::abs(left) + std::abs(right);
  const double value = left - right;
  if (std::abs(value) > 8.0 * 2.2204460492503131e-16 * size && size > 1e-280) {
    return value > 0.0 ? 1 : -1;
  }
  const auto difference = [](double x, double y) { return CGAL::MP_Float(x) - CGAL::MP_Float(y); };
  const CGAL::MP_Float exact = difference(q[i], p[i]) * difference(b[j], a[j]) -
                               difference(q[j], p[j]) * difference(b[i], a[i]);
  return static_cast<int>(CGAL::sign(exact));
}

}  // namespace plush::tools
