// SPDX-License-Identifier: MIT
// World::AddForce, and force fields as changes of velocity at the start of a step.
// Wind is the drag equation, F = 1/2 rho C |u_n| u_n A along the normal, for each patch.
#include "world/forces.h"

#include "base/invalid.h"
#include "base/vector_math.h"
#include "collision/deformed_patch.h"
#include "collision/double_vector.h"
#include "collision/vertex_positions.h"
#include "world/world_impl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

Status CheckField(const ForceField& field) {
  const auto is_share = [](float value) { return value >= 0.0f && std::isfinite(value); };
  if (field.type > FieldType::kWind) return Invalid("type", "no such field");
  if (!IsFinite(field.vector)) return Invalid("vector", "must be finite");
  if (!IsFinite(field.centre)) return Invalid("centre", "must be finite");
  if (!(field.radius > 0.0f) || !std::isfinite(field.radius)) {
    return Invalid("radius", "must be finite and above 0");
  }
  if (!std::isfinite(field.strength)) return Invalid("strength", "must be finite");
  if (!is_share(field.air_density)) {
    return Invalid("air_density", "must be finite and not negative");
  }
  if (!is_share(field.drag)) return Invalid("drag", "must be finite and not negative");
  return {};
}

// Changes a node's velocity [m/s, divided by the body's scale], unless the result leaves float's
// range.
void Accelerate(const Vec3& change, NodeVec* velocity) {
  const Vec3 changed = *velocity + change;
  if (IsFinite(changed)) *velocity = changed;
}

void ApplyUniform(const ForceField& field, float dt, Body* body) {
  const Vec3 change = field.vector * (dt / body->scale);
  for (size_t i = 0; i < body->v.size(); ++i) {
    if (!body->IsPinned(i)) Accelerate(change, &body->v[i]);
  }
}

// The centre of a radial field as a body sees it: its coordinates divided by its scale.
class RadialField {
 public:
  RadialField(const ForceField& field, const Body& body)
      : scale_(body.scale), radius_(field.radius) {
    const double centre[3] = {field.centre.x, field.centre.y, field.centre.z};
    for (int k = 0; k < 3; ++k) centre_[k] = (centre[k] - body.origin[k]) / scale_;
  }

  /// Writes the way from the centre to `x`; returns its length [m], or infinity out of reach.
  double DistanceTo(const Vec3& x, double (&way)[3]) const {
    way[0] = scale_ * (double(x.x) - centre_[0]);
    way[1] = scale_ * (double(x.y) - centre_[1]);
    way[2] = scale_ * (double(x.z) - centre_[2]);
    const double length = std::sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
    return length < radius_ ? length : std::numeric_limits<double>::infinity();
  }

  bool Reaches(const Body& body) const {
    double way[3];
    for (size_t i = 0; i < body.x.size(); ++i) {
      if (!body.IsPinned(i) && std::isfinite(DistanceTo(body.x[i], way))) return true;
    }
    return false;
  }

 private:
  double scale_;
  double radius_;
  double centre_[3];
};

void ApplyRadial(const ForceField& field, float dt, Body* body) {
  const RadialField radial(field, *body);
  for (size_t i = 0; i < body->v.size(); ++i) {
    if (body->IsPinned(i)) continue;
    double way[3];
    const double distance = radial.DistanceTo(body->x[i], way);
    if (!(distance > 0.0) || !std::isfinite(distance)) continue;  // no direction, or out of reach
    const double speed = (1.0 - distance / double(field.radius)) * double(field.strength) *
                         double(dt) / double(body->scale);
    const double share = speed / distance;
    Accelerate({ToFloat(share * way[0]), ToFloat(share * way[1]), ToFloat(share * way[2])},
               &body->v[i]);
  }
}

// Barycentric weights of a point at rest in a tet, for its nodes.
std::array<double, 4> WeightsOf(const Vec3& point, const std::array<Vec3, 4>& rest) {
  const DoubleVector a = Difference(rest[1], rest[0]), b = Difference(rest[2], rest[0]),
                     c = Difference(rest[3], rest[0]), p = Difference(point, rest[0]);
  const double determinant = Dot(a, Cross(b, c));
  if (!(std::fabs(determinant) > 1.0e-60)) return {};
  const double s = Dot(p, Cross(b, c)) / determinant, t = Dot(p, Cross(c, a)) / determinant,
               u = Dot(p, Cross(a, b)) / determinant;
  return {1.0 - s - t - u, s, t, u};
}

