// SPDX-License-Identifier: MIT
// Where colliders are during a step, and the bodies that they wake.
// A turn at constant angular velocity is Cayley's: the unit quaternion along (1, omega dt / 2).
#include "plush/pose.h"

#include "base/vector_math.h"
#include "body/make_body.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace plush {
namespace {

// A collider wakes bodies that are nearer than this share of their median edge.
constexpr double kWakeDistance = 0.5;

bool AreEqual(const Pose& a, const Pose& b) {
  return IsZero(a.position - b.position) && a.rotation.x == b.rotation.x &&
         a.rotation.y == b.rotation.y && a.rotation.z == b.rotation.z &&
         a.rotation.w == b.rotation.w;
}

// A half-space in the world: dot(normal, x) = offset on the surface.
struct WorldPlane {
  Vec3 normal;
  double offset = 0.0;
};

double Dot(const Vec3& a, const double (&b)[3]) {
  return double(a.x) * b[0] + double(a.y) * b[1] + double(a.z) * b[2];
}

WorldPlane PlaceAt(const PlaneShape& plane, const Pose& pose) {
  double n[3] = {plane.normal.x, plane.normal.y, plane.normal.z};
  Turn(RotationOf(pose.rotation), n);
  WorldPlane placed;
  placed.normal = {static_cast<float>(n[0]), static_cast<float>(n[1]), static_cast<float>(n[2])};
  const double position[3] = {pose.position.x, pose.position.y, pose.position.z};
  placed.offset = double(plane.offset) + Dot(placed.normal, position);
  return placed;
}

// Whether a movable node is below the plane, or not far above it.
bool IsNear(const Body& body, const WorldPlane& plane) {
  const Vec3& n = plane.normal;
  const double offset = (plane.offset - Dot(n, body.origin)) / double(body.scale);
  const double most = offset + kWakeDistance * double(body.simulation.median_edge);
  const auto is_near = [&](const NodeVec& x) {
    return x.w != 0.0f &&
           double(n.x) * double(x.x) + double(n.y) * double(x.y) + double(n.z) * double(x.z) <=
               most;
  };
  return std::any_of(body.x.begin(), body.x.end(), is_near);
}

// The same for a plane that moves: near its first or last place.
bool IsNear(const Body& body, const PlaneShape& plane, const Pose& from, const Pose& to) {
  return IsNear(body, PlaceAt(plane, from)) ||
         (!AreEqual(from, to) && IsNear(body, PlaceAt(plane, to)));
}

// The bounding box of a solid that moves straight from one pose to another, and turns. On an arc,
// a point leaves the straight way by less than its distance times 1 - cos(angle / 2).
WorldBox SweptBox(const ColliderExtent& extent, const Pose& from, const Pose& to) {
  const Vec3& half = extent.half_extents;
  WorldBox swept;
  bool is_first = true;
  for (const Pose& pose : {from, to}) {
    double axes[3][3] = {{half.x, 0.0, 0.0}, {0.0, half.y, 0.0}, {0.0, 0.0, half.z}};
    for (double(&axis)[3] : axes) Turn(RotationOf(pose.rotation), axis);
    double centre[3] = {extent.centre.x, extent.centre.y, extent.centre.z};
    Turn(RotationOf(pose.rotation), centre);
    const double position[3] = {pose.position.x, pose.position.y, pose.position.z};
    for (int k = 0; k < 3; ++k) centre[k] += position[k];
    for (int k = 0; k < 3; ++k) {
      const double reach = std::fabs(axes[0][k]) + std::fabs(axes[1][k]) + std::fabs(axes[2][k]) +
                           double(extent.radius);
      swept.low[k] = is_first ? centre[k] - reach : std::fmin(swept.low[k], centre[k] - reach);
      swept.high[k] = is_first ? centre[k] + reach : std::fmax(swept.high[k], centre[k] + reach);
    }
    is_first = false;
  }
  const Rotation turn = RotationOf(to.rotation) * Conjugate(RotationOf(from.rotation));
  const double bulge =
      double(Length(half) + Length(extent.centre)) * (1.0 - std::fmin(std::fabs(turn.w), 1.0));
  for (int k = 0; k < 3; ++k) {
    swept.low[k] -= bulge;
    swept.high[k] += bulge;
  }
  return swept;
}

// The bounds of a body's nodes, and of the space in which colliders wake it.
WorldBox WakingBox(const Body& body) {
  const double s = body.scale, margin = kWakeDistance * double(body.simulation.median_edge);
  WorldBox box;
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double x[3] = {body.x[i].x, body.x[i].y, body.x[i].z};
    for (int k = 0; k < 3; ++k) {
      const double low = body.origin[k] + s * (x[k] - margin);
      const double high = body.origin[k] + s * (x[k] + margin);
      box.low[k] = i == 0 ? low : std::fmin(box.low[k], low);
      box.high[k] = i == 0 ? high : std::fmax(box.high[k], high);
    }
  }
  return box;
}

