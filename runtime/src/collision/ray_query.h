// SPDX-License-Identifier: MIT
// Rays against one deformed body, in its own coordinates.
//
// Decides exactly whether a ray meets a triangle. Based on:
// Sven Woop, Carsten Benthin, Ingo Wald. Watertight Ray/Triangle Intersection. 2013
// Herbert Edelsbrunner, Ernst Peter Muecke. Simulation of Simplicity. 1990
//
// The corners are sheared so that the ray becomes the z axis, and their x and y are rounded to
// float. The signs of the edge functions are then exact in double, because the products have at
// most 48 bits. If an edge function is zero, the ray counts as moved by (e, e^2), with e infinitely
// small. Seen along the ray, the surface thus has neither gaps nor overlaps: a ray through an edge
// or a corner of a closed surface meets exactly one of the triangles on each side.
#pragma once

#include "base/float4.h"
#include "collision/collision_state.h"
#include "collision/surface_hit.h"

#include <cmath>

namespace plush {

/// A ray in a body's coordinates.
struct LocalRay {
  double origin[3];     ///< [m]
  double direction[3];  ///< unit
  double max_t;         ///< how far it reaches [m], >= 0
};

/// Transformation into the ray's own coordinates.
struct RayShear {
  int kx, ky, kz;    ///< axes; kz is the one closest to the direction
  double origin[3];  ///< [m]
  double sx, sy;     ///< shear along x and y per step along kz
  double sz;         ///< distance along the ray per step along kz
  double scale;      ///< of x and y: a power of 2 that keeps them in float's range
};

/// `reach` is the largest coordinate of all triangles to be tested [m].
inline RayShear MakeRayShear(const LocalRay& ray, double reach) {
  RayShear shear = {0, 1, 2, {ray.origin[0], ray.origin[1], ray.origin[2]}, 0.0, 0.0, 0.0, 1.0};
  const double* d = ray.direction;
  if (std::fabs(d[0]) > std::fabs(d[shear.kz])) shear = {1, 2, 0, {}, 0, 0, 0, 1.0};
  if (std::fabs(d[1]) > std::fabs(d[shear.kz])) shear = {2, 0, 1, {}, 0, 0, 0, 1.0};
  double largest = reach;
  for (int i = 0; i < 3; ++i) {
    shear.origin[i] = ray.origin[i];
    largest = std::fmax(largest, std::fabs(ray.origin[i]));
  }
  if (largest > 1.0e30) shear.scale = 0x1p-60;
  shear.sz = 1.0 / d[shear.kz];
  shear.sx = d[shear.kx] * shear.sz * shear.scale;
  shear.sy = d[shear.ky] * shear.sz * shear.scale;
  return shear;
}

/// A corner in the ray's coordinates.
struct ShearedCorner {
  double x, y;  ///< floats
  double t;     ///< along the ray [m]
};

inline ShearedCorner Shear(const RayShear& shear, const Float4& corner) {
  const double z = double(corner[shear.kz]) - shear.origin[shear.kz];
  const double x = (double(corner[shear.kx]) - shear.origin[shear.kx]) * shear.scale;
  const double y = (double(corner[shear.ky]) - shear.origin[shear.ky]) * shear.scale;
  return {double(static_cast<float>(x - shear.sx * z)),
          double(static_cast<float>(y - shear.sy * z)), shear.sz * z};
}

/// The place at which a ray meets a triangle.
struct TriangleHit {
  double t;        ///< along the ray [m]
  double part[3];  ///< barycentric coordinates, >= 0, sum 1
};

/// Twice the area of (origin, a, b). Its sign is exact.
inline double EdgeFunction(const ShearedCorner& a, const ShearedCorner& b) {
  return a.x * b.y - a.y * b.x;
}

/// Sign of EdgeFunction for a ray moved by (e, e^2): that of `function` unless it is zero. Returns
/// 0 only if a and b are one point.
inline int EdgeSign(double function, const ShearedCorner& a, const ShearedCorner& b) {
  const double moved = a.y != b.y ? a.y - b.y : b.x - a.x;
  const double sign = function != 0.0 ? function : moved;
  return sign > 0.0 ? 1 : sign < 0.0 ? -1 : 0;
}

/// Whether the ray's line meets the triangle; writes the place, which may lie behind the ray's
/// start.
inline bool MeetTriangle(const RayShear& shear, const Float4 corners[3], TriangleHit* out_hit) {
  const ShearedCorner a = Shear(shear, corners[0]);
  const ShearedCorner b = Shear(shear, corners[1]);
  const ShearedCorner c = Shear(shear, corners[2]);
  const double u = EdgeFunction(b, c), v = EdgeFunction(c, a), w = EdgeFunction(a, b);
  const bool inside = (u > 0.0 && v > 0.0 && w > 0.0) || (u < 0.0 && v < 0.0 && w < 0.0);
  if (!inside) {
    if (u != 0.0 && v != 0.0 && w != 0.0) return false;
    const int sign = EdgeSign(u, b, c);
    if (sign == 0 || EdgeSign(v, c, a) != sign || EdgeSign(w, a, b) != sign) return false;
  }
  const double sum = u + v + w;
  if (sum == 0.0) return false;  // seen from the side
  *out_hit = {(u * a.t + v * b.t + w * c.t) / sum, {u / sum, v / sum, w / sum}};
  return true;
}

/// Receives a hit. Returns the new search limit along the ray [m].
using RayHitCallback = double (*)(void* user, const SurfaceHit& hit);

/// Calls back with each triangle that the ray meets, from either side, at t from 0 to the search
/// limit, which is first ray.max_t and then the last call's result. The order is arbitrary.
/// Transforms only the vertices of triangles close to the ray. Exact: a ray through an edge or
/// corner that triangles share meets one of them (see the top of this file). Does not allocate.
void ForHits(const CollisionBody& body, const LocalRay& ray, void* user, RayHitCallback callback);

/// Finds the first triangle along the ray; if several are equally far, the one with the lowest
/// index. Returns whether there is one. Does not allocate.
bool Raycast(const CollisionBody& body, const LocalRay& ray, SurfaceHit* out_hit);

}  // namespace plush
