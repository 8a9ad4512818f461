// SPDX-License-Identifier: MIT
// Source: rounded_box.h.
#include "contact/rounded_box.h"

#include "base/vector_math.h"

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

}  // namespace

TrianglePoint FindDeepest(const RoundedBox& solid, const Vec3* corners) {
  TrianglePoint deepest =
      DeepestOf(corners, [&](const Vec3& point) { return TangentAt(solid, point).gap; });
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
