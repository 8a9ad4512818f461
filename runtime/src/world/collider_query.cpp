// SPDX-License-Identifier: MIT
// Source: collider_query.h.
// Places and rays are turned into the shape's coordinates in double; near it, floats are enough.
#include "world/collider_query.h"

#include "plush/pose.h"

#include "collision/double_vector.h"
#include "collision/static_mesh_query.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

DoubleVector Turned(const Rotation& rotation, const DoubleVector& v) {
  double turned[3] = {v.x, v.y, v.z};
  Turn(rotation, turned);
  return {turned[0], turned[1], turned[2]};
}

// A place in the world for coordinates about `centre`, which is given in the collider's.
struct Placed {
  Placed(const Pose& pose, const DoubleVector& of_collider)
      : rotation(RotationOf(pose.rotation)),
        centre(InDouble(pose.position) + Turned(rotation, of_collider)) {}

  DoubleVector ToLocal(const Vec3& point) const {
    return Turned(Conjugate(rotation), InDouble(point) + centre * -1.0);
  }
  Vec3 ToWorld(const Vec3& local) const {
    return InFloat(Turned(rotation, InDouble(local)) + centre);
  }
  Vec3 DirectionToWorld(const Vec3& local) const {
    return InFloat(Turned(rotation, InDouble(local)));
  }

  Rotation rotation;
  DoubleVector centre;
};

// A solid at its place in the world.
struct PlacedSolid : Placed {
  explicit PlacedSolid(const StepCollider& collider)
      : Placed(collider.from, {collider.centre[0], collider.centre[1], collider.centre[2]}),
        solid(collider.solid) {}

  Solid solid;
};

// The part of a ray near a solid, in its coordinates: from `start` along the unit `direction`.
struct RayPiece {
  DoubleVector origin, direction;
  double start = 0.0, end = 0.0;  // [m]

  Vec3 At(double distance) const { return InFloat(origin + direction * distance); }
};

// The part of a valid ray in a shape's bounding ball of this radius, made a little larger. Returns
// whether it meets the ball.
bool TakePiece(const Placed& placed, double ball_radius, const Ray& ray_in_world, RayPiece* ray) {
  constexpr double kLarger = 1.001;
  const double radius = kLarger * ball_radius;
  const DoubleVector along = InDouble(ray_in_world.direction);
  ray->origin = placed.ToLocal(ray_in_world.origin);
  ray->direction = Turned(Conjugate(placed.rotation), along * (1.0 / std::sqrt(Dot(along, along))));
  ray->end = double(ray_in_world.max_distance);
  const double towards = -Dot(ray->origin, ray->direction);
  const DoubleVector nearest = ray->origin + ray->direction * towards;
  const double half2 = radius * radius - Dot(nearest, nearest);
  if (!(half2 > 0.0)) return false;
  const double half = std::sqrt(half2);
  ray->start = std::max(ray->start, towards - half);
  ray->end = std::min(ray->end, towards + half);
  return ray->start <= ray->end;
}

// Adds the place where the piece, taken from `from` to `to` [m], gets into the solid. Returns
// whether there is one.
bool AddEntry(const PlacedSolid& placed, const RayPiece& ray, double from, double to,
              ColliderHits* hits) {
  const Vec3 a = ray.At(from), b = ray.At(to);
  Tangent tangent;
  if (!FindEntry(placed.solid, a, b, &tangent)) return false;
  const double approach = -double(Dot(tangent.normal, b - a));
  const double share = std::clamp(1.0 + double(tangent.gap) / approach, 0.0, 1.0);
  const double distance = from + share * (to - from);
  SurfacePoint& place = hits->places[hits->count++];
  place.position = placed.ToWorld(ray.At(distance));
  place.normal = placed.DirectionToWorld(tangent.normal);
  place.distance = ToFloat(distance);
  place.front = from < to;
  return true;
}

ColliderHits RaycastSolid(const PlacedSolid& placed, const Ray& ray) {
  RayPiece piece;
  ColliderHits hits;
  if (!TakePiece(placed, double(Length(placed.solid.Reach())), ray, &piece)) return hits;
  const auto is_inside = [&](double distance) {
    return TangentAt(placed.solid, piece.At(distance)).gap < 0.0f;
  };
  const bool starts_inside = is_inside(piece.start), ends_inside = is_inside(piece.end);
  const bool enters = !starts_inside && AddEntry(placed, piece, piece.start, piece.end, &hits);
  if (!enters && !starts_inside) return hits;
  const bool leaves = !ends_inside && AddEntry(placed, piece, piece.end, piece.start, &hits);
  if (!leaves && !ends_inside) hits.count = 0;  // it only grazes the surface
  return hits;
}

