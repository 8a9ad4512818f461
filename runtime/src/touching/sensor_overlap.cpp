// SPDX-License-Identifier: MIT
// Source: sensor_overlap.h.
#include "touching/sensor_overlap.h"

#include "base/vector_math.h"
#include "collision/surface_records.h"
#include "touching/sunk_points.h"
#include "touching/triangle_code.h"

#include <algorithm>

namespace plush {
namespace {

// The deepest point of a triangle in a half-space, from the gaps of its corners.
TrianglePoint DeepestCorner(const float (&gaps)[3]) {
  if (gaps[1] < gaps[0] && gaps[1] <= gaps[2]) return {1.0f, 0.0f, gaps[1]};
  if (gaps[2] < gaps[0]) return {0.0f, 1.0f, gaps[2]};
  return {0.0f, 0.0f, gaps[0]};
}

// A sensor, with points in its coordinates.
class Sensor {
 public:
  explicit Sensor(const LocalCollider& sensor) : sensor_(sensor) {}

  // The tangent plane at a point.
  Tangent TangentFor(const Vec3& at) const {
    return sensor_.is_solid ? TangentAt(sensor_.shape, at)
                            : Tangent{sensor_.normal, Gap(sensor_, at)};
  }
  Vec3 Local(const Vec3& x) const { return sensor_.is_solid ? sensor_.end.ToLocal(x) : x; }

  // Gaps of points (kCount x 1) from the tangent plane at their middle: lower bounds of their
  // distances, and so for every point between them.
  template <size_t kCount>
  void BoundGaps(const Vec3 (&points)[kCount], float (&gaps)[kCount]) const {
    Vec3 middle;
    for (const Vec3& point : points) middle += point * (1.0f / kCount);
    const Tangent tangent = TangentFor(middle);
    for (size_t k = 0; k < kCount; ++k) {
      gaps[k] = tangent.gap + Dot(tangent.normal, points[k] - middle);
    }
  }

  // The deepest point of a triangle, if it is deeper than `lowest`.
  bool FindDeeper(const Vec3 (&corners)[3], float lowest, TrianglePoint* deepest) const {
    float gaps[3];
    BoundGaps(corners, gaps);
    if (!(std::ranges::min(gaps) <= lowest)) return false;
    *deepest = sensor_.is_solid ? FindDeepest(sensor_.shape, corners) : DeepestCorner(gaps);
    return deepest->gap <= lowest;
  }

 private:
  const LocalCollider& sensor_;
};

}  // namespace

bool FindDeepestInSensor(const LocalCollider& sensor, const TouchingSurface& surface, NodeVectors x,
                         SensedPoint* out_deepest) {
  if (sensor.is_mesh()) {
    return sensor.mesh.source->code->find_deepest(sensor, surface, x, out_deepest);
  }
  const Sensor shape(sensor);
  SensedPoint deepest;
  bool found = false;
  const auto is_deeper = [&](float gap) { return found ? gap < deepest.gap : gap <= 0.0f; };
  if (!surface.has_vertices()) {
    for (uint32_t i = 0; i < surface.pinned.size(); ++i) {
      const float gap = shape.TangentFor(shape.Local(x[i])).gap;
      if (!is_deeper(gap)) continue;
      deepest = {gap, UINT32_MAX, surface.Node(i)};
      found = true;
    }
    deepest.normal = sensor.TangentFor(deepest.point.Of(x)).normal;
    *out_deepest = deepest;
    return found;
  }
  const CollisionView& collision = *surface.collision;
  const auto nodes_of = [&](uint32_t t, Vec3(&nodes)[4]) {
    for (int k = 0; k < 4; ++k) nodes[k] = shape.Local(x[collision.tets[t].nodes[k]]);
  };
  // A lower bound of the gaps of a tet's vertices.
  const auto bound_of = [&](uint32_t t) {
    Vec3 nodes[4];
    float gaps[4];
    nodes_of(t, nodes);
    shape.BoundGaps(nodes, gaps);
    return LowestIn(Load4(gaps), &collision.tets[t].low.x, &collision.tets[t].high.x);
  };
  TrianglePoint at;
  uint32_t of_tet = 0;
  const auto search = [&](uint32_t t) {
    Vec3 nodes[4];
    nodes_of(t, nodes);
    WithTriangles(collision, [&](const auto& triangles) {
      ForTrianglesOf(collision, t, [&](uint32_t, uint32_t i) {
        Vec3 corners[3];
        for (int k = 0; k < 3; ++k) {
          const Vec4& w = collision.vertices[VertexOf(triangles[i], k)];
          corners[k] = nodes[0] * w.x + nodes[1] * w.y + nodes[2] * w.z + nodes[3] * w.w;
        }
        TrianglePoint of_triangle;
        if (!shape.FindDeeper(corners, deepest.gap, &of_triangle)) return;
        if (!is_deeper(of_triangle.gap)) return;
        deepest.gap = of_triangle.gap;
        deepest.triangle = i;
        at = of_triangle;
        of_tet = t;
        found = true;
      });
    });
  };
  // The tet that may be deepest comes first: it rules out most others.
  const uint32_t num_tets = static_cast<uint32_t>(collision.tets.size());
  uint32_t first = num_tets;
  float lowest = 0.0f;
  for (uint32_t t = 0; t < num_tets; ++t) {
    const float bound = bound_of(t);
    if (!(bound <= lowest)) continue;
    lowest = bound;
    first = t;
  }
  if (first < num_tets) search(first);
  for (uint32_t t = 0; t < num_tets && first < num_tets; ++t) {
    if (t != first && bound_of(t) <= deepest.gap) search(t);
  }
  if (found) {
    deepest.point = surface.Inside(of_tet, deepest.triangle, at.u, at.v);
    deepest.normal = sensor.TangentFor(deepest.point.Of(x)).normal;
  }
  *out_deepest = deepest;
  return found;
}

}  // namespace plush
