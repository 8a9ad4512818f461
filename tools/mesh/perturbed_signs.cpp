// SPDX-License-Identifier: MIT
#include "mesh/perturbed_signs.h"

#include "mesh/exact_predicates.h"

namespace plush::tools {
namespace {

// Sign of the dot product of the plane's normal and the vector (e, e^2, e^3).
int SignAlongNormal(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  for (int axis = 0; axis < 3; ++axis) {
    if (const int sign = Orient2dSign(a, b, c, axis); sign != 0) return sign;
  }
  return 1;  // no plane
}

}  // namespace

int SideOfCagePlane(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& p) {
  const int sign = Orient3dSign(a, b, c, p);
  return sign != 0 ? sign : SignAlongNormal(a, b, c);
}

int SideOfSurfacePlane(const Vec3d& p, const Vec3d& q, const Vec3d& r, const Vec3d& n) {
  const int sign = Orient3dSign(p, q, r, n);
  return sign != 0 ? sign : -SignAlongNormal(p, q, r);
}

int PassingSide(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b) {
  if (const int sign = Orient3dSign(p, q, a, b); sign != 0) return sign;
  // With pq moved by d the volume changes by d . ((q - p) x (b - a)), exactly.
  for (int axis = 0; axis < 3; ++axis) {
    if (const int sign = CrossComponentSign(p, q, a, b, axis); sign != 0) return sign;
  }
  return 0;
}

}  // namespace plush::tools
