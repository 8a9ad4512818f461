// SPDX-License-Identifier: MIT
// One body and the planes outside the solve: placement, distances and substeps.
#include "body/body_planes.h"

#include "plush/pose.h"

#include "base/vector_math.h"
#include "contact/deepest_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// Calls test(node, plane) for movable nodes and planes until it returns true; returns whether it
// did.
template <class Test>
bool AnyPair(const Body& body, const Test& test) {
  for (size_t i = 0; i < body.x.size() && body.colliders.size() > 0; ++i) {
    if (body.IsPinned(i)) continue;
    for (const LocalCollider& plane : body.colliders) {
      if (test(i, plane)) return true;
    }
  }
  return false;
}

// How fast a node at `x` with `velocity` approaches the plane, whose motion is that of `dt` [m/s].
float ApproachSpeed(const LocalCollider& plane, const Vec3& x, const Vec3& velocity, float dt) {
  return -Dot(plane.normal, velocity - plane.MotionAt(x) * (1.0f / dt));
}

}  // namespace

LocalCollider LocalColliderAt(const StepCollider& plane, float at, float h, const Body& body) {
  LocalCollider local;
  local.coefficients = plane.coefficients;
  local.user_data = plane.user_data;
  local.normal = plane.normal;
  double offset = plane.offset;
  const double inverse = 1.0 / double(body.scale);
  if (plane.moves) {
    const Pose pose = Interpolated(plane.from, plane.to, double(at));
    double n[3] = {plane.shape.normal.x, plane.shape.normal.y, plane.shape.normal.z};
    Turn(RotationOf(pose.rotation), n);
    local.normal = {static_cast<float>(n[0]), static_cast<float>(n[1]), static_cast<float>(n[2])};
    offset = double(plane.shape.offset) + n[0] * double(pose.position.x) +
             n[1] * double(pose.position.y) + n[2] * double(pose.position.z);
    local.turn = plane.angular_velocity * h;
    const Vec3 arm = {static_cast<float>(body.origin[0] - double(pose.position.x)),
                      static_cast<float>(body.origin[1] - double(pose.position.y)),
                      static_cast<float>(body.origin[2] - double(pose.position.z))};
    local.shift = (plane.velocity * h + Cross(local.turn, arm)) * static_cast<float>(inverse);
  }
  offset -= double(local.normal.x) * body.origin[0] + double(local.normal.y) * body.origin[1] +
            double(local.normal.z) * body.origin[2];
  local.offset = static_cast<float>(offset * inverse);
  return local;
}

float ContactTolerance(const Body& body) {
  constexpr float kShareOfEdge = 1.0e-5f;
  return kShareOfEdge * body.simulation.median_edge;
}

float ContactSlop(const StepSettings& settings, const Body& body) {
  constexpr float kTolerances = 10.0f;
  return SolvesContact(settings) ? kTolerances * ContactTolerance(body)
                                 : std::numeric_limits<float>::infinity();
}

TouchingSurface SurfaceOf(const Body& body) {
  return {&body.surface, body.system->pinned.span(), body.simulation.tet_materials,
          body.node_materials.span()};
}

ContactProblem ProblemOf(const StepSettings& settings, float h, const Body& body) {
  constexpr float kShareOfFall = 1.0e-3f, kLeastFall = 1.0e-6f;  // the latter in sizes
  constexpr float kReach = 0.5f;                                 // [median edges]
  const float fall = Length(GravityOf(settings, body)) * h * h;
  return {.colliders = body.colliders.span(),
          .surface = SurfaceOf(body),
          .coefficients = {body.coefficients, body.baked.span(), settings.mix_friction,
                           settings.mix_restitution, body.user_data},
          .x = body.x.span(),
          .y = body.y.span(),
          .b = body.rhs.span(),
          .tolerance = ContactTolerance(body),
          .slop = ContactSlop(settings, body),
          .accuracy = std::fmin(kShareOfFall * std::fmax(fall, kLeastFall * body.size),
                                ContactTolerance(body)),
          .reach = kReach * body.simulation.median_edge,
          .sweeps = settings.contact.sweeps};
}

