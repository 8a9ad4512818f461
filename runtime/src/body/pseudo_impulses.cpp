// SPDX-License-Identifier: MIT
// Pseudo-impulses: after each outer iteration, points that approach are stopped one after the
// other, by their nodes' masses. For comparison; nothing else of the runtime names what is here.
// Based on:
// Oscar Civit-Flores. Interactive simulation of detailed deformable solids with the corotational
//   finite element method. Thesis. (3.4.2.2 contact constraints, 3.4.2.3 post-stabilisation,
//   3.4.2.4 redundant constraints)
//
// Deviations from the thesis: points that start apart may come as near as they are, because
// contacts are found at the end of the step. Bodies rest on each other at the depth of all methods,
// and stabilisation removes what is deeper. Colliders stop the cage's nodes, with the friction of
// the body's first material.
#include "base/vector_math.h"
#include "body/body_colliders.h"
#include "body/contact_method.h"
#include "contact/point_masses.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Places the planes as at the substep's end.
void PlaceAtEnd(const StepSettings& settings, int k, int count, Body* body) {
  PlaceLocalColliders(settings, static_cast<float>(k + 1) / static_cast<float>(count),
                      settings.dt / static_cast<float>(count), body);
}

// The friction that stops a slip, for the correction `stopped` along the normal [Civ, Eq. 3.53].
Vec3 FrictionOf(const Vec3& slip, float stopped, float friction) {
  const float length = Length(slip), most = friction * stopped;
  return slip * (length > most ? -most / length : -1.0f);
}

// Share of a depth that a substep removes, k_r of [Civ, 3.4.2.3].
float ShareOut(const StepSettings& settings, float h) {
  return h / (h + settings.contact.push_out_time);
}

// Moves nodes that start inside a collider, or carry points that start inside another body, on
// their way out: by the mean of all corrections, since several may be for the same depth
// [Civ, 3.4.2.4]. Those between bodies are in `shifts` already.
void Stabilise(const StepSettings& settings, float h, Body* body) {
  const float share = ShareOut(settings, h), slop = ContactTolerance(*body);
  const std::span<NodeVec> shifts = body->d.span();
  if (body->contacts.apart.empty()) std::ranges::fill(shifts, NodeVec());
  for (size_t i = 0; i < body->x.size(); ++i) {
    if (body->IsPinned(i)) continue;
    for (const LocalCollider& collider : body->NearColliders()) {
      const Tangent tangent = collider.TangentFor(body->x[i]);
      const float depth = -tangent.gap - slop;
      if (depth <= 0.0f) continue;
      shifts[i] += tangent.normal * (share * depth);
      shifts[i].w += 1.0f;
    }
    if (shifts[i].w > 0.0f) body->x[i] += shifts[i] * (1.0f / shifts[i].w);
  }
  std::ranges::fill(shifts, NodeVec());
}

// Stops nodes that a collider meets.
void Stop(const StepSettings& settings, float h, Body* body) {
  const ContactProblem problem = ProblemOf(settings, h, *body);
  for (size_t i = 0; i < body->x.size(); ++i) {
    if (body->IsPinned(i)) continue;
    for (const LocalCollider& collider : body->NearColliders()) {
      const Tangent tangent = collider.TangentFor(body->y[i]);
      const Vec3& normal = tangent.normal;
      const auto way = [&] {
        return body->y[i] - body->x[i] - collider.MotionAt(body->x[i]) - collider.run;
      };
      // Below the surface, or as far below it as the node started.
      const float excess = std::fmax(tangent.gap, Dot(normal, way()));
      if (excess >= 0.0f) continue;
      body->y[i] -= normal * excess;
      const Vec3 moved = way(), slip = moved - normal * Dot(normal, moved);
      const float friction = problem.coefficients.Friction(EmbeddedPoint(), collider);
      body->y[i] += FrictionOf(slip, -excess, friction);
    }
  }
}

// [Civ, Eq. 3.56, 3.57]
void StabiliseBetween(const StepSettings& settings, float h, BodyContact* contact) {
  const Vec3& normal = contact->row.plane.normal;
  const float depth = -Dot(normal, InFloat(contact->WayAtStart())) - contact->rest;
  if (depth <= 0.0f) return;
  MoveApart(normal * (ShareOut(settings, h) * depth), &MovedNodes::shifts, contact);
  for (const BodyContact::Side& side : contact->sides) {
    if (side.of->is_static) continue;
    for (int k = 0; k < 4; ++k) {
      if (side.point.Free(k) > 0.0f) side.of->moved_nodes.shifts[side.point.nodes[k]].w += 1.0f;
    }
  }
}

// [Civ, Eq. 3.51 to 3.53]
void StopBetween(const StepSettings&, float, BodyContact* contact) {
  PlaneContact& row = contact->row;
  const Vec3& normal = row.plane.normal;
  const float excess = Dot(normal, InFloat(contact->WayNow())) + row.plane.allowed;
  if (excess >= 0.0f) return;
  row.impulse += MoveApart(normal * -excess, &MovedNodes::y, contact);
  const Vec3 moved = InFloat(contact->WayNow() - contact->WayAtStart());
  const Vec3 slip = moved - normal * Dot(normal, moved);
  row.impulse += MoveApart(FrictionOf(slip, -excess, row.friction), &MovedNodes::y, contact);
}

}  // namespace

constinit const ContactMethod kPseudoImpulseContact = {
    3, PlaceAtEnd, Stabilise, Stop, StabiliseBetween, StopBetween, true};

}  // namespace plush