ColliderHits RaycastPlane(const StepCollider& plane, const Ray& ray) {
  const DoubleVector normal = InDouble(plane.normal), origin = InDouble(ray.origin);
  const DoubleVector along = InDouble(ray.direction);
  const DoubleVector direction = along * (1.0 / std::sqrt(Dot(along, along)));
  const double slope = Dot(normal, direction);
  const double distance = (plane.offset - Dot(normal, origin)) / slope;
  ColliderHits hits;
  if (!(distance >= 0.0 && distance <= double(ray.max_distance))) return hits;
  SurfacePoint& place = hits.places[hits.count++];
  place.position = InFloat(origin + direction * distance);
  place.normal = plane.normal;
  place.distance = ToFloat(distance);
  place.front = slope < 0.0;
  return hits;
}

SurfacePoint ClosestOnPlane(const StepCollider& plane, const Vec3& point) {
  const DoubleVector normal = InDouble(plane.normal);
  const double gap = Dot(normal, InDouble(point)) - plane.offset;
  SurfacePoint place;
  place.position = InFloat(InDouble(point) + normal * -gap);
  place.normal = plane.normal;
  place.distance = ToFloat(std::fabs(gap));
  place.front = gap >= 0.0;
  return place;
}

// The tangent of a far point is rounded like its distance. A second one, near the surface, is not.
SurfacePoint ClosestOnSolid(const PlacedSolid& placed, const Vec3& point) {
  const Vec3 local = InFloat(placed.ToLocal(point));
  const Tangent tangent = TangentAt(placed.solid, local);
  Vec3 nearest = local - tangent.normal * tangent.gap;
  const Tangent there = TangentAt(placed.solid, nearest);
  nearest -= there.normal * there.gap;
  SurfacePoint place;
  place.position = placed.ToWorld(nearest);
  place.normal = placed.DirectionToWorld(tangent.normal);
  place.distance = std::fabs(tangent.gap);
  place.front = tangent.gap >= 0.0f;
  return place;
}

// A mesh or height field at its place in the world, about the middle of its triangles.
struct PlacedMesh : Placed {
  explicit PlacedMesh(const Collider& collider) : PlacedMesh(collider, SurfaceExtentOf(collider)) {}
  PlacedMesh(const Collider& collider, const ColliderExtent& extent)
      : Placed(collider.desc.pose, InDouble(extent.centre)),
        source(collider.mesh),
        half_extents(extent.half_extents) {
    const double centre_of_mesh[3] = {extent.centre.x, extent.centre.y, extent.centre.z};
    mesh.source = &source;
    mesh.unit = source.scale;
    for (int k = 0; k < 3; ++k) mesh.anchor[k] = centre_of_mesh[k] / mesh.unit;
  }
  PlacedMesh(const PlacedMesh&) = delete;

  // A point in the coordinates of a static mesh.
  Vec3 InMesh(const Vec3& local) const {
    const DoubleVector at = InDouble(local) * (1.0 / mesh.unit);
    return InFloat(at + DoubleVector{mesh.anchor[0], mesh.anchor[1], mesh.anchor[2]});
  }

  TriangleSource source;
  ColliderMesh mesh;
  Vec3 half_extents;  // of the triangles' bounds
};

SurfacePoint PlaceOnFace(const PlacedMesh& placed, const Vec3& at, const MeshFace& face) {
  SurfacePoint place;
  place.position = placed.ToWorld(at);
  place.normal = placed.DirectionToWorld(face.normal);
  place.triangle = face.index / 2;
  return place;
}

// Clips a ray to |coordinate| <= half.
void ClipToSlab(double origin, double direction, double half, RayPiece* ray) {
  if (direction == 0.0) return;
  const double a = (-half - origin) / direction, b = (half - origin) / direction;
  ray->start = std::max(ray->start, std::min(a, b));
  ray->end = std::min(ray->end, std::max(a, b));
}

// The first triangle of a height field on a ray, seen from either side: cell by cell.
MeshHit FindOnField(const PlacedMesh& placed, RayPiece ray, double* out_distance) {
  constexpr float kRounding = 1.0e-6f;
  const double spacing = placed.source.field.spacing;
  const Vec3 half = placed.half_extents;
  ClipToSlab(ray.origin.x, ray.direction.x, half.x + 0.5 * spacing, &ray);
  ClipToSlab(ray.origin.z, ray.direction.z, half.z + 0.5 * spacing, &ray);
  if (!(ray.start < ray.end)) return {};
  const double flat = ray.direction.x * ray.direction.x + ray.direction.z * ray.direction.z;
  const double across = std::sqrt(flat) * (ray.end - ray.start);
  const auto count = static_cast<uint32_t>(across / spacing) + 1;
  for (uint32_t i = 0; i < count; ++i) {
    const double length = (ray.end - ray.start) / count, from = ray.start + i * length;
    const Vec3 a = ray.At(from), b = ray.At(from + length);
    const Vec3 low = {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)};
    const Vec3 high = {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)};
    const Vec3 before = ray.At(from - length);  // on a triangle, its side counts
    WayToMesh way(a, b, &before, 0.0f, kRounding * placed.source.field.spacing);
    placed.mesh.ForTriangles(low, high, [&](uint32_t triangle) {
      way.Visit(placed.mesh.Face(2 * triangle));
      return true;
    });
    const MeshHit& hit = way.hit();
    if (hit.face == kNoTriangle) continue;
    const double start_gap = std::fmax(hit.start_gap, 0.0f);
    const double share = start_gap / (start_gap - double(hit.gap));
    *out_distance = from + share * length;
    return hit;
  }
  return {};
}