void PlaceLocalColliders(const StepSettings& settings, float at, float h, Body* body) {
  for (size_t p = 0; p < body->colliders.size(); ++p) {
    LocalCollider* plane = &body->colliders[p];
    *plane = {};
    if (p >= settings.colliders.size() || !MayTouch(settings.colliders[p].filter, body->filter)) continue;
    *plane = LocalColliderAt(settings.colliders[p], at, h, *body);
    const float start_at = std::fmax(at - h / settings.dt, 0.0f);
    const LocalCollider start =
        settings.colliders[p].moves ? LocalColliderAt(settings.colliders[p], start_at, h, *body) : *plane;
    plane->start_normal = start.normal;
    plane->start_offset = start.offset;
  }
}

bool IsOnWayOut(const StepSettings& settings, const Body& body) {
  constexpr float kDeep = 2.0f;  // [slops]
  const float most = kDeep * ContactSlop(settings, body);
  return std::any_of(body.colliders.begin(), body.colliders.end(), [&](const LocalCollider& plane) {
    return DepthBelow(plane, SurfaceOf(body), body.x.span()) > most;
  });
}

float DepthBelow(const StepCollider& plane, const Body& body) {
  return DepthBelow(LocalColliderAt(plane, 0.0f, 0.0f, body), SurfaceOf(body), body.x.span());
}

bool CanTouchColliders(const StepSettings& settings, Body* body) {
  // Elasticity may carry a node this many times as far as its velocity does.
  constexpr float kMoreThanItsVelocity = 2.0f, kShareOfEdge = 0.1f;
  PlaceLocalColliders(settings, 0.0f, settings.dt, body);
  const float margin = kShareOfEdge * body->simulation.median_edge;
  const Vec3 gained = GravityOf(settings, *body) * settings.dt;
  const bool can = AnyPair(*body, [&](size_t i, const LocalCollider& plane) {
    const float approach =
        std::fmax(ApproachSpeed(plane, body->x[i], body->v[i] + gained, settings.dt), 0.0f);
    const float gap = Gap(plane, body->x[i]);
    return IsUsed(plane) && gap <= kMoreThanItsVelocity * approach * settings.dt + margin;
  });
  PlaceLocalColliders(settings, 1.0f, settings.dt, body);
  return can;
}

int LastSubsteps(const StepSettings& settings, const Body& body) {
  const uint32_t count = body.last_substeps;
  const bool was_as_long = SolvesContact(settings) && count > 0 &&
                           settings.dt / static_cast<float>(count) == body.kappa_dt;
  return was_as_long ? static_cast<int>(count) : 0;
}

bool FollowsSubsteps(const StepSettings& settings, int count, const Body& body) {
  const int last = LastSubsteps(settings, body);
  return last > 0 && 2 * count >= last;
}

int CountSubsteps(const StepSettings& settings, const Body& body) {
  const float dt = settings.dt;
  float fastest = 0.0f;
  const Vec3 gained = GravityOf(settings, body) * dt;
  AnyPair(body, [&](size_t i, const LocalCollider& plane) {
    const float approach = ApproachSpeed(plane, body.x[i], body.v[i] + gained, dt);
    if (approach > fastest && Gap(plane, body.x[i]) <= approach * dt) fastest = approach;
    return false;
  });
  // Multipliers do not follow much longer substeps at once.
  const float least = static_cast<float>((LastSubsteps(settings, body) + 1) / 2);
  const float wanted =
      std::fmax(std::ceil(2.0f * fastest * dt / body.simulation.median_edge), least);
  const int most = std::min(settings.contact.max_substeps, body.Factors().num_fractions);
  if (!(wanted > 1.0f)) return 1;
  return wanted < static_cast<float>(most) ? static_cast<int>(wanted) : most;
}

bool TouchesCollider(const StepSettings& settings, const Body& body) {
  if (body.contacts.num_contacts > 0) return true;
  if (SolvesContact(settings) && !body.surface.tets.empty()) {
    return false;
  }
  const float tolerance = ContactTolerance(body);
  return AnyPair(body, [&](size_t i, const LocalCollider& plane) {
    return IsUsed(plane) && Gap(plane, body.x[i]) <= tolerance;
  });
}

bool IsBelowSurface(const StepSettings& settings, Body* body) {
  if (body->colliders.size() == 0) return false;
  const ContactProblem problem = ProblemOf(settings, settings.dt, *body);
  constexpr float kMostDepth = 3.0f;  // [slops]; less is not worth another iteration
  const float depth = kMostDepth * problem.slop;
  const auto is_known = [](const void*, const SunkPoint&) { return false; };
  return !body->contacts.sunk.Find(problem, {}, depth, is_known, nullptr).empty();
}

}  // namespace plush
