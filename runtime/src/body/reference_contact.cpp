// SPDX-License-Identifier: MIT
// Contact outside the solve, for comparison. Nothing else of the runtime names what is here: a game
// links it only if its settings do.
// Based on:
// Patrick Riordan. Co-rotational Finite Element Solid Simulation with Collisions. 2015
// (8.1.1 penalties, 8.1.2 and 8.2.2 snapping)
//
// Deviation from the thesis: nodes deep below a plane snap to one that rises to it slowly. Nodes in
// solids snap at once.
#include "base/vector_math.h"
#include "body/body_colliders.h"
#include "body/contact_method.h"
#include "contact/point_masses.h"

#include <cmath>

namespace plush {
namespace {

// Depth of the deepest movable node below a plane, or 0 [m].
float DepthOfNodes(const LocalCollider& plane, const Body& body) {
  float deepest = 0.0f;
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (body.IsPinned(i)) continue;
    deepest = std::fmax(deepest, plane.offset - Dot(plane.normal, body.x[i]));
  }
  return deepest;
}

// Places the planes as at the substep's end, but no higher than lifts the deepest node by a quarter
// of a median edge, and by 25 median edges per second, beyond the plane's own motion.
void PlaceForSnap(const StepSettings& settings, int k, int count, Body* body) {
  constexpr float kMostPush = 0.25f, kMostSpeed = 25.0f;  // [median edges], [median edges per s]
  const float h = settings.dt / static_cast<float>(count);
  const float most = std::fmin(kMostPush, kMostSpeed * h) * body->simulation.median_edge;
  PlaceLocalColliders(settings, static_cast<float>(k) / static_cast<float>(count), h, body);
  for (LocalCollider& plane : body->NearColliders()) {
    const uint32_t slot = plane.slot;
    const float excess = plane.is_solid ? 0.0f : std::fmax(DepthOfNodes(plane, *body) - most, 0.0f);
    if (settings.colliders[slot].moves) {
      plane = LocalColliderAt(settings.colliders[slot],
                              static_cast<float>(k + 1) / static_cast<float>(count),
                              1.0f / static_cast<float>(count), *body);
      plane.slot = slot;
    }
    plane.offset -= excess;
  }
}

// Moves nodes inside a collider to its surface.
void Snap(const StepSettings&, float, Body* body) {
  for (size_t i = 0; i < body->x.size(); ++i) {
    if (body->IsPinned(i)) continue;
    for (const LocalCollider& collider : body->NearColliders()) {
      const Tangent tangent = collider.TangentFor(body->y[i]);
      if (tangent.gap < 0.0f) body->y[i] -= tangent.normal * tangent.gap;
    }
  }
}

// Places the planes as at the substep's start.
void PlaceForPenalty(const StepSettings& settings, int k, int count, Body* body) {
  PlaceLocalColliders(settings, static_cast<float>(k) / static_cast<float>(count),
                      settings.dt / static_cast<float>(count), body);
}

// Pushes each node inside a collider by a spring for `h` seconds.
void PushBySprings(const StepSettings& settings, float h, Body* body) {
  for (size_t i = 0; i < body->x.size(); ++i) {
    if (body->IsPinned(i)) continue;
    for (const LocalCollider& collider : body->NearColliders()) {
      const Tangent tangent = collider.TangentFor(body->x[i]);
      const float depth = -tangent.gap;
      if (depth <= 0.0f) continue;
      const float mass = body->Mass(i) * (body->scale * body->scale * body->scale);
      const float push = settings.contact.penalty_stiffness * depth * h / mass;
      body->v[i] += tangent.normal * push;
    }
  }
}

// Moves the points of two bodies to each other's surface, without friction: [Rio 8.2.2], but both
// give way. They stay as deep as bodies rest on each other; the contact would be lost otherwise.
// What was deeper before rises by 20 times that depth at most.
void SnapBetween(const StepSettings&, float, BodyContact* contact) {
  constexpr float kMostRise = 20.0f;  // [rest depths]
  const HoldingPlane& plane = contact->row.plane;
  const float allowed = std::fmax(plane.allowed - kMostRise * contact->rest, contact->rest);
  const float gap = Dot(plane.normal, InFloat(contact->WayNow())) + allowed;
  if (gap >= 0.0f) return;
  contact->row.impulse += MoveApart(plane.normal * -gap, &MovedNodes::y, contact);
}

// Pushes the points of two bodies apart by a spring for `h` seconds.
void PushBetween(const StepSettings& settings, float h, BodyContact* contact) {
  const Vec3& normal = contact->row.plane.normal;
  const float depth = -Dot(normal, InFloat(contact->WayAtStart()));
  if (depth <= 0.0f) return;
  const Vec3 push = normal * (settings.contact.penalty_stiffness * depth * h);
  AddImpulse(push, &MovedNodes::v, contact);
  contact->row.impulse += push * h;
}

}  // namespace

constinit const ContactMethod kSnapContact = {1,       PlaceForSnap, nullptr, Snap,
                                              nullptr, SnapBetween,  false};
constinit const ContactMethod kPenaltyContact = {
    2, PlaceForPenalty, PushBySprings, nullptr, PushBetween, nullptr, false};

}  // namespace plush
