// SPDX-License-Identifier: MIT
// Source: touches.h.
// With s the body's scale, its own impulses count s^4, moments s^5 (see Body).
#include "body/touches.h"

#include "base/id_layout.h"
#include "base/vector_math.h"
#include "body/body_colliders.h"
#include "touching/sensor_overlap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {
namespace {

constexpr size_t kNotNear = SIZE_MAX;

// The place of a collider among the near ones, or kNotNear.
size_t NearIndex(uint32_t slot, const Body& body) {
  const std::span<const LocalCollider> near = body.NearColliders();
  const auto at = std::ranges::lower_bound(near, slot, {}, &LocalCollider::slot);
  if (at == near.end() || at->slot != slot) return kNotNear;
  return static_cast<size_t>(at - near.begin());
}

void AddImpulse(const Vec3& impulse, float pressing, const PlaneContact& contact, TouchSums* sums) {
  sums->impulse += impulse;
  sums->moment += Cross(contact.offset, impulse);
  sums->pressing += pressing;
  sums->weighted_arm += contact.offset * pressing;
  sums->weighted_normal += contact.plane.normal * pressing;
}

Vec3 UnitOr(const Vec3& v, const Vec3& other) {
  const float length = Length(v);
  return length > 0.0f && std::isfinite(length) ? v * (1.0f / length) : other;
}

// The bounds of the body's nodes.
WorldBox BoxOf(const Body& body) {
  Vec3 low = body.x[0], high = low;
  for (const NodeVec& x : body.x) {
    low = {std::fmin(low.x, x.x), std::fmin(low.y, x.y), std::fmin(low.z, x.z)};
    high = {std::fmax(high.x, x.x), std::fmax(high.y, x.y), std::fmax(high.z, x.z)};
  }
  const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
  WorldBox box;
  for (int k = 0; k < 3; ++k) {
    box.low[k] = body.origin[k] + double(body.scale) * lows[k];
    box.high[k] = body.origin[k] + double(body.scale) * highs[k];
  }
  return box;
}

Touch TouchOf(const StepCollider& collider, const LocalCollider& sensor, float dt,
              const SensedPoint& sensed, const Body& body) {
  const Vec3 x = sensed.point.Of(body.x.span());
  Touch touch;
  touch.collider = collider.id;
  touch.is_sensor = true;
  touch.point = WorldPosition(body, x);
  touch.normal = sensed.normal;
  const Vec3 start = x - sensor.MotionAt(x);  // about where what is now at x came from
  const Vec3 approach = sensor.MotionAt(start) * (1.0f / dt) - sensed.point.Of(body.v.span());
  touch.approach_speed = body.scale * std::fmax(Dot(touch.normal, approach), 0.0f);
  touch.triangle = sensed.triangle;
  touch.other_triangle = sensed.other_triangle;
  return touch;
}

}  // namespace

void StartTouches(Body* body) {
  body->num_found = 0;
  std::fill_n(body->sums.begin(), body->num_near, TouchSums{});
}

void AddTouches(float h, Body* body) {
  for (PlaneContact& contact : body->contacts.Current()) {
    const size_t near = NearIndex(contact.collider, *body);
    if (near == kNotNear) continue;
    const LocalCollider& collider = body->colliders[near];
    TouchSums& sums = body->sums[near];
    const EmbeddedPoint& point = body->contacts.PointOf(contact);
    contact.offset = point.Of(body->y) - collider.end.position;
    const float pressing = NormalImpulse(contact) / h;
    AddImpulse(contact.impulse * (1.0f / h), pressing, contact, &sums);
    const Vec3 carried = collider.MotionAt(point.Of(body->x)) * (1.0f / h);
    const float approach = Dot(contact.plane.normal, carried - point.Of(body->v));
    sums.approach_speed = std::fmax(sums.approach_speed, approach);
    if (pressing > sums.strongest) {
      sums.strongest = pressing;
      sums.point = point.id;
      sums.face = contact.face;
    }
  }
}

void AddReboundTouches(float share, Body* body) {
  for (const PlaneContact& contact : body->contacts.Current()) {
    const size_t near = NearIndex(contact.collider, *body);
    if (near == kNotNear || contact.push == 0.0f) continue;
    const float pressing = share * contact.push;
    AddImpulse(contact.plane.normal * pressing, pressing, contact, &body->sums[near]);
  }
}

void FinishTouches(const StepSettings& settings, Body* body) {
  const float s = body->scale, s4 = s * s * s * s;
  for (size_t i = 0; i < body->num_near; ++i) {
    const TouchSums& sums = body->sums[i];
    if (!(sums.pressing > 0.0f)) continue;
    const LocalCollider& collider = body->colliders[i];
    Touch& touch = body->found[body->num_found++] = {};
    touch.collider = settings.colliders[collider.slot].id;
    touch.force = sums.impulse * (-s4 / settings.dt);
    const Vec3 moment = sums.moment + Cross(collider.AnchorArm(), sums.impulse);
    touch.torque = moment * (-s4 * s / settings.dt);
    if (!IsFinite(touch.force) || !IsFinite(touch.torque)) touch.force = touch.torque = {};
    const Vec3 arm = sums.weighted_arm * (1.0f / sums.pressing);
    touch.point = WorldPosition(*body, collider.end.position + arm);
    touch.normal = UnitOr(sums.weighted_normal, {0.0f, 1.0f, 0.0f});
    touch.impulse = s4 * sums.pressing;
    touch.approach_speed = s * sums.approach_speed;
    if (body->report_contacts) touch.triangle = SurfaceOf(*body).TriangleAt(sums.point);
    if (sums.face != kNoTriangle) touch.other_triangle = sums.face / 2;
  }
}

bool FindSensors(const StepSettings& settings, Body* body) {
  if (settings.sensors.empty()) return true;
  const WorldBox box = BoxOf(*body);
  bool has_room = true;
  for (const SweptCollider& swept : settings.sensors) {
    const StepCollider& collider = settings.colliders[swept.slot];
    if (!swept.box.Overlaps(box) || !MayTouch(collider.filter, body->filter)) continue;
    const LocalCollider sensor = LocalColliderAt(collider, 1.0f, 1.0f, *body);
    SensedPoint sensed;
    if (!FindDeepestInSensor(sensor, SurfaceOf(*body), body->x.span(), &sensed)) continue;
    if (body->num_found == body->found.size()) {
      has_room = false;
      break;
    }
    body->found[body->num_found++] = TouchOf(collider, sensor, settings.dt, sensed, *body);
  }
  std::ranges::sort(body->found.span().first(body->num_found), {},
                    [](const Touch& touch) { return SlotOf(touch.collider); });
  return has_room;
}

}  // namespace plush
