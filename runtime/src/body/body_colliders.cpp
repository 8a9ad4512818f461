// SPDX-License-Identifier: MIT
// One body and the colliders outside the solve: placement, distances and substeps.
// Source: body_colliders.h.
#include "body/body_colliders.h"

#include "plush/pose.h"

#include "base/vector_math.h"
#include "touching/deepest_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// Calls test(node, collider) for movable nodes and near colliders until it returns true; returns
// whether it did.
template <class Test>
bool AnyPair(const Body& body, const Test& test) {
  for (size_t i = 0; i < body.x.size() && body.num_near > 0; ++i) {
    if (body.IsPinned(i)) continue;
    for (const LocalCollider& collider : body.NearColliders()) {
      if (test(i, collider)) return true;
    }
  }
  return false;
}

// How fast a node at `x` with `velocity` approaches the collider, whose motion is that of `dt`
// [m/s]. Solids can meet a face whose nodes pass them on both sides: then, how fast it moves.
float ApproachSpeed(const LocalCollider& collider, const Vec3& x, const Vec3& velocity, float dt) {
  const Vec3 relative = velocity - collider.MotionAt(x) * (1.0f / dt);
  return collider.is_solid ? Length(relative) : -Dot(collider.normal, relative);
}

// Where the point `anchor` of a solid is [m], with its collider at `pose`.
SolidPlace PlaceOf(const Pose& pose, const double (&anchor)[3], const Body& body) {
  const double inverse = 1.0 / double(body.scale);
  double arm[3] = {anchor[0], anchor[1], anchor[2]};
  Turn(RotationOf(pose.rotation), arm);
  const auto local = [&](float position, int axis) {
    return static_cast<float>((double(position) + arm[axis] - body.origin[axis]) * inverse);
  };
  return {RotationMatrix(ToQuat(RotationOf(pose.rotation))),
          {local(pose.position.x, 0), local(pose.position.y, 1), local(pose.position.z, 2)}};
}

// The mesh of a collider, with its origin near the body.
ColliderMesh MeshNear(const StepCollider& collider, const Body& body) {
  ColliderMesh mesh;
  mesh.source = &collider.mesh;
  const double scale = collider.mesh.scale;
  mesh.unit = scale / double(body.scale);
  const Vec3& position = collider.from.position;
  const double from[3] = {position.x, position.y, position.z};
  for (int k = 0; k < 3; ++k) mesh.anchor[k] = (body.origin[k] - from[k]) / scale;
  Turn(Conjugate(RotationOf(collider.from.rotation)), mesh.anchor);
  return mesh;
}

}  // namespace

