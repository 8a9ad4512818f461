// SPDX-License-Identifier: MIT
// Points of a body's surface, their coefficients and the planes that hold them.
// Source: contact_problem.h.
#include "colliders/swept_triangle.h"
#include "collision/surface_records.h"
#include "touching/contact_problem.h"
#include "touching/triangle_code.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {

bool EmbeddedPoint::IsAt(const EmbeddedPoint& other) const {
  return std::ranges::equal(nodes, other.nodes) && std::ranges::equal(weights, other.weights);
}

EmbeddedPoint TouchingSurface::Node(uint32_t id) const {
  EmbeddedPoint point = {.id = id, .nodes = {id, id, id, id}, .weights = {1.0f, 0.0f, 0.0f, 0.0f}};
  if (!node_materials.empty()) point.material = node_materials[id];
  point.pinned = pinned[id] != 0 ? 0b1111 : 0;
  return point;
}

// The nodes stay in ascending order, those without weight move to the end and become the first one:
// a vertex on a face gets the same nodes from both tets.
EmbeddedPoint TouchingSurface::WithWeights(uint32_t tet, uint32_t id, const float* weights) const {
  const CdgTet& carrier = collision->tets[tet];
  EmbeddedPoint point;
  point.id = id;
  if (!tet_materials.empty()) point.material = tet_materials[carrier.tet];
  int count = 0;
  for (int k = 0; k < 4; ++k) {
    if (weights[k] == 0.0f) continue;
    point.nodes[count] = carrier.nodes[k];
    point.weights[count] = weights[k];
    if (pinned[carrier.nodes[k]] != 0) point.pinned |= static_cast<uint8_t>(1 << count);
    ++count;
  }
  for (int k = count; k < 4; ++k) point.nodes[k] = point.nodes[0];
  return point;
}

EmbeddedPoint TouchingSurface::Vertex(uint32_t tet, uint32_t id) const {
  const Vec4& w = collision->vertices[id];
  const float weights[4] = {w.x, w.y, w.z, w.w};
  return WithWeights(tet, id, weights);
}

EmbeddedPoint TouchingSurface::Inside(uint32_t tet, uint32_t triangle, float u, float v) const {
  Vec4 corners[3];
  WithTriangles(*collision, [&](const auto& triangles) {
    for (int k = 0; k < 3; ++k) {
      corners[k] = collision->vertices[VertexOf(triangles[triangle], k)];
    }
  });
  const auto mean = [&](float Vec4::*weight) {
    return corners[0].*weight * (1.0f - u - v) + corners[1].*weight * u + corners[2].*weight * v;
  };
  const float weights[4] = {mean(&Vec4::x), mean(&Vec4::y), mean(&Vec4::z), mean(&Vec4::w)};
  EmbeddedPoint point = WithWeights(tet, num_points() + kPointsPerTriangle * triangle, weights);
  point.u = u;
  point.v = v;
  return point;
}

EmbeddedPoint TouchingSurface::Point(uint32_t id, float u, float v) const {
  if (!has_vertices()) return Node(id);
  const bool is_inside = IsInside(id);
  const uint32_t at = is_inside ? TriangleOf(id) : id;
  const auto after = std::ranges::upper_bound(
      collision->patches, at, {}, is_inside ? &CdgPatch::first_triangle : &CdgPatch::first_vertex);
  const uint32_t tet = (after - 1)->tet;
  EmbeddedPoint point = is_inside ? Inside(tet, at, u, v) : Vertex(tet, id);
  point.id = id;
  return point;
}

uint32_t TouchingSurface::TriangleAt(uint32_t id) const {
  if (!has_vertices()) return UINT32_MAX;
  if (IsInside(id)) return TriangleOf(id);
  const auto after = std::ranges::upper_bound(collision->patches, id, {}, &CdgPatch::first_vertex);
  const auto patch = static_cast<uint32_t>(after - collision->patches.begin()) - 1;
  return WithTriangles(*collision, [&](const auto& triangles) {
    const uint32_t end = TrianglesEnd(*collision, patch);
    for (uint32_t i = collision->patches[patch].first_triangle; i < end; ++i) {
      for (int k = 0; k < 3; ++k) {
        if (VertexOf(triangles[i], k) == id) return i;
      }
    }
    return UINT32_MAX;
  });
}

