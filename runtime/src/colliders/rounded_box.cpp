// SPDX-License-Identifier: MIT
// Source: rounded_box.h.
#include "colliders/rounded_box.h"

#include "base/vector_math.h"
#include "colliders/deepest_by_planes.h"
#include "collision/point_query.h"

#include <cmath>
#include <initializer_list>

namespace plush {

Tangent TangentAt(const RoundedBox& solid, const Vec3& point) {
  const Vec3& half = solid.half_extents;
  const Vec3 beyond = {std::fabs(point.x) - half.x, std::fabs(point.y) - half.y,
                       std::fabs(point.z) - half.z};
  const auto positive = [](float x) { return x > 0.0f ? x : 0.0f; };
  const Vec3 outside = {positive(beyond.x), positive(beyond.y), positive(beyond.z)};
  const float distance = Length(outside);
  Vec3 normal = outside;
  float gap = distance;
  if (distance > 0.0f) {
    normal *= 1.0f / distance;
  } else if (beyond.x >= beyond.y && beyond.x >= beyond.z) {
    normal = {1.0f, 0.0f, 0.0f};
    gap = beyond.x;
  } else if (beyond.y >= beyond.z) {
    normal = {0.0f, 1.0f, 0.0f};
    gap = beyond.y;
  } else {
    normal = {0.0f, 0.0f, 1.0f};
    gap = beyond.z;
  }
  return {{std::copysign(normal.x, point.x), std::copysign(normal.y, point.y),
           std::copysign(normal.z, point.z)},
          gap - solid.radius};
}

// Newton's method on the distance along the way. It is convex there, so that no step passes the
// first zero.
bool FindEntry(const RoundedBox& solid, const Vec3& from, const Vec3& to, Tangent* hit) {
  constexpr int kMostSteps = 32;
  constexpr float kTolerance = 1.0e-6f;  // [lengths of the way]
  const Vec3 way = to - from;
  const float tolerance = kTolerance * Length(way);
  float at = 0.0f;
  for (int step = 0; step < kMostSteps; ++step) {
    *hit = TangentAt(solid, from + way * at);
    const float approach = -Dot(hit->normal, way);
    if (hit->gap <= tolerance && approach > 0.0f) {
      hit->gap -= approach * (1.0f - at);
      return hit->gap < 0.0f;
    }
    if (!(approach > 0.0f)) return false;
    at += hit->gap / approach;
    if (!(at < 1.0f)) return false;
  }
  return false;
}

SolidFace FindEasierFace(const RoundedBox& solid, EasiestPlane easiest) {
  SolidFace easier;
  if (solid.radius > 0.0f) return easier;
  for (float Vec3::*axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
    const float most = solid.half_extents.*axis;
    for (const float sign : {1.0f, -1.0f}) {
      Vec3 normal;
      normal.*axis = sign;
      const auto gap_of = [&](const Vec3& x) { return sign * x.*axis - most; };
      if (easiest.Visit(normal, gap_of)) easier = {normal, most};
    }
  }
  return easier;
}

namespace {

// Improves a point where the surface is round: where distances are nearly the same, their rounding
// hides the least one. Projects the box's nearest point onto the triangle, in turns. Returns false
// if the surface is not round there or the projection falls beside the triangle.
bool Polish(const RoundedBox& solid, const Vec3* corners, TrianglePoint* point) {
  constexpr int kRounds = 4;
  const Vec3 along_u = corners[1] - corners[0], along_v = corners[2] - corners[0];
  const Vec3& half = solid.half_extents;
  const float uu = Dot(along_u, along_u), uv = Dot(along_u, along_v), vv = Dot(along_v, along_v);
  const float area2 = uu * vv - uv * uv;
  if (!(solid.radius > 0.0f && area2 > 0.0f)) return false;
  float u = point->u, v = point->v;
  for (int round = 0; round < kRounds; ++round) {
    const Vec3 at = corners[0] + along_u * u + along_v * v;
    const Vec3 nearest = {std::fmin(std::fmax(at.x, -half.x), half.x),
                          std::fmin(std::fmax(at.y, -half.y), half.y),
                          std::fmin(std::fmax(at.z, -half.z), half.z)};
    const Vec3 way = nearest - at;
    if (!(Dot(way, way) > 0.0f)) return false;
    const float du = Dot(along_u, way), dv = Dot(along_v, way);
    u += (vv * du - uv * dv) / area2;
    v += (uu * dv - uv * du) / area2;
    if (!(u >= 0.0f && v >= 0.0f && u + v <= 1.0f)) return false;
  }
  *point = {u, v, TangentAt(solid, corners[0] + along_u * u + along_v * v).gap};
  return true;
}

// FindDeepest for spheres and capsules: the point nearest to a segment along y is nearest to one of
// its ends, on an edge, or where the segment sticks through.
TrianglePoint FindDeepestBySegment(const RoundedBox& solid, const Vec3* corners) {
  TrianglePoint deepest = {0.0f, 0.0f, std::numeric_limits<float>::infinity()};
  const auto add = [&](float u, float v) {
    const TrianglePoint point = {u, v, TangentAt(solid, PointOf(corners, {u, v})).gap};
    if (point.gap < deepest.gap) deepest = point;
  };
  const Vec3 &a = corners[0], &b = corners[1], &c = corners[2];
  const float half = solid.half_extents.y;
  for (const float end : {half, -half}) {
    const auto from_end = [end](const Vec3& x, double(&to)[3]) {
      to[0] = x.x, to[1] = double(x.y) - double(end), to[2] = x.z;
    };
    double from[3][3];
    for (int k = 0; k < 3; ++k) from_end(corners[k], from[k]);
    const TrianglePlace nearest = NearestToOrigin(from[0], from[1], from[2]);
    add(static_cast<float>(nearest.part[1]), static_cast<float>(nearest.part[2]));
    if (half == 0.0f) return deepest;
  }
  // The share of the way from p to q at which it is nearest to the axis.
  const auto along = [](const Vec3& p, const Vec3& q) {
    const float x = q.x - p.x, z = q.z - p.z, share = -(p.x * x + p.z * z) / (x * x + z * z);
    return share > 0.0f ? std::fmin(share, 1.0f) : 0.0f;
  };
  const float on_ab = along(a, b), on_bc = along(b, c), on_ca = along(c, a);
  add(on_ab, 0.0f);
  add(1.0f - on_bc, on_bc);
  add(0.0f, 1.0f - on_ca);
  const float of_a = b.x * c.z - b.z * c.x, of_b = c.x * a.z - c.z * a.x;
  const float of_c = a.x * b.z - a.z * b.x, sum = of_a + of_b + of_c;
  const float u = of_b / sum, v = of_c / sum;
  if (of_a / sum >= 0.0f && u >= 0.0f && v >= 0.0f) add(u, v);
  return deepest;
}

}  // namespace

TrianglePoint FindDeepest(const RoundedBox& solid, const Vec3* corners, float limit) {
  const Vec3& half = solid.half_extents;
  if (half.x == 0.0f && half.z == 0.0f) return FindDeepestBySegment(solid, corners);
  TrianglePoint deepest;
  const auto tangent_at = [&](const Vec3& point) { return TangentAt(solid, point); };
  if (solid.radius == 0.0f && FindDeepestByPlanes(corners, limit, tangent_at, &deepest)) {
    return deepest;
  }
  deepest = DeepestOf(corners, [&](const Vec3& point) { return TangentAt(solid, point).gap; });
  Polish(solid, corners, &deepest);
  return deepest;
}

TrianglePoint FollowDeepest(const RoundedBox& solid, const Vec3* corners,
                            const TrianglePoint& last) {
  TrianglePoint deepest = last;
  return Polish(solid, corners, &deepest) ? deepest : FindDeepest(solid, corners);
}

Tangent PlaneBetween(const RoundedBox& solid, const Vec3* corners, const TrianglePoint& deepest) {
  constexpr float kNear = 3.0e-4f;  // [edges of the triangle]
  const Vec3 along_u = corners[1] - corners[0], along_v = corners[2] - corners[0];
  const Vec3 point = corners[0] + along_u * deepest.u + along_v * deepest.v;
  const Tangent tangent = TangentAt(solid, point);
  if (solid.radius > 0.0f) return tangent;
  const Vec3& half = solid.half_extents;
  const Vec3 outward = Cross(along_u, along_v);
  const float near = kNear * std::fmax(Length(along_u), Length(along_v));
  const float least =
      std::fmax(std::fabs(point.x) - half.x,
                std::fmax(std::fabs(point.y) - half.y, std::fabs(point.z) - half.z)) -
      near;
  // The normals of faces are orthogonal. So what they span nearest to -outward has its parts along
  // them, without negative ones.
  const auto part = [&](float x, float most, float out) {
    const float against = x < 0.0f ? out : -out;  // along the face that is nearest
    return std::fabs(x) - most >= least && against > 0.0f ? std::copysign(against, x) : 0.0f;
  };
  const Vec3 normal = {part(point.x, half.x, outward.x), part(point.y, half.y, outward.y),
                       part(point.z, half.z, outward.z)};
  const float length = Length(normal);
  if (!(length > 0.0f)) return tangent;
  const Vec3 unit = normal * (1.0f / length);
  return {unit, Dot(unit, point) - std::fabs(unit.x) * half.x - std::fabs(unit.y) * half.y -
                    std::fabs(unit.z) * half.z};
}

}  // namespace plush