// Pushes the tet of a patch. The impulse acts at the patch's centroid, along the patch's normal.
// - Patches push one after the other, each with the velocities that the former ones left. So each
//   push takes energy out of the motion relative to the air, and no wind makes a light body swing.
// - Velocities are those of the world; J changes a node's by w J / (scale^3 m).
void BlowOnPatch(const ForceField& field, float dt, const CdgPatch& patch, Body* body) {
  const CdgTet& tet = body->surface.tets[patch.tet];
  const std::array<Vec3, 4> rest = NodesOf(tet, body->simulation.nodes);
  const double scale = body->scale, scale3 = scale * scale * scale;
  const Vec3 vector_area = DeformPatch(patch, rest, NodesOf(tet, body->x.span())).vector_area;
  const DoubleVector area = {vector_area.x, vector_area.y, vector_area.z};
  const double size = std::sqrt(Dot(area, area));
  if (!(size > 0.0)) return;
  const std::array<double, 4> weights = WeightsOf(patch.centroid, rest);
  double approach = double(field.vector.x) * area.x + double(field.vector.y) * area.y +
                    double(field.vector.z) * area.z;
  double mobility = 0.0;  // change of the centroid's normal velocity per impulse [1/kg]
  for (size_t k = 0; k < 4; ++k) {
    const NodeVec& v = body->v[tet.nodes[k]];
    approach -=
        scale * weights[k] * (double(v.x) * area.x + double(v.y) * area.y + double(v.z) * area.z);
    mobility += weights[k] * weights[k] * double(body->x[tet.nodes[k]].w) / scale3;
  }
  approach /= size;
  const double pressure =
      0.5 * double(field.air_density) * double(field.drag) * std::fabs(approach) * approach;
  double impulse = pressure * size * scale * scale * double(dt);
  if (std::fabs(impulse) * mobility > std::fabs(approach)) impulse = approach / mobility;
  for (size_t k = 0; k < 4; ++k) {
    const uint32_t node = tet.nodes[k];
    const double change = weights[k] * impulse * double(body->x[node].w) / (scale3 * scale * size);
    Accelerate({ToFloat(change * area.x), ToFloat(change * area.y), ToFloat(change * area.z)},
               &body->v[node]);
  }
}

void ApplyField(const ForceField& field, float dt, Body* body) {
  switch (field.type) {
    case FieldType::kUniform:
      return ApplyUniform(field, dt, body);
    case FieldType::kRadial:
      return ApplyRadial(field, dt, body);
    case FieldType::kWind:
      for (const CdgPatch& patch : body->surface.patches) BlowOnPatch(field, dt, patch, body);
      return;
  }
}

// Whether the field can move the body.
bool Reaches(const ForceField& field, const Body& body) {
  if (field.type == FieldType::kRadial) return RadialField(field, body).Reaches(body);
  return field.type == FieldType::kUniform || !body.surface.patches.empty();
}

}  // namespace

float LimitSpeed(Body* body) {
  const double most = double(body->max_speed) / double(body->scale);
  double fastest = 0.0;
  for (size_t i = 0; i < body->v.size(); ++i) {
    NodeVec& v = body->v[i];
    const double x = v.x, y = v.y, z = v.z;
    const double speed = std::sqrt(x * x + y * y + z * z);
    if (body->IsPinned(i) || !(speed > most)) {
      fastest = std::fmax(fastest, speed);
      continue;
    }
    const double share = most / speed;
    v = Vec3{ToFloat(share * x), ToFloat(share * y), ToFloat(share * z)};
    fastest = std::fmax(fastest, most);
  }
  return ToFloat(fastest * double(body->scale));
}

Status World::AddForce(const ForceField& field) {
  const Status checked = CheckField(field);
  if (!checked.ok()) return checked;
  if (impl_ == nullptr) return kNoWorld;
  return impl_->AddForce({field, 0});
}

Status World::AddForce(BodyId id, const ForceField& field) {
  Body* body = nullptr;
  Status status = Impl::FindBody(impl_, id, &body);
  if (status.ok()) status = CheckField(field);
  if (!status.ok()) return status;
  return impl_->AddForce({field, id.value});
}

Status World::Impl::AddForce(const PendingForce& force) {
  if (!Reserve(&forces, num_forces)) return {StatusCode::kOutOfMemory, "force"};
  forces[num_forces++] = force;
  return {};
}

void World::Impl::ApplyForces() {
  if (num_forces == 0) return;
  const JobFunction push = [](void* context, uint32_t index) {
    const Impl& world = *static_cast<Impl*>(context);
    world.ApplyForcesTo(world.live[index]);
  };
  RunJobs(slots.num_live(), push);
  num_forces = 0;
}

void World::Impl::ApplyForcesTo(Body* body) const {
  if (!body->enabled || body->fixed || body->frozen) return;
  const auto acts = [body](const PendingForce& force) {
    return (force.field.mask & body->filter.category) != 0 &&
           (force.body == 0 || force.body == body->id);
  };
  const std::span<const PendingForce> pending = forces.span().first(num_forces);
  const auto wakes = [&](const PendingForce& force) {
    return force.field.wake && acts(force) && Reaches(force.field, *body);
  };
  if (body->asleep) {
    if (!std::any_of(pending.begin(), pending.end(), wakes)) return;
    WakeUp(body);
  }
  for (const PendingForce& force : pending) {
    if (acts(force)) ApplyField(force.field, dt, body);
  }
  if (std::isfinite(body->max_speed)) LimitSpeed(body);
}

}  // namespace plush
