// SPDX-License-Identifier: MIT
// FindDeepestInMesh: vertices of a surface in a closed mesh, or below a height field.
// Source: sensor_overlap.h.
#include "base/vector_math.h"
#include "collision/static_mesh_query.h"
#include "collision/surface_records.h"
#include "touching/sensor_overlap.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();

// A place of the sensor's surface near a point.
struct Place {
  float gap = kFar;  // of the point, negative inside [m]
  uint32_t triangle = kNoTriangle;
  Vec3 normal;  // out of the sensor, in its coordinates
};

// The nearest place to `x`, in the body's coordinates. If it is farther outside than `reach`, the
// gap may be infinite.
Place PlaceNear(const LocalCollider& sensor, const Vec3& x, float reach) {
  const ColliderMesh& mesh = sensor.mesh;
  const Vec3 local = sensor.end.ToLocal(x);
  if (mesh.source->mesh == nullptr) {
    NearestPoint nearest = mesh.FindNearest(local, reach, nullptr);
    if (nearest.face == kNoTriangle) return {};
    // What is farther is only the triangle above. Another one may be nearer.
    if (nearest.distance > reach) nearest = mesh.FindNearest(local, nearest.distance, nullptr);
    // A triangle's plane goes on beyond the border. Only what is right below a cell is inside.
    const bool is_below = nearest.gap < 0.0f && mesh.HasTriangles(local, local);
    return {is_below ? -nearest.distance : nearest.distance, nearest.face / 2, nearest.normal};
  }
  const auto in_mesh = [&](float at, int axis) {
    return static_cast<float>(double(at) / mesh.unit + mesh.anchor[axis]);
  };
  const Vec3 point = {in_mesh(local.x, 0), in_mesh(local.y, 1), in_mesh(local.z, 2)};
  const StaticNearest nearest = NearestOfStaticMesh(*mesh.source->mesh, point, kFar);
  if (!nearest.valid()) return {};
  const float distance = static_cast<float>(double(nearest.distance) * mesh.unit);
  return {nearest.behind ? -distance : distance, nearest.triangle, nearest.normal};
}

// Whether a triangle is near a point, or above a place near it.
bool HasTrianglesNear(const LocalCollider& sensor, const Vec3& x, float reach) {
  const Vec3 local = sensor.end.ToLocal(x), margin = {reach, reach, reach};
  return sensor.mesh.HasTriangles(local - margin, local + margin);
}

}  // namespace

bool FindDeepestInMesh(const LocalCollider& sensor, const TouchingSurface& surface, NodeVectors x,
                       SensedPoint* out_deepest) {
  const TriangleSource& source = *sensor.mesh.source;
  if (source.mesh != nullptr && source.mesh->sides != MeshSides::kSolid) return false;
  Place deepest;
  const auto look_at = [&](const EmbeddedPoint& point, float reach) {
    const Place place = PlaceNear(sensor, point.Of(x), reach);
    if (!(place.gap <= 0.0f) || !(place.gap < deepest.gap)) return;
    deepest = place;
    out_deepest->point = point;
  };
  const auto look_at_vertices = [&](uint32_t tet, float reach) {
    uint32_t first = 0;
    const size_t count = VerticesOf(*surface.collision, tet, &first).size();
    for (uint32_t v = first; v < first + count; ++v) look_at(surface.Vertex(tet, v), reach);
  };
  if (!surface.has_vertices()) {
    for (uint32_t i = 0; i < surface.pinned.size(); ++i) look_at(surface.Node(i), sensor.reach);
  }
  const CollisionView& collision = *surface.collision;
  for (uint32_t t = 0; t < collision.tets.size(); ++t) {
    // No vertex is farther from the first node than one of the others is.
    const uint32_t* nodes = collision.tets[t].nodes;
    float reach = 0.0f;
    for (int k = 1; k < 4; ++k) reach = std::fmax(reach, Length(x[nodes[k]] - x[nodes[0]]));
    const float gap = PlaceNear(sensor, x[nodes[0]], reach).gap;
    if (source.mesh == nullptr && !(gap <= 0.0f)) {
      // Gaps jump at the border of a height field. A node beyond it says nothing.
      if (!HasTrianglesNear(sensor, x[nodes[0]], reach)) continue;
      look_at_vertices(t, 0.0f);
    } else if (gap - reach <= 0.0f && gap - reach < deepest.gap) {
      look_at_vertices(t, reach - gap);
    }
  }
  if (deepest.triangle == kNoTriangle) return false;
  out_deepest->gap = deepest.gap;
  out_deepest->triangle = surface.TriangleAt(out_deepest->point.id);
  out_deepest->normal = sensor.end.rotation * deepest.normal;
  out_deepest->other_triangle = deepest.triangle;
  return true;
}

}  // namespace plush