// The pose after moving for `dt` seconds, and the turn that leads there.
Pose Advanced(const ColliderDesc& desc, float dt, Rotation* turn) {
  Pose to = desc.pose;
  if (!IsZero(desc.velocity)) {
    const auto move = [dt](float from, float velocity) {
      return static_cast<float>(double(from) + double(velocity) * double(dt));
    };
    to.position = {move(to.position.x, desc.velocity.x), move(to.position.y, desc.velocity.y),
                   move(to.position.z, desc.velocity.z)};
  }
  if (!IsZero(desc.angular_velocity)) {
    const double half = 0.5 * double(dt);
    const Vec3& omega = desc.angular_velocity;
    *turn =
        Normalised({half * double(omega.x), half * double(omega.y), half * double(omega.z), 1.0});
    to.rotation = ToQuat(Normalised(*turn * RotationOf(desc.pose.rotation)));
  }
  return to;
}

StepCollider InStep(const Collider& collider, float dt) {
  StepCollider in_step = ColliderNow(collider);
  if (!collider.Moves()) return in_step;
  const ColliderDesc& desc = collider.desc;
  Rotation turn;
  const Pose to = collider.has_target ? collider.target : Advanced(desc, dt, &turn);
  if (!IsPosition(to.position)) return in_step;  // too far out: it rests
  in_step.moves = true;
  in_step.to = to;
  if (in_step.is_solid) in_step.swept = SweptBox(collider.extent, in_step.from, in_step.to);
  in_step.shift = collider.has_target ? to.position - desc.pose.position : desc.velocity * dt;
  // Normalised, so that what only shifts does not turn by a rounding.
  in_step.turn =
      collider.has_target
          ? Normalised(RotationOf(to.rotation) * Conjugate(RotationOf(desc.pose.rotation)))
          : turn;
  return in_step;
}

}  // namespace

ColliderExtent SurfaceExtentOf(const Collider& collider) {
  if (collider.desc.type == ShapeType::kMesh) {
    const StaticGrid& grid = collider.mesh.mesh->grid;
    const float half_scale = 0.5f * collider.mesh.scale;
    return {(grid.low + grid.high) * half_scale, (grid.high - grid.low) * half_scale, 0.0f};
  }
  const HeightFieldShape& field = collider.desc.height_field;
  const auto [lowest, highest] = std::ranges::minmax(field.heights);
  const Vec3 half = {0.5f * field.spacing * static_cast<float>(field.columns - 1),
                     0.5f * (highest - lowest),
                     0.5f * field.spacing * static_cast<float>(field.rows - 1)};
  return {{half.x, 0.5f * (highest + lowest), half.z}, half, 0.0f};
}

// What is below a height field is inside: it reaches down as far as floats do.
ColliderExtent ExtentOf(const Collider& collider) {
  if (collider.mesh.exists()) {
    ColliderExtent extent = SurfaceExtentOf(collider);
    if (collider.desc.type == ShapeType::kHeightField) {
      constexpr float kDeep = 2.0f * kMostColliderSize;
      const float highest = extent.centre.y + extent.half_extents.y;
      extent.centre.y = 0.5f * (highest - kDeep);
      // So far out, floats are 6 cm apart.
      constexpr float kRounding = 2.0f * std::numeric_limits<float>::epsilon();
      extent.half_extents.y = 0.5f * (highest + kDeep) * (1.0f + kRounding);
    }
    return extent;
  }
  const Solid solid = SolidOf(collider);
  if (solid.hull == nullptr) return {{}, solid.box.half_extents, solid.box.radius};
  const double(&centre)[3] = solid.hull->centre;
  return {
      {static_cast<float>(centre[0]), static_cast<float>(centre[1]), static_cast<float>(centre[2])},
      solid.hull->reach,
      0.0f};
}

Solid SolidOf(const Collider& collider) {
  const ColliderDesc& desc = collider.desc;
  switch (desc.type) {
    case ShapeType::kSphere:
      return {.box = {{}, desc.sphere.radius}};
    case ShapeType::kCapsule:
      return {.box = {{0.0f, desc.capsule.half_height, 0.0f}, desc.capsule.radius}};
    case ShapeType::kHull:
      return {.hull = collider.hull};
    default:
      return {.box = {desc.box.half_extents, 0.0f}};
  }
}

StepCollider ColliderNow(const Collider& collider) {
  const ColliderDesc& desc = collider.desc;
  StepCollider now;
  now.exists = true;
  now.is_solid = desc.type != ShapeType::kPlane;
  if (now.is_solid) {
    now.solid = SolidOf(collider);
    if (now.solid.hull != nullptr) std::copy_n(now.solid.hull->centre, 3, now.centre);
    now.mesh = collider.mesh;
    now.swept =
        collider.has_bounds ? collider.bounds : SweptBox(collider.extent, desc.pose, desc.pose);
  } else {
    const WorldPlane start = PlaceAt(desc.plane, desc.pose);
    now.normal = start.normal;
    now.offset = start.offset;
    constexpr double kFar = std::numeric_limits<double>::infinity();
    now.swept = {{-kFar, -kFar, -kFar}, {kFar, kFar, kFar}};
  }
  now.from = desc.pose;
  now.to = desc.pose;
  now.shape = desc.plane;
  now.coefficients = {desc.friction, desc.restitution};
  now.surface_velocity = desc.surface_velocity;
  now.is_sensor = desc.sensor;
  now.id = collider.id;
  now.user_data = desc.user_data;
  now.filter = desc.filter;
  return now;
}

