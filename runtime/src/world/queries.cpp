// SPDX-License-Identifier: MIT
// World's queries: transform to a body's coordinates, search its surface, transform back. The
// searches are in collision/; those of colliders in collider_query.h.
#include "base/invalid.h"
#include "base/vector_math.h"
#include "collision/deformed_patch.h"
#include "collision/double_vector.h"
#include "collision/point_query.h"
#include "collision/ray_query.h"
#include "collision/vertex_positions.h"
#include "world/collider_query.h"
#include "world/world_impl.h"

#include <array>
#include <cmath>

namespace plush {
namespace {

CollisionBody View(const Body& body) {
  return {body.surface, body.simulation.nodes, body.x.span(), body.collision};
}

// Refits the body's search trees if it has moved.
void Update(Body* body) {
  if (!body->moved) return;
  Refit(body->surface, body->x.span(), &body->collision);
  body->moved = false;
}

Status CheckRay(const Ray& ray) {
  if (!IsFinite(ray.origin)) return Invalid("ray.origin", "must be finite");
  if (!IsFinite(ray.direction)) return Invalid("ray.direction", "must be finite");
  if (ray.direction.x == 0.0f && ray.direction.y == 0.0f && ray.direction.z == 0.0f) {
    return Invalid("ray.direction", "must not be zero");
  }
  if (!(ray.max_distance >= 0.0f)) return Invalid("ray.max_distance", "must not be negative");
  return {};
}

Status CheckSphere(const Vec3& centre, float radius) {
  if (!IsFinite(centre)) return Invalid("point", "must be finite");
  if (!(radius >= 0.0f)) return Invalid("distance", "must not be negative");
  return {};
}

// A point of the world in a body's coordinates [m].
std::array<double, 3> ToLocal(const Vec3& point, const Body& body) {
  const double s = body.scale;
  return {(double(point.x) - body.origin[0]) / s, (double(point.y) - body.origin[1]) / s,
          (double(point.z) - body.origin[2]) / s};
}

LocalRay ToLocal(const Ray& ray, const Body& body) {
  const std::array<double, 3> o = ToLocal(ray.origin, body);
  const double d[3] = {ray.direction.x, ray.direction.y, ray.direction.z};
  const double inverse = 1.0 / std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  return {{o[0], o[1], o[2]},
          {d[0] * inverse, d[1] * inverse, d[2] * inverse},
          double(ray.max_distance) / double(body.scale)};
}

SurfacePoint DescribeRayHit(const Body& body, const LocalRay& ray, const SurfaceHit& hit) {
  const double back[3] = {-ray.direction[0], -ray.direction[1], -ray.direction[2]};
  SurfacePoint point = DescribeHit(View(body), hit, back, body.origin, body.scale);
  point.body = {body.id};
  return point;
}

SurfacePoint DescribeNear(const Body& body, const double point[3], const SurfaceHit& hit) {
  double back[3];
  VectorToPoint(View(body), hit, point, back);
  SurfacePoint place = DescribeHit(View(body), hit, back, body.origin, body.scale);
  place.body = {body.id};
  return place;
}

// A query of a world that got no memory.
template <class Output>
Status NoWorld(Output* output) {
  const Status emptied = Empty(output);
  return emptied.ok() ? kNoWorld : emptied;
}

}  // namespace

// Calls visit(body), with refitted search trees, for the body `only` or for all bodies that pass
// the filter, in the order of slots. Leaves disabled bodies out.
template <class Visit>
Status World::Impl::ForBodies(const Targets& targets, Visit visit) const {
  if (targets.only != nullptr) {
    Body* body = nullptr;
    const Status found = FindBody(this, *targets.only, &body);
    if (!found.ok() || !body->enabled) return found;
    Update(body);
    visit(*body);
    return {};
  }
  if ((targets.filter.targets & kQueryBodies) == 0) return {};
  for (const uint32_t slot : slots) {
    Body* body = bodies[slot];
    if (!body->enabled || (body->filter.category & targets.filter.mask) == 0) continue;
    if (body->id == targets.filter.ignore.value) continue;
    Update(body);
    visit(*body);
  }
  return {};
}

// Calls visit(collider) for those that pass the filter, unless the query is for one body.
template <class Visit>
void World::Impl::ForColliders(const Targets& targets, Visit visit) const {
  const QueryFilter& filter = targets.filter;
  if (targets.only != nullptr || (filter.targets & kQueryColliders) == 0) return;
  for (const uint32_t slot : collider_slots) {
    const Collider& collider = colliders[slot];
    if ((collider.desc.filter.category & filter.mask) == 0) continue;
    if (collider.id != filter.ignore_collider.value) visit(collider);
  }
}

Status World::Impl::Raycast(const Targets& targets, const Ray& ray, SurfacePoint* out_hit) const {
  if (out_hit == nullptr) return kNoOutput;
  *out_hit = {};
  const Status checked = CheckRay(ray);
  if (!checked.ok()) return checked;
  double limit = double(ray.max_distance);
  const Status found = ForBodies(targets, [&](const Body& body) {
    LocalRay local = ToLocal(ray, body);
    local.max_t = limit / double(body.scale);
    SurfaceHit hit;
    if (!plush::Raycast(View(body), local, &hit)) return;
    const double distance = hit.distance * double(body.scale);
    if (out_hit->valid() && distance >= limit) return;  // an earlier body is as near
    limit = distance;
    *out_hit = DescribeRayHit(body, local, hit);
  });
  ForColliders(targets, [&](const Collider& collider) {
    const ColliderHits hits = RaycastCollider(collider, ray);
    if (hits.count == 0) return;
    if (!out_hit->valid() || hits.places[0].distance < out_hit->distance) *out_hit = hits.places[0];
  });
  return found;
}

Status World::Impl::RaycastAll(const Targets& targets, const Ray& ray, std::span<SurfacePoint> hits,
                               uint32_t* out_count) const {
  if (out_count == nullptr) return kNoOutput;
  *out_count = 0;
  const Status checked = CheckRay(ray);
  if (!checked.ok()) return checked;
  NearestPoints points(hits);
  const Status found = ForBodies(targets, [&](const Body& body) {
    struct Search {
      const Body& body;
      LocalRay ray;
      NearestPoints* points;
    } search = {body, ToLocal(ray, body), &points};
    ForHits(View(body), search.ray, &search, [](void* user, const SurfaceHit& hit) {
      const auto& s = *static_cast<Search*>(user);
      s.points->Add(DescribeRayHit(s.body, s.ray, hit));
      return s.ray.max_t;
    });
  });
  ForColliders(targets, [&](const Collider& collider) {
    const ColliderHits found_there = RaycastCollider(collider, ray);
    for (int i = 0; i < found_there.count; ++i) points.Add(found_there.places[i]);
  });
  *out_count = points.num_found();
  return found;
}

Status World::Impl::OverlapSphere(const Targets& targets, const Vec3& centre, float radius,
                                  std::span<SurfacePoint> touching, uint32_t* out_count) const {
  if (out_count == nullptr) return kNoOutput;
  *out_count = 0;
  const Status checked = CheckSphere(centre, radius);
  if (!checked.ok()) return checked;
  NearestPoints points(touching);
  const Status found = ForBodies(targets, [&](const Body& body) {
    struct Search {
      const Body& body;
      std::array<double, 3> point;
      double radius;
      NearestPoints* points;
    } search = {body, ToLocal(centre, body), double(radius) / double(body.scale), &points};
    const double* point = search.point.data();
    ForNear(View(body), point, search.radius, &search, [](void* user, const SurfaceHit& hit) {
      const auto& s = *static_cast<Search*>(user);
      s.points->Add(DescribeNear(s.body, s.point.data(), hit));
      return s.radius;
    });
  });
  ForColliders(targets, [&](const Collider& collider) {
    const SurfacePoint place = ClosestOnCollider(collider, centre, radius);
    if (place.valid() && place.distance <= radius) points.Add(place);
  });
  *out_count = points.num_found();
  return found;
}

Status World::Impl::ClosestPoint(const Targets& targets, const Vec3& point, float max_distance,
                                 SurfacePoint* out_point) const {
  if (out_point == nullptr) return kNoOutput;
  *out_point = {};
  const Status checked = CheckSphere(point, max_distance);
  if (!checked.ok()) return checked;
  double limit = double(max_distance);
  const Status found = ForBodies(targets, [&](const Body& body) {
    const std::array<double, 3> local = ToLocal(point, body);
    SurfaceHit hit;
    if (!plush::ClosestPoint(View(body), local.data(), limit / double(body.scale), &hit)) return;
    const double distance = hit.distance * double(body.scale);
    if (out_point->valid() && distance >= limit) return;  // an earlier body is as near
    limit = distance;
    *out_point = DescribeNear(body, local.data(), hit);
  });
  ForColliders(targets, [&](const Collider& collider) {
    const SurfacePoint place = ClosestOnCollider(collider, point, max_distance);
    if (!place.valid() || !(place.distance <= max_distance)) return;
    if (!out_point->valid() || place.distance < out_point->distance) *out_point = place;
  });
  return found;
}

// Refits disabled bodies too: after SetEnabled, queries may still run on several threads.
void World::PrepareQueries() const {
  if (impl_ == nullptr) return;
  const JobFunction update_one = [](void* context, uint32_t index) {
    Update(static_cast<Impl*>(context)->live[index]);
  };
  impl_->ListLiveBodies();
  impl_->RunJobs(impl_->slots.num_live(), update_one);
}

Status World::Raycast(const Ray& ray, const QueryFilter& filter, SurfacePoint* out_hit) const {
  return impl_ != nullptr ? impl_->Raycast({nullptr, filter}, ray, out_hit) : NoWorld(out_hit);
}

Status World::Raycast(BodyId id, const Ray& ray, SurfacePoint* out_hit) const {
  return impl_ != nullptr ? impl_->Raycast({&id, {}}, ray, out_hit) : NoWorld(out_hit);
}

Status World::RaycastAll(const Ray& ray, const QueryFilter& filter, std::span<SurfacePoint> hits,
                         uint32_t* out_count) const {
  if (impl_ == nullptr) return NoWorld(out_count);
  return impl_->RaycastAll({nullptr, filter}, ray, hits, out_count);
}

Status World::RaycastAll(BodyId id, const Ray& ray, std::span<SurfacePoint> hits,
                         uint32_t* out_count) const {
  if (impl_ == nullptr) return NoWorld(out_count);
  return impl_->RaycastAll({&id, {}}, ray, hits, out_count);
}

Status World::OverlapSphere(const Vec3& centre, float radius, const QueryFilter& filter,
                            std::span<SurfacePoint> touching, uint32_t* out_count) const {
  if (impl_ == nullptr) return NoWorld(out_count);
  return impl_->OverlapSphere({nullptr, filter}, centre, radius, touching, out_count);
}

Status World::OverlapSphere(BodyId id, const Vec3& centre, float radius,
                            std::span<SurfacePoint> touching, uint32_t* out_count) const {
  if (impl_ == nullptr) return NoWorld(out_count);
  return impl_->OverlapSphere({&id, {}}, centre, radius, touching, out_count);
}

Status World::ClosestPoint(const Vec3& point, float max_distance, const QueryFilter& filter,
                           SurfacePoint* out_point) const {
  if (impl_ == nullptr) return NoWorld(out_point);
  return impl_->ClosestPoint({nullptr, filter}, point, max_distance, out_point);
}

Status World::ClosestPoint(BodyId id, const Vec3& point, float max_distance,
                           SurfacePoint* out_point) const {
  if (impl_ == nullptr) return NoWorld(out_point);
  return impl_->ClosestPoint({&id, {}}, point, max_distance, out_point);
}

Status World::PatchOf(BodyId id, uint32_t patch, DeformedPatch* out_patch) const {
  if (out_patch == nullptr) return kNoOutput;
  *out_patch = {};
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (patch >= body->surface.patches.size()) return Invalid("patch", "no such patch");
  const CdgPatch& rest = body->surface.patches[patch];
  const CdgTet& tet = body->surface.tets[rest.tet];
  *out_patch =
      DeformPatch(rest, NodesOf(tet, body->simulation.nodes), NodesOf(tet, body->x.span()));
  const double s2 = double(body->scale) * double(body->scale);
  const Vec3& area = out_patch->vector_area;
  out_patch->vector_area = {ToFloat(s2 * double(area.x)), ToFloat(s2 * double(area.y)),
                            ToFloat(s2 * double(area.z))};
  out_patch->centroid = WorldPosition(*body, out_patch->centroid);
  out_patch->area = ToFloat(s2 * double(out_patch->area));
  return {};
}

}  // namespace plush