LocalCollider LocalColliderAt(const StepCollider& plane, float at, float share, const Body& body) {
  LocalCollider local;
  local.coefficients = plane.coefficients;
  local.user_data = plane.user_data;
  local.is_solid = plane.is_solid;
  local.normal = plane.normal;
  double offset = plane.offset;
  const double inverse = 1.0 / double(body.scale);
  double anchor[3] = {plane.centre[0], plane.centre[1], plane.centre[2]};  // [m]
  if (plane.is_solid) {
    const float own_units = static_cast<float>(inverse);
    local.shape = plane.solid.Times(own_units);
    local.reach = body.simulation.median_edge;
    if (plane.mesh.exists()) {
      local.mesh = MeshNear(plane, body);
      for (int k = 0; k < 3; ++k) anchor[k] = local.mesh.anchor[k] * double(plane.mesh.scale);
    }
    local.anchor = Vec3{static_cast<float>(anchor[0]), static_cast<float>(anchor[1]),
                        static_cast<float>(anchor[2])} *
                   own_units;
  }
  const Pose pose = Interpolated(plane.from, plane.to, double(at));
  local.end = PlaceOf(pose, anchor, body);
  if (plane.moves) {
    double n[3] = {plane.shape.normal.x, plane.shape.normal.y, plane.shape.normal.z};
    Turn(RotationOf(pose.rotation), n);
    local.normal = {static_cast<float>(n[0]), static_cast<float>(n[1]), static_cast<float>(n[2])};
    offset = double(plane.shape.offset) + n[0] * double(pose.position.x) +
             n[1] * double(pose.position.y) + n[2] * double(pose.position.z);
    const Rotation turn = Slerp({}, plane.turn, double(share));
    const auto change_of = [&turn](double x, double y, double z) -> Vec3 {
      double to[3] = {x, y, z};
      Turn(turn, to);
      return {static_cast<float>(to[0] - x), static_cast<float>(to[1] - y),
              static_cast<float>(to[2] - z)};
    };
    local.change = {change_of(1, 0, 0), change_of(0, 1, 0), change_of(0, 0, 1)};
    const double past = double(std::fmin(share, at));  // its arm is that at the start
    const Vec3 turned =
        change_of(body.origin[0] - double(pose.position.x) + past * double(plane.shift.x),
                  body.origin[1] - double(pose.position.y) + past * double(plane.shift.y),
                  body.origin[2] - double(pose.position.z) + past * double(plane.shift.z));
    local.shift = (plane.shift * share + turned) * static_cast<float>(inverse);
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

// By how much contacts lift deep points in a substep of `h` seconds, see AllowedDepth [m]. In short
// ones the whole slop would throw bodies off. Less than the tolerance would be no contact.
static float ContactRise(const StepSettings& settings, float h, const Body& body) {
  constexpr float kTime = 1.0e-3f, kLeastShare = 0.2f;
  const float share = std::fmax(std::fmin(h / kTime, 1.0f), kLeastShare);
  return ContactSlop(settings, body) * share;
}

TouchingSurface SurfaceOf(const Body& body) {
  return {&body.surface, body.system->pinned.span(), body.simulation.tet_materials,
          body.node_materials.span()};
}

EmbeddedPoint TouchingPointAt(const Body& body, uint32_t triangle, float u, float v) {
  const TouchingSurface surface = SurfaceOf(body);
  EmbeddedPoint point =
      surface.Point(surface.num_points() + TouchingSurface::kPointsPerTriangle * triangle, u, v);
  point.id = TouchingSurface::kNoId;
  return point;
}

float SolveAccuracy(const StepSettings& settings, float h, const Body& body) {
  constexpr float kShareOfFall = 1.0e-3f, kLeastFall = 1.0e-6f;  // the latter in sizes
  const float fall = Length(GravityOf(settings, body)) * h * h;
  return std::fmin(kShareOfFall * std::fmax(fall, kLeastFall * body.size), ContactTolerance(body));
}

ContactProblem ProblemOf(const StepSettings& settings, float h, const Body& body) {
  constexpr float kReach = 0.5f, kFlush = 1.0e-3f;  // [median edges]
  return {.colliders = body.NearColliders(),
          .surface = SurfaceOf(body),
          .coefficients = {body.coefficients, body.baked.span(), settings.mix_friction,
                           settings.mix_restitution, body.user_data},
          .x = body.x.span(),
          .y = body.y.span(),
          .b = body.rhs.span(),
          .tolerance = ContactTolerance(body),
          .slop = ContactSlop(settings, body),
          .rise = ContactRise(settings, h, body),
          .flush = kFlush * body.simulation.median_edge,
          .accuracy = SolveAccuracy(settings, h, body),
          .reach = kReach * body.simulation.median_edge,
          .most_pinned = kReach * body.simulation.median_edge,
          .is_slow = body.progress.is_slow,
          .sweeps = settings.contact.sweeps};
}

// Where the body may come in the step.
static WorldBox ReachOf(const StepSettings& settings, const Body& body) {
  constexpr float kMoreThanItsVelocity = 2.0f, kShareOfEdge = 0.5f;  // elasticity moves it, too
  const float most = std::numeric_limits<float>::max();
  Vec3 low = {most, most, most}, high = -low;
  const float time = kMoreThanItsVelocity * settings.dt;
  const Vec3 gained = GravityOf(settings, body) * settings.dt;
  for (size_t i = 0; i < body.x.size(); ++i) {
    const Vec3 x = body.x[i], to = x + (body.v[i] + gained) * time;
    low = LowerOf(x, LowerOf(to, low));
    high = UpperOf(x, UpperOf(to, high));
  }
  const double margin = double(kShareOfEdge * body.simulation.median_edge), s = body.scale;
  const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
  WorldBox box;
  for (int k = 0; k < 3; ++k) {
    box.low[k] = body.origin[k] + s * (lows[k] - margin);
    box.high[k] = body.origin[k] + s * (highs[k] + margin);
  }
  return box;
}

// Whether a mesh comes near a box in the world during the step. Looks from the mesh: the box's
// middle moves from one place to another, on an arc if the mesh turns.
static bool ComesNear(const StepCollider& collider, const WorldBox& box) {
  double middle[3], half[3], from[3], to[3];
  for (int k = 0; k < 3; ++k) {
    middle[k] = 0.5 * (box.low[k] + box.high[k]);
    half[k] = 0.5 * (box.high[k] - box.low[k]);
  }
  const double reach = std::sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
  const auto to_mesh = [&](const Pose& pose, double(&out)[3]) {
    const double position[3] = {pose.position.x, pose.position.y, pose.position.z};
    for (int k = 0; k < 3; ++k) out[k] = middle[k] - position[k];
    Turn(Conjugate(RotationOf(pose.rotation)), out);
  };
  to_mesh(collider.from, from);
  to_mesh(collider.to, to);
  double way2 = 0.0;
  for (int k = 0; k < 3; ++k) way2 += (to[k] - from[k]) * (to[k] - from[k]);
  const double most = reach + 0.5 * std::sqrt(way2);  // no arc of half a turn bulges more
  ColliderMesh mesh;
  mesh.source = &collider.mesh;
  mesh.unit = collider.mesh.scale;
  float half_size[3];
  for (int k = 0; k < 3; ++k) {
    mesh.anchor[k] = 0.5 * (from[k] + to[k]) / mesh.unit;
    half_size[k] = static_cast<float>(0.5 * std::fabs(to[k] - from[k]) + most);
  }
  const Vec3 high = {half_size[0], half_size[1], half_size[2]};
  return mesh.HasTriangles(-high, high);
}

// Adds a slot in order. If there is no room, drops the greatest one and returns false.
static bool AddNear(uint32_t slot, Body* body) {
  const bool has_room = body->num_near < body->colliders.size();
  size_t at = has_room ? body->num_near++ : body->num_near - 1;
  if (!has_room && slot > body->colliders[at].slot) return false;
  for (; at > 0 && body->colliders[at - 1].slot > slot; --at) {
    body->colliders[at].slot = body->colliders[at - 1].slot;
  }
  body->colliders[at].slot = slot;
  return has_room;
}

bool FindNearColliders(const StepSettings& settings, Body* body) {
  body->num_near = 0;
  if (body->colliders.size() == 0) return true;
  bool has_room = true;
  const auto may_touch = [&](const SweptCollider& swept) {
    return MayTouch(settings.colliders[swept.slot].filter, body->filter);
  };
  for (const SweptCollider& swept : settings.half_spaces) {
    if (may_touch(swept)) has_room = AddNear(swept.slot, body) && has_room;
  }
  if (settings.bounded.empty()) return has_room;
  const WorldBox reach = ReachOf(settings, *body);
  // Those before end too early along x, as all before them.
  auto at = std::ranges::lower_bound(settings.bounded, reach.low[0], {}, &SweptCollider::farthest);
  for (; at != settings.bounded.end() && at->box.low[0] <= reach.high[0]; ++at) {
    if (!at->box.Overlaps(reach) || !may_touch(*at)) continue;
    const StepCollider& collider = settings.colliders[at->slot];
    if (collider.mesh.exists() && !ComesNear(collider, reach)) continue;
    has_room = AddNear(at->slot, body) && has_room;
  }
  return has_room;
}

void PlaceLocalColliders(const StepSettings& settings, float at, float h, Body* body) {
  const float share = h / settings.dt;
  for (LocalCollider& local : body->NearColliders()) {
    const uint32_t slot = local.slot;
    const StepCollider& collider = settings.colliders[slot];
    local = LocalColliderAt(collider, at, share, *body);
    local.slot = slot;
    local.run = local.end.rotation * (collider.surface_velocity * (h / body->scale));
    const float start_at = std::fmax(at - share, 0.0f);
    const LocalCollider start =
        collider.moves ? LocalColliderAt(collider, start_at, share, *body) : local;
    local.start_normal = start.normal;
    local.start_offset = start.offset;
    local.start = start.end;
  }
}

bool IsOnWayOut(const StepSettings& settings, const Body& body) {
  constexpr float kDeep = 2.0f;  // [slops]
  float depth = 0.0f;
  for (const LocalCollider& collider : body.NearColliders()) {
    depth = std::fmax(depth, DepthIn(collider, SurfaceOf(body), body.x.span()));
  }
  if (!(depth > kDeep * ContactSlop(settings, body))) return false;
  const float time = body.resting.time;
  if (!(time > settings.dt)) return true;  // a step alone does not show whether it is stuck
  float way = 0.0f;
  for (size_t i = 0; i < body.x.size(); ++i) {
    way = std::fmax(way, Length(body.x[i] - body.resting.x[i]));
  }
  return way > 0.5f * time / (time + settings.contact.push_out_time) * depth;
}

float DepthIn(const StepCollider& collider, const Body& body) {
  return DepthIn(LocalColliderAt(collider, 0.0f, 0.0f, body), SurfaceOf(body), body.x.span());
}

bool CanTouchColliders(const StepSettings& settings, Body* body) {
  // Elasticity may carry a node this many times as far as its velocity does.
  constexpr float kMoreThanItsVelocity = 2.0f, kShareOfEdge = 0.1f;
  FindNearColliders(settings, body);
  const auto is_solid = [](const LocalCollider& collider) { return collider.is_solid; };
  PlaceLocalColliders(settings, 0.0f, settings.dt, body);
  const float margin = kShareOfEdge * body->simulation.median_edge;
  const Vec3 gained = GravityOf(settings, *body) * settings.dt;
  const auto reaches = [&](size_t i, const LocalCollider& plane) {
    const float approach =
        std::fmax(ApproachSpeed(plane, body->x[i], body->v[i] + gained, settings.dt), 0.0f);
    const float gap = Gap(plane, body->x[i]);
    return gap <= kMoreThanItsVelocity * approach * settings.dt + margin;
  };
  const bool can = std::ranges::any_of(body->NearColliders(), is_solid) || AnyPair(*body, reaches);
  PlaceLocalColliders(settings, 1.0f, settings.dt, body);
  return can;
}

int LastSubsteps(const StepSettings& settings, const Body& body) {
  const uint32_t count = body.last_substeps;
  const bool was_as_long = count > 0 && settings.dt / static_cast<float>(count) == body.kappa_dt;
  return was_as_long ? static_cast<int>(count) : 0;
}

bool FollowsSubsteps(const StepSettings& settings, int count, const Body& body) {
  const int last = LastSubsteps(settings, body);
  return SolvesContact(settings) && last > 0 && 2 * count >= last;
}

// The number of substeps in which no near collider turns by more than 30 degrees; above
// kMaxSubsteps if that is too few. A point of a solid moves on an arc, which contacts take for
// straight in a substep.
static int SubstepsForTurns(const StepSettings& settings, const Body& body) {
  constexpr double kCosines[] = {0.9659, 0.8660, 0.7071, 0.4999};  // of half of 30, 60, 90, 120
  int most = 1;
  for (const LocalCollider& local : body.NearColliders()) {
    const StepCollider& collider = settings.colliders[local.slot];
    int count = 1;
    for (const double cosine : kCosines) count += std::fabs(collider.turn.w) < cosine ? 1 : 0;
    most = std::max(most, count);
  }
  return most;
}

bool ColliderTurnsFar(const StepSettings& settings, const Body& body, int substeps) {
  return SubstepsForTurns(settings, body) > substeps;
}

int CountSubsteps(const StepSettings& settings, const Body& body) {
  const float dt = settings.dt;
  // Distances take time. Slower approaches need no substeps, so theirs do not matter.
  constexpr float kSlow = 0.49f;  // [median edges per step]
  float fastest = kSlow * body.simulation.median_edge / dt;
  const Vec3 gained = GravityOf(settings, body) * dt;
  AnyPair(body, [&](size_t i, const LocalCollider& collider) {
    const float approach = ApproachSpeed(collider, body.x[i], body.v[i] + gained, dt);
    if (approach > fastest) {
      const float margin = collider.is_solid ? body.simulation.median_edge : 0.0f;
      const float gap = collider.TangentFor(body.x[i]).gap;
      if (gap <= approach * dt + margin) fastest = approach;
    }
    return false;
  });
  // Multipliers do not follow much longer substeps at once.
  const int last = LastSubsteps(settings, body);
  const bool has_multipliers = body.kappa_dt > 0.0f && body.solver.method == nullptr;
  float least = 1.0f;
  if (last > 0 && SolvesContact(settings)) least = static_cast<float>((last + 1) / 2);
  if (last == 0 && has_multipliers) least = std::ceil(dt / (kMostStepGrowth * body.kappa_dt));
  const float wanted = std::max({std::ceil(2.0f * fastest * dt / body.simulation.median_edge),
                                 least, static_cast<float>(SubstepsForTurns(settings, body))});
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
  return AnyPair(body, [&](size_t i, const LocalCollider& collider) {
    return collider.TangentFor(body.x[i]).gap <= tolerance;
  });
}

bool IsBelowSurface(const StepSettings& settings, float slops, Body* body) {
  if (body->num_near == 0) return false;
  const ContactProblem problem = ProblemOf(settings, settings.dt, *body);
  const float depth = slops * problem.slop;
  const auto is_known = [](const void*, const SunkPoint&) { return false; };
  return !body->contacts.sunk.Find(problem, {}, depth, is_known, nullptr).empty();
}

}  // namespace plush