bool Collider::Moves() const {
  if (has_target) return !AreEqual(desc.pose, target);
  return !IsZero(desc.velocity) || !IsZero(desc.angular_velocity);
}

void World::Impl::WakeTouching(const Collider& collider) {
  const ColliderDesc& of = collider.desc;
  if (of.sensor) return;
  const Pose& to = collider.has_target ? collider.target : of.pose;
  const bool is_solid = of.type != ShapeType::kPlane;
  const WorldBox reach = is_solid ? SweptBox(collider.extent, of.pose, to) : WorldBox{};
  for (const uint32_t slot : slots) {
    Body* body = bodies[slot];
    if (!body->asleep || !MayTouch(body->filter, of.filter)) continue;
    const bool is_near =
        is_solid ? reach.Overlaps(WakingBox(*body)) : IsNear(*body, of.plane, of.pose, to);
    if (is_near) WakeUp(body);
  }
}

// Where colliders are in the step, and lists of them. What rests needs no other look in each step.
void World::Impl::FindPlaces() {
  const uint32_t num_slots = collider_slots.num_slots();
  for (uint32_t slot = 0; slot < num_slots; ++slot) step_colliders[slot] = {};
  bool any_moves = false;
  for (const uint32_t slot : collider_slots) {
    Collider& collider = colliders[slot];
    step_colliders[slot] = InStep(collider, dt);
    if (step_colliders[slot].is_solid && !step_colliders[slot].moves) {
      collider.bounds = step_colliders[slot].swept;
      collider.has_bounds = true;
    }
    any_moves = any_moves || collider.Moves() || collider.has_target;
  }
  uint32_t count = 0;
  const auto list = [&](const auto& belongs) {
    const uint32_t before = count;
    for (const uint32_t slot : collider_slots) {
      const StepCollider& collider = step_colliders[slot];
      if (belongs(collider)) swept[count++] = {collider.swept, slot};
    }
    return count - before;
  };
  num_half_spaces = list([](const StepCollider& c) { return !c.is_sensor && !c.is_solid; });
  num_bounded = list([](const StepCollider& c) { return !c.is_sensor && c.is_solid; });
  num_sensors = list([](const StepCollider& c) { return c.is_sensor; });
  const std::span<SweptCollider> bounded = swept.span().subspan(num_half_spaces, num_bounded);
  std::ranges::sort(bounded, {},
                    [](const SweptCollider& c) { return std::make_pair(c.box.low[0], c.slot); });
  double farthest = -std::numeric_limits<double>::infinity();
  for (SweptCollider& of : bounded) {
    farthest = std::fmax(farthest, of.box.high[0]);
    of.farthest = farthest;
  }
  colliders_are_placed = !any_moves;
}

void World::Impl::PlaceColliders() {
  if (!colliders_are_placed) FindPlaces();
  const std::span<const SweptCollider> all = swept.span();
  settings.colliders = {step_colliders.data(), collider_slots.num_slots()};
  settings.half_spaces = all.first(num_half_spaces);
  settings.bounded = all.subspan(num_half_spaces, num_bounded);
  settings.sensors = all.subspan(num_half_spaces + num_bounded, num_sensors);
  if (!colliders_are_placed) WakeByColliders();
}

// Wakes the sleeping bodies that a collider reaches in this step.
void World::Impl::WakeByColliders() {
  const JobFunction wake = [](void* context, uint32_t index) {
    const Impl& world = *static_cast<Impl*>(context);
    Body* body = world.live[index];
    if (body->asleep && body->enabled && world.TouchesMovingCollider(*body)) WakeUp(body);
  };
  RunJobs(slots.num_live(), wake);
}

bool World::Impl::TouchesMovingCollider(const Body& body) const {
  if (IsAttachedToMoving(body)) return true;
  const WorldBox box = settings.bounded.empty() ? WorldBox{} : WakingBox(body);
  for (const uint32_t slot : collider_slots) {
    const StepCollider& collider = step_colliders[slot];
    const bool runs = collider.moves || !IsZero(collider.surface_velocity);
    if (!runs || collider.is_sensor || !MayTouch(body.filter, collider.filter)) continue;
    const bool is_near = collider.is_solid
                             ? collider.swept.Overlaps(box)
                             : IsNear(body, collider.shape, collider.from, collider.to);
    if (is_near) return true;
  }
  return false;
}

void World::Impl::MoveColliders() {
  if (colliders_are_placed) return;
  for (const uint32_t slot : collider_slots) {
    Collider& collider = colliders[slot];
    if (step_colliders[slot].moves) {
      collider.desc.pose = step_colliders[slot].to;
      collider.has_bounds = false;
    }
    if (!collider.has_target) continue;
    collider.has_target = false;
    collider.desc.velocity = {};
    collider.desc.angular_velocity = {};
  }
}

}  // namespace plush
