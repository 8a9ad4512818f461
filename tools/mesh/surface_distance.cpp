// SPDX-License-Identifier: MIT
// Distances of whole triangles. Two bounds hold for all points of a triangle:
// - the distance from a convex set is a convex function, so it is largest at a corner if the set is
//   one triangle of the surface;
// - the distance changes by no more than the point moves, so it is at most that of the centre plus
//   the radius.
#include "mesh/surface_distance.h"

#include "mesh/tet_mesh.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

double SquaredDistanceFrom(const Triangle3& t, const Vec3d& p) {
  return LengthSquared(p - ClosestPointOnTriangle(p, t[0], t[1], t[2]));
}

double SquaredDistanceFrom(const TriangleBvh::FloatBox& box, const Vec3d& p) {
  double sum = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    const auto i = static_cast<size_t>(axis);
    const double outside =
        std::max({double{box.low[i]} - p[axis], p[axis] - double{box.high[i]}, 0.0});
    sum += outside * outside;
  }
  return sum;
}

double LargestAtCorners(const Triangle3& from, const Triangle3& triangle) {
  double squared = 0.0;
  for (const Vec3d& corner : triangle) {
    squared = std::max(squared, SquaredDistanceFrom(from, corner));
  }
  return std::sqrt(squared);
}

Triangle3 CornersOfTriangle(std::span<const Vec3d> points, const std::array<uint32_t, 3>& ids) {
  return {points[ids[0]], points[ids[1]], points[ids[2]]};
}

}  // namespace

double DistanceFrom(const Triangle3& triangle, const Vec3d& p) {
  return std::sqrt(SquaredDistanceFrom(triangle, p));
}

std::array<Triangle3, 4> Quartered(const Triangle3& triangle) {
  const auto& [a, b, c] = triangle;
  const Vec3d ab = (a + b) * 0.5;
  const Vec3d bc = (b + c) * 0.5;
  const Vec3d ca = (c + a) * 0.5;
  return {Triangle3{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}};
}

TriangleBall BallOf(const Triangle3& triangle) {
  TriangleBall ball;
  ball.centre = (triangle[0] + triangle[1] + triangle[2]) / 3.0;
  for (const Vec3d& corner : triangle) {
    ball.radius = std::max(ball.radius, Length(corner - ball.centre));
  }
  return ball;
}

SurfaceDistance::SurfaceDistance(std::span<const Vec3d> points,
                                 std::span<const std::array<uint32_t, 3>> triangles)
    : points_(points), triangles_(triangles), bvh_(points, triangles) {}

Triangle3 SurfaceDistance::CornersOf(uint32_t t) const {
  return CornersOfTriangle(points_, triangles_[t]);
}

// Sets `*hint` to the nearest triangle, or to the first one found that is within `enough`. Returns
// its distance.
double SurfaceDistance::Search(const Vec3d& p, double enough, uint32_t* hint) const {
  double best = SquaredDistanceFrom(CornersOf(*hint), p);
  const double stop = enough < 0.0 ? -1.0 : enough * enough;
  if (best <= stop) return std::sqrt(best);
  bvh_.AnyOf([&](const auto& box) { return SquaredDistanceFrom(box, p) <= best; },
             [&](uint32_t t) {
               const double squared = SquaredDistanceFrom(CornersOf(t), p);
               if (squared < best || (squared == best && t < *hint)) {
                 best = squared;
                 *hint = t;
               }
               return best <= stop;
             });
  return std::sqrt(best);
}

uint32_t SurfaceDistance::Nearest(const Vec3d& p, uint32_t hint) const {
  Search(p, -1.0, &hint);
  return hint;
}

double SurfaceDistance::DistanceOf(const Vec3d& p, uint32_t* hint) const {
  return Search(p, -1.0, hint);
}

bool SurfaceDistance::IsWithin(const Triangle3& triangle, double limit) const {
  uint32_t hint = 0;
  return IsWithin(triangle, limit, &hint);
}

// Recursion is as deep as halving the triangle down to its share of the limit takes.
bool SurfaceDistance::IsWithin(const Triangle3& triangle, double limit, uint32_t* hint) const {
  const TriangleBall ball = BallOf(triangle);
  if (LargestAtCorners(CornersOf(*hint), triangle) <= limit) return true;
  // A triangle too large for its ball is quartered in any case, unless its centre is too far.
  const double enough = ball.radius < limit ? limit - ball.radius : limit;
  const double at_centre = Search(ball.centre, enough, hint);
  if (at_centre > limit) return false;
  if (at_centre + ball.radius <= limit) return true;
  if (LargestAtCorners(CornersOf(*hint), triangle) <= limit) return true;
  if (ball.radius < kDistanceShare * limit) return false;
  const auto quarters = Quartered(triangle);
  return std::all_of(quarters.begin(), quarters.end(),
                     [&](const Triangle3& quarter) { return IsWithin(quarter, limit, hint); });
}

void SurfaceDistance::RaiseBound(const Triangle3& triangle, double excess, double* lower,
                                 double* upper, uint32_t* hint) const {
  const TriangleBall ball = BallOf(triangle);
  const double at_centre = DistanceOf(ball.centre, hint);
  *lower = std::max(*lower, at_centre);
  const double bound =
      std::min(at_centre + ball.radius, LargestAtCorners(CornersOf(*hint), triangle));
  if (bound <= std::max(*upper, *lower + excess)) {
    *upper = std::max(*upper, bound);
    return;
  }
  for (const Triangle3& quarter : Quartered(triangle)) {
    RaiseBound(quarter, excess, lower, upper, hint);
  }
}

double SurfaceDistance::Farthest(std::span<const Vec3d> points,
                                 std::span<const std::array<uint32_t, 3>> triangles,
                                 double excess) const {
  double lower = 0.0;  // a distance that some point has: the higher, the less is quartered
  uint32_t hint = 0;
  for (const auto& ids : triangles) {
    lower = std::max(lower, DistanceOf(BallOf(CornersOfTriangle(points, ids)).centre, &hint));
  }
  double upper = lower;
  for (const auto& ids : triangles) {
    RaiseBound(CornersOfTriangle(points, ids), excess, &lower, &upper, &hint);
  }
  return upper;
}

}  // namespace plush::tools
