// SPDX-License-Identifier: MIT
// Source: ridge.h.
#include "colliders/ridge.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

constexpr float kFlat = 0.07f;  // sine of 4 degrees
constexpr float kSteep = 0.3f;  // sine

}  // namespace

bool FindRidge(const ColliderMesh& mesh, const MeshFace& front, int k, Ridge* ridge) {
  if (!OwnsEdge(mesh, front.index / 2, k)) return false;
  const MeshFace across = mesh.Face(2 * mesh.source->Neighbour(front.index / 2, k));
  if (IsZero(front.normal) || IsZero(across.normal) ||
      Dot(front.normal, across.normal) > kSharpEdge) {
    return false;
  }
  const Vec3 &from = front.corners[k], &to = front.corners[(k + 1) % 3];
  const Vec3 edge = to - from;
  const float length = Length(edge);
  if (!(length > 0.0f)) return false;
  const Vec3 along = edge * (1.0f / length);
  *ridge = {
      front.index, {from, to}, {Cross(front.normal, along), Cross(across.normal, along * -1.0f)}};
  // Convex: the other triangle goes down from this one.
  return Dot(front.normal, ridge->into[1]) < 0.0f;
}

bool HasEasierFace(const Ridge& ridge, EasiestPlane easiest) {
  const Vec3 edge = ridge.ends[1] - ridge.ends[0];
  const Vec3 along = edge * (1.0f / Length(edge));
  const Vec3 normals[2] = {Cross(along, ridge.into[0]), Cross(ridge.into[1], along)};
  return std::ranges::any_of(normals, [&](const Vec3& normal) {
    return easiest.Visit(normal, [&](const Vec3& x) { return Dot(normal, x - ridge.ends[0]); });
  });
}

RidgePoints::RidgePoints(const Ridge& ridge, const Vec3* corners, float most) {
  const Vec3 &a = corners[0], ab = corners[1] - a, ac = corners[2] - a;
  const Vec3 outwards = Cross(ab, ac);
  const float area = Length(outwards);  // twice
  if (!(area > 0.0f)) return;
  const Vec3 normal = outwards * (-1.0f / area);  // out of the mesh
  // Where the mesh goes up beside the ridge, a deeper place is there. What bends less counts as
  // flat: the pole of a fine ball has no ridge.
  if (Dot(normal, ridge.into[0]) > kFlat || Dot(normal, ridge.into[1]) > kFlat) return;
  const Vec3 to_ends[2] = {ridge.ends[0] - a, ridge.ends[1] - a};
  const float gaps[2] = {-Dot(normal, to_ends[0]), -Dot(normal, to_ends[1])};
  if (!(gaps[0] < most || gaps[1] < most)) return;
  float shares[2][3];  // at the ridge's ends
  for (int end = 0; end < 2; ++end) {
    const Vec3& to_end = to_ends[end];
    shares[end][1] = -Dot(normal, Cross(to_end, ac)) / area;
    shares[end][2] = -Dot(normal, Cross(ab, to_end)) / area;
    shares[end][0] = 1.0f - shares[end][1] - shares[end][2];
  }
  // It is in front of a flat ridge's triangles: those of a thin body's far side are behind it.
  const Vec3 normals = Cross(ridge.ends[1] - ridge.ends[0], ridge.into[0] - ridge.into[1]);
  if (!(Dot(normal, normals) > 0.0f)) return;
  // The part of the ridge right behind or before the triangle.
  float first = 0.0f, last = 1.0f;
  for (int k = 0; k < 3; ++k) {
    const float from = shares[0][k], to = shares[1][k];
    if (from < 0.0f && to < 0.0f) return;
    if (from < 0.0f) first = std::fmax(first, from / (from - to));
    if (to < 0.0f) last = std::fmin(last, from / (from - to));
  }
  if (!(first <= last)) return;
  // Where a steep ridge leaves the triangle, its deepest place is beyond.
  const float steep = std::fabs(gaps[0] - gaps[1]) / Length(ridge.ends[1] - ridge.ends[0]);
  const float ends[2] = {first, last};
  for (int end = 0; end < (first < last ? 2 : 1); ++end) {
    const auto mean = [&](float of_from, float of_to) {
      return of_from + (of_to - of_from) * ends[end];
    };
    const float gap = mean(gaps[0], gaps[1]);
    const bool is_peak = ends[end] == static_cast<float>(end) && gaps[end] <= gaps[1 - end];
    if (!(gap < most) || (steep > kSteep && !is_peak)) continue;
    RidgePoint& point = at[count++];
    point.u = std::clamp(mean(shares[0][1], shares[1][1]), 0.0f, 1.0f);
    point.v = std::clamp(mean(shares[0][2], shares[1][2]), 0.0f, 1.0f - point.u);
    point.gap = gap;
    point.normal = normal;
    point.offset = Dot(normal, a) - gap;
  }
}

bool FindRidgePoint(const ColliderMesh& mesh, uint32_t face, const Vec3* corners, float u, float v,
                    float most, RidgePoint* point) {
  const MeshFace front = mesh.Face(face & ~1u);
  float nearest = std::numeric_limits<float>::infinity();
  for (int k = 0; k < 3; ++k) {
    Ridge ridge;
    if (!FindRidge(mesh, front, k, &ridge)) continue;
    const RidgePoints points(ridge, corners, most);
    for (uint32_t i = 0; i < points.count; ++i) {
      const RidgePoint& at = points.at[i];
      const float distance = std::fabs(at.u - u) + std::fabs(at.v - v);
      if (!(distance < nearest)) continue;
      nearest = distance;
      *point = at;
    }
  }
  return std::isfinite(nearest);
}

}  // namespace plush
