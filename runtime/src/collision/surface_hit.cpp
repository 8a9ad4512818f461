// SPDX-License-Identifier: MIT
// Describes a query's hit in world coordinates: place, normal, triangle, patch, tet, node weights.
// Also collects the nearest of many points in order.
#include "collision/surface_hit.h"

#include "base/id_layout.h"
#include "collision/double_vector.h"
#include "collision/surface_records.h"
#include "collision/vertex_positions.h"

#include <cmath>

namespace plush {
namespace {

// v / |v| in float. Returns false if v is zero or nearly so.
bool Normalise(const DoubleVector& v, Vec3* out_unit) {
  const double length = std::sqrt(Dot(v, v));
  if (!(length > 1.0e-150)) return false;
  *out_unit = {static_cast<float>(v.x / length), static_cast<float>(v.y / length),
               static_cast<float>(v.z / length)};
  return true;
}

// Normal of the triangle. Without area: the direction of `towards`; if that is zero too, up.
Vec3 NormalOf(const Vec3 corners[3], const double towards[3]) {
  const DoubleVector e = Difference(corners[1], corners[0]), f = Difference(corners[2], corners[0]);
  Vec3 normal = {0.0f, 1.0f, 0.0f};
  if (!Normalise(Cross(e, f), &normal)) Normalise({towards[0], towards[1], towards[2]}, &normal);
  return normal;
}

float Mix(const double part[3], double a, double b, double c, double base = 0.0,
          double scale = 1.0) {
  return ToFloat(base + scale * (part[0] * a + part[1] * b + part[2] * c));
}

bool ComesBefore(const SurfacePoint& a, const SurfacePoint& b) {
  if (a.distance != b.distance) return a.distance < b.distance;
  if (a.collider != b.collider) {  // null for bodies, which come first
    return a.collider.value == 0 ||
           (b.collider.value != 0 && SlotOf(a.collider.value) < SlotOf(b.collider.value));
  }
  if (a.body != b.body) return SlotOf(a.body.value) < SlotOf(b.body.value);
  return a.triangle < b.triangle;
}

}  // namespace

SurfacePoint DescribeHit(const CollisionBody& body, const SurfaceHit& hit, const double towards[3],
                         const double origin[3], double scale) {
  const CdgTet& tet = body.surface.tets[hit.tet];
  const std::array<Vec3, 4> nodes = NodesOf(tet, body.x);
  Vec4 w[3];
  Vec3 x[3];
  for (int k = 0; k < 3; ++k) {
    const uint32_t vertex = WithTriangles(
        body.surface, [&](const auto& triangles) { return VertexOf(triangles[hit.triangle], k); });
    w[k] = body.surface.vertices[vertex];
    x[k] = VertexPosition(nodes, w[k]);
  }
  const double* part = hit.part;
  SurfacePoint point;
  point.triangle = hit.triangle;
  point.patch = hit.patch;
  point.tet = tet.tet;
  for (int i = 0; i < 4; ++i) point.nodes[i] = tet.nodes[i];
  point.weights = {Mix(part, w[0].x, w[1].x, w[2].x), Mix(part, w[0].y, w[1].y, w[2].y),
                   Mix(part, w[0].z, w[1].z, w[2].z), Mix(part, w[0].w, w[1].w, w[2].w)};
  point.barycentrics = {static_cast<float>(part[0]), static_cast<float>(part[1]),
                        static_cast<float>(part[2])};
  point.position = {Mix(part, x[0].x, x[1].x, x[2].x, origin[0], scale),
                    Mix(part, x[0].y, x[1].y, x[2].y, origin[1], scale),
                    Mix(part, x[0].z, x[1].z, x[2].z, origin[2], scale)};
  point.normal = NormalOf(x, towards);
  point.distance = ToFloat(scale * hit.distance);
  point.front = double(point.normal.x) * towards[0] + double(point.normal.y) * towards[1] +
                    double(point.normal.z) * towards[2] >=
                0.0;
  return point;
}

double KeepNearest(void* nearest, const SurfaceHit& hit) {
  auto* best = static_cast<SurfaceHit*>(nearest);
  if (best->triangle == kNoTriangle || hit.distance < best->distance ||
      (hit.distance == best->distance && hit.triangle < best->triangle)) {
    *best = hit;
  }
  return best->distance;
}

void NearestPoints::Add(const SurfacePoint& point) {
  ++num_found_;
  size_t place = num_kept_;
  if (num_kept_ == points_.size()) {
    if (num_kept_ == 0 || !ComesBefore(point, points_[num_kept_ - 1])) return;
    --place;
  } else {
    ++num_kept_;
  }
  for (; place > 0 && ComesBefore(point, points_[place - 1]); --place) {
    points_[place] = points_[place - 1];
  }
  points_[place] = point;
}

}  // namespace plush