ColliderHits RaycastMesh(const PlacedMesh& placed, const Ray& ray) {
  ColliderHits hits;
  RayPiece piece;
  if (!TakePiece(placed, double(Length(placed.half_extents)), ray, &piece)) return hits;
  uint32_t face = kNoTriangle;
  double distance = 0.0;
  if (placed.source.mesh != nullptr) {
    const StaticHit hit =
        RaycastStaticMesh(*placed.source.mesh, placed.InMesh(piece.At(piece.start)),
                          placed.InMesh(piece.At(piece.end)), MeshSides::kBoth);
    if (hit.valid()) face = 2 * hit.triangle + (hit.front ? 0u : 1u);
    distance = piece.start + hit.parameter * (piece.end - piece.start);
  } else {
    face = FindOnField(placed, piece, &distance).face;
  }
  if (face == kNoTriangle) return hits;
  SurfacePoint& place = hits.places[hits.count++];
  place = PlaceOnFace(placed, piece.At(distance), placed.mesh.Face(face & ~1u));
  place.distance = ToFloat(distance);
  place.front = face % 2 == 0;
  return hits;
}

// The nearest point of a height field, within a reach that doubles until there is one.
NearestPoint NearestOnField(const PlacedMesh& placed, const Vec3& local, float max_distance) {
  const float farthest =
      std::fmin(2.0f * (Length(placed.half_extents) + Length(local)), max_distance);
  NearestPoint nearest;
  for (float reach = placed.source.field.spacing; nearest.face == kNoTriangle; reach *= 2.0f) {
    nearest = placed.mesh.FindNearest(local, reach, nullptr);
    if (!(reach < farthest)) break;
  }
  // The one right above may be farther than others.
  return nearest.face == kNoTriangle ? nearest
                                     : placed.mesh.FindNearest(local, nearest.distance, nullptr);
}

SurfacePoint ClosestOnMesh(const PlacedMesh& placed, const Vec3& point, float max_distance) {
  constexpr float kLarger = 1.0001f;  // the caller decides in its own rounding
  max_distance *= kLarger;
  const Vec3 local = InFloat(placed.ToLocal(point));
  SurfacePoint place;
  if (placed.source.mesh != nullptr) {
    const StaticNearest nearest = NearestOfStaticMesh(*placed.source.mesh, placed.InMesh(local),
                                                      max_distance / placed.source.scale);
    if (!nearest.valid()) return place;
    const DoubleVector at = InDouble(nearest.point) * placed.mesh.unit;
    const DoubleVector anchor = {placed.mesh.anchor[0], placed.mesh.anchor[1],
                                 placed.mesh.anchor[2]};
    place = PlaceOnFace(placed, InFloat(at + anchor * -placed.mesh.unit),
                        placed.mesh.Face(2 * nearest.triangle));
    place.distance = nearest.distance * placed.source.scale;
    place.front = !nearest.behind;
    return place;
  }
  const NearestPoint nearest = NearestOnField(placed, local, max_distance);
  if (nearest.face == kNoTriangle) return place;
  const MeshFace face = placed.mesh.Face(nearest.face);
  place = PlaceOnFace(placed, NearestTo(face, local), face);
  place.distance = nearest.distance;
  place.front = nearest.gap >= 0.0f;
  return place;
}

}  // namespace

ColliderHits RaycastCollider(const Collider& collider, const Ray& ray) {
  const StepCollider now = ColliderNow(collider);
  ColliderHits hits = collider.mesh.exists() ? RaycastMesh(PlacedMesh(collider), ray)
                      : now.is_solid         ? RaycastSolid(PlacedSolid(now), ray)
                                             : RaycastPlane(now, ray);
  for (SurfacePoint& place : hits.places) place.collider = {collider.id};
  return hits;
}

SurfacePoint ClosestOnCollider(const Collider& collider, const Vec3& point, float max_distance) {
  const StepCollider now = ColliderNow(collider);
  SurfacePoint place = collider.mesh.exists()
                           ? ClosestOnMesh(PlacedMesh(collider), point, max_distance)
                       : now.is_solid ? ClosestOnSolid(PlacedSolid(now), point)
                                      : ClosestOnPlane(now, point);
  const bool is_found = !collider.mesh.exists() || place.valid();
  if (is_found) place.collider = {collider.id};
  return place;
}

}  // namespace plush