Tangent LocalCollider::TangentFor(const Vec3& x) const {
  if (!is_solid) return {normal, Gap(*this, x)};
  const Vec3 local = end.ToLocal(x);
  Tangent tangent = {{}, std::numeric_limits<float>::infinity()};
  if (!is_mesh()) {
    tangent = TangentAt(shape, local);
  } else if (const NearestPoint nearest =
                 mesh.source->code->find_nearest(mesh, local, reach, nullptr);
             nearest.face != kNoTriangle) {
    tangent = {nearest.normal, std::copysign(nearest.distance, nearest.gap)};
  }
  return {end.rotation * tangent.normal, tangent.gap};
}

HoldingPlane PlaneOfFace(const LocalCollider& collider, uint32_t face, const Vec3& start,
                         float rise) {
  const MeshFace of = collider.mesh.Face(face);
  const Vec3 normal = collider.end.rotation * of.normal;
  return {normal, Dot(normal, collider.end.position) + Dot(of.normal, of.corners[0]),
          AllowedDepth(of.Gap(collider.start.ToLocal(start)), rise)};
}

HoldingPlane PlaneOfRidge(const LocalCollider& collider, const RidgePoint& at, const Vec3& start,
                          float rise) {
  const Vec3 normal = collider.end.rotation * at.normal;
  const float start_gap = Dot(at.normal, collider.start.ToLocal(start)) - at.offset;
  return {normal, Dot(normal, collider.end.position) + at.offset, AllowedDepth(start_gap, rise)};
}

HoldingPlane FindHoldingPlane(const LocalCollider& collider, const Vec3& start, const Vec3& end,
                              float rise) {
  if (!collider.is_solid) {
    return {collider.normal, collider.offset, AllowedDepth(StartGap(collider, start), rise)};
  }
  const Vec3 from = collider.start.ToLocal(start);
  const Tangent nearest = TangentAt(collider.shape, from);
  const Vec3 to = collider.end.ToLocal(end);
  Tangent plane = nearest;
  plane.gap += Dot(nearest.normal, to - from);
  if (nearest.gap >= 0.0f) {
    Tangent entered;
    if (FindEntry(collider.shape, from, to, &entered)) plane = entered;
  }
  const Vec3 normal = collider.end.rotation * plane.normal;
  return {normal, Dot(normal, end) - plane.gap, AllowedDepth(nearest.gap, rise)};
}

HoldingPlane FindHoldingPlane(const LocalCollider& solid, const Vec3* corners,
                              const TrianglePoint& point, const Vec3& start, float rise) {
  const Tangent between = PlaneBetween(solid.shape, corners, point);
  const Vec3 at =
      corners[0] * (1.0f - point.u - point.v) + corners[1] * point.u + corners[2] * point.v;
  const float offset = Dot(between.normal, at) - between.gap;  // in the solid's coordinates
  const Vec3 normal = solid.end.rotation * between.normal;
  return {normal, Dot(normal, solid.end.position) + offset,
          AllowedDepth(Dot(between.normal, solid.start.ToLocal(start)) - offset, rise)};
}

SweptTriangle ContactProblem::TriangleAround(const LocalCollider& solid, const EmbeddedPoint& point,
                                             std::span<const NodeVec> moved) const {
  SweptTriangle swept;
  const auto set = [&](int k, const Vec3& start, const Vec3& end) {
    swept.from[k] = solid.start.ToLocal(start);
    swept.to[k] = solid.end.ToLocal(end);
  };
  const auto set_corner = [&](int k, const EmbeddedPoint& corner) {
    set(k, corner.Of(x), EndOf(corner, moved));
  };
  const uint32_t triangle = surface.TriangleAt(point.id);
  if (triangle != UINT32_MAX) {
    surface.ForCorners(surface.num_points() + TouchingSurface::kPointsPerTriangle * triangle,
                       set_corner);
    return swept;
  }
  Vec3 start, end;
  const size_t count = surface.pinned.size();
  for (size_t i = 0; i < count; ++i) {
    start += x[i];
    end += moved.empty() ? Vec3(y[i]) : y[i] + moved[i];
  }
  const float share = 1.0f / static_cast<float>(count);
  set_corner(0, point);
  for (const int k : {1, 2}) set(k, start * share, end * share);
  return swept;
}

