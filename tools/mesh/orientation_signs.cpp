// SPDX-License-Identifier: MIT
// The two orientation determinants, by CGAL's filtered kernel. The only file that sees CGAL; it is
// compiled with -frounding-math, which interval arithmetic needs.
#include "mesh/exact_predicates.h"

#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>

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

}  // namespace plush::tools
