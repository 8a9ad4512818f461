// SPDX-License-Identifier: MIT
// Source: collider_query.h.
// Places and rays are turned into the solid's coordinates in double; near it, floats are enough.
#include "world/collider_query.h"

#include "plush/pose.h"

#include "collision/double_vector.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

DoubleVector operator+(const DoubleVector& a, const DoubleVector& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
DoubleVector InDouble(const Vec3& v) { return {v.x, v.y, v.z}; }
Vec3 InFloat(const DoubleVector& v) { return {ToFloat(v.x), ToFloat(v.y), ToFloat(v.z)}; }

DoubleVector Turned(const Rotation& rotation, const DoubleVector& v) {
  double turned[3] = {v.x, v.y, v.z};
  Turn(rotation, turned);
  return {turned[0], turned[1], turned[2]};
}

// A solid at its place in the world.
struct PlacedSolid {
  explicit PlacedSolid(const StepCollider& collider)
      : solid(collider.solid),
        rotation(RotationOf(collider.from.rotation)),
        centre(InDouble(collider.from.position) +
               Turned(rotation, {collider.centre[0], collider.centre[1], collider.centre[2]})) {}

  DoubleVector ToLocal(const Vec3& point) const {
    return Turned(Conjugate(rotation), InDouble(point) + centre * -1.0);
  }
  Vec3 ToWorld(const Vec3& local) const {
    return InFloat(Turned(rotation, InDouble(local)) + centre);
  }
  Vec3 DirectionToWorld(const Vec3& local) const {
    return InFloat(Turned(rotation, InDouble(local)));
  }

  Solid solid;
  Rotation rotation;
  DoubleVector centre;
};

// The part of a ray near a solid, in its coordinates: from `start` along the unit `direction`.
struct RayPiece {
  DoubleVector origin, direction;
  double start = 0.0, end = 0.0;  // [m]

  Vec3 At(double distance) const { return InFloat(origin + direction * distance); }
};

// Clips a ray by the solid's bounding ball, which is a little too large. Returns whether it meets
// the ball.
bool Clip(double radius, RayPiece* ray) {
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
  constexpr double kLarger = 1.001;
  const DoubleVector along = InDouble(ray.direction);
  RayPiece piece;
  piece.origin = placed.ToLocal(ray.origin);
  piece.direction =
      Turned(Conjugate(placed.rotation), along * (1.0 / std::sqrt(Dot(along, along))));
  piece.end = double(ray.max_distance);
  ColliderHits hits;
  if (!Clip(kLarger * double(Length(placed.solid.Reach())), &piece)) return hits;
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

}  // namespace

ColliderHits RaycastCollider(const Collider& collider, const Ray& ray) {
  const StepCollider now = ColliderNow(collider);
  ColliderHits hits = now.is_solid ? RaycastSolid(PlacedSolid(now), ray) : RaycastPlane(now, ray);
  for (SurfacePoint& place : hits.places) place.collider = {collider.id};
  return hits;
}

SurfacePoint ClosestOnCollider(const Collider& collider, const Vec3& point) {
  const StepCollider now = ColliderNow(collider);
  SurfacePoint place =
      now.is_solid ? ClosestOnSolid(PlacedSolid(now), point) : ClosestOnPlane(now, point);
  place.collider = {collider.id};
  return place;
}

}  // namespace plush