void ContactProblem::GiveWay(const LocalCollider& solid, const EmbeddedPoint& point,
                             std::span<const NodeVec> moved, HoldingPlane* plane) const {
  const Vec3 start = point.Of(x), end = EndOf(point, moved);
  if (!(Dot(plane->normal, end) - plane->offset < 0.0f)) return;
  const Vec3 from = solid.start.ToLocal(start), to = solid.end.ToLocal(end);
  const SolidFace held = {TransposeTimes(solid.end.rotation, plane->normal),
                          plane->offset - Dot(plane->normal, solid.end.position)};
  // Most points have no other face in front: that takes no look at their triangles.
  const SweptTriangle alone = {{from, from, from}, {to, to, to}};
  const SolidFace never = {held.normal, std::numeric_limits<float>::infinity()};
  if (IsZero(FindEasierFace(solid.shape, {alone, never, from, to, flush}).normal)) return;
  const SweptTriangle triangle = TriangleAround(solid, point, moved);
  const SolidFace face = FindEasierFace(solid.shape, {triangle, held, from, to, flush});
  if (IsZero(face.normal)) return;
  plane->normal = solid.end.rotation * face.normal;
  plane->offset = Dot(plane->normal, solid.end.position) + face.offset;
  plane->allowed = AllowedDepth(StartGap(solid, *plane, start), rise);
}

HoldingPlane ContactProblem::PlaneFor(const LocalCollider& collider, const EmbeddedPoint& point,
                                      std::span<const NodeVec> moved) const {
  const Vec3 start = point.Of(x);
  if (!collider.is_solid || !surface.IsInside(point.id)) {
    HoldingPlane plane = FindHoldingPlane(collider, start, EndOf(point, moved), rise);
    if (collider.is_solid) GiveWay(collider, point, moved, &plane);
    return plane;
  }
  const SweptTriangle swept = TriangleAround(collider, point, moved);
  const TrianglePoint at = {point.u, point.v, 0.0f};
  TrianglePoint entry;
  Tangent between;
  const bool may_pass = MayPass(collider.shape, swept);
  if (may_pass && FindEntry(collider.shape, swept, &entry, &between)) {
    const float offset = Dot(between.normal, PointOf(swept.to, entry)) - between.gap;
    const Vec3 normal = collider.end.rotation * between.normal;
    return {normal, Dot(normal, collider.end.position) + offset, 0.0f};
  }
  // The end of a long way may be nearer to the wrong side of the solid.
  const Vec3* const corners = may_pass ? swept.from : swept.to;
  HoldingPlane plane = FindHoldingPlane(collider, corners, at, start, rise);
  GiveWay(collider, point, moved, &plane);
  return plane;
}

namespace {

std::span<const LocalCollider>::iterator FindSlot(std::span<const LocalCollider> colliders,
                                                  uint32_t slot) {
  return std::ranges::lower_bound(colliders, slot, {}, &LocalCollider::slot);
}

}  // namespace

const LocalCollider& ContactProblem::InSlot(uint32_t slot) const {
  return *FindSlot(colliders, slot);
}

bool ContactProblem::HasSlot(uint32_t slot) const {
  const auto at = FindSlot(colliders, slot);
  return at != colliders.end() && at->slot == slot;
}

Coefficients LocalCollider::CoefficientsOn(uint32_t face) const {
  if (face == kNoTriangle || !is_mesh() || !mesh.source->gives_coefficients) return coefficients;
  const TriangleSource& source = *mesh.source;
  const MaterialView of_face = source.asset->material(source.mesh->materials[face / 2]);
  return {of_face.friction >= 0.0f ? of_face.friction : coefficients.friction,
          of_face.restitution >= 0.0f ? of_face.restitution : coefficients.restitution};
}

float CoefficientRules::Friction(const EmbeddedPoint& point, const LocalCollider& collider,
                                 uint32_t face) const {
  const float baked_one = baked.empty() ? -1.0f : baked[point.material].friction;
  const float own = body.friction >= 0.0f ? body.friction : baked_one;
  const float other = collider.CoefficientsOn(face).friction;
  if (mix_friction != nullptr) {
    const float mixed = mix_friction(own, user_data, other, collider.user_data);
    return mixed > 0.0f && std::isfinite(mixed) ? mixed : 0.0f;
  }
  if (own >= 0.0f && other >= 0.0f) return std::sqrt(own) * std::sqrt(other);
  constexpr float kDefault = 0.5f;
  return own >= 0.0f ? own : other >= 0.0f ? other : kDefault;
}

float CoefficientRules::Restitution(const EmbeddedPoint& point, const LocalCollider& collider,
                                    uint32_t face) const {
  const float baked_one = baked.empty() ? -1.0f : baked[point.material].restitution;
  const float own = body.restitution >= 0.0f ? body.restitution : baked_one;
  const float other = collider.CoefficientsOn(face).restitution;
  const float mixed = mix_restitution != nullptr
                          ? mix_restitution(own, user_data, other, collider.user_data)
                          : std::fmax(own, other);
  return mixed > 0.0f && std::isfinite(mixed) ? std::fmin(mixed, 1.0f) : 0.0f;
}

}  // namespace plush
