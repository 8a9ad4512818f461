// SPDX-License-Identifier: MIT
// World's calls on colliders, their motion in a step, and the bodies that they wake.
// A turn at constant angular velocity is Cayley's: the unit quaternion along (1, omega dt / 2).
#include "plush/pose.h"

#include "base/vector_math.h"
#include "body/make_body.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

// A collider wakes bodies that are nearer than this share of their median edge.
constexpr double kWakeDistance = 0.5;

Status Invalid(const char* argument, const char* reason) {
  return {StatusCode::kInvalidArgument, argument, reason, 0};
}

Status CheckVelocities(const Vec3& velocity, const Vec3& angular_velocity) {
  if (!IsFinite(velocity)) return Invalid("velocity", "must be finite");
  if (!IsFinite(angular_velocity)) return Invalid("angular_velocity", "must be finite");
  return {};
}

Status CheckFriction(float friction) {
  if (std::isfinite(friction)) return {};
  return Invalid("friction", "must be finite");
}

Status CheckRestitution(float restitution) {
  if (restitution <= 1.0f && std::isfinite(restitution)) return {};
  return Invalid("restitution", "must be finite and at most 1");
}

// Coefficients that are not given are -1.
float Given(float coefficient) { return coefficient < 0.0f ? -1.0f : coefficient; }

bool IsZero(const Vec3& v) { return v.x == 0.0f && v.y == 0.0f && v.z == 0.0f; }

// v / |v|, or zero if v is zero or not finite.
Vec3 UnitVector(const Vec3& v) {
  const float length = Length(v);
  if (length > 1.0e-15f && std::isfinite(length)) return v * (1.0f / length);
  const double x = v.x, y = v.y, z = v.z;
  const double exact = std::sqrt(x * x + y * y + z * z);
  if (!(exact > 0.0) || !std::isfinite(exact)) return {};
  return {static_cast<float>(x / exact), static_cast<float>(y / exact),
          static_cast<float>(z / exact)};
}

// Shapes that the type does not name go back to their defaults: states do not hold them.
ColliderDesc OnlyItsShape(const ColliderDesc& desc) {
  ColliderDesc only = desc;
  if (desc.type != ShapeType::kPlane) only.plane = {};
  if (desc.type != ShapeType::kSphere) only.sphere = {};
  if (desc.type != ShapeType::kCapsule) only.capsule = {};
  if (desc.type != ShapeType::kBox) only.box = {};
  only.plane.normal = UnitVector(only.plane.normal);
  return only;
}

Status CheckShape(const ColliderDesc& desc) {
  const auto is_length = [](float x) { return x > 0.0f && x <= kMostColliderSize; };
  const char* const reason = "must be above 0 and at most 1e6";
  switch (desc.type) {
    case ShapeType::kPlane:
      if (IsZero(UnitVector(desc.plane.normal))) {
        return Invalid("plane.normal", "must be finite and not zero");
      }
      if (!std::isfinite(desc.plane.offset)) return Invalid("plane.offset", "must be finite");
      return {};
    case ShapeType::kSphere:
      return is_length(desc.sphere.radius) ? Status{} : Invalid("sphere.radius", reason);
    case ShapeType::kCapsule:
      if (!(desc.capsule.half_height == 0.0f || is_length(desc.capsule.half_height))) {
        return Invalid("capsule.half_height", "must be at least 0 and at most 1e6");
      }
      return is_length(desc.capsule.radius) ? Status{} : Invalid("capsule.radius", reason);
    case ShapeType::kBox: {
      const Vec3& half = desc.box.half_extents;
      const bool is_box = is_length(half.x) && is_length(half.y) && is_length(half.z);
      return is_box ? Status{} : Invalid("box.half_extents", reason);
    }
  }
  return Invalid("type", "no such shape");
}

Status CheckDescription(const ColliderDesc& desc) {
  Status status = CheckShape(desc);
  if (status.ok()) status = CheckPose(desc.pose);
  if (status.ok()) status = CheckVelocities(desc.velocity, desc.angular_velocity);
  if (status.ok()) status = CheckFriction(desc.friction);
  if (status.ok()) status = CheckRestitution(desc.restitution);
  return status;
}

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

// The desc's solid; any if it is a plane.
RoundedBox SolidOf(const ColliderDesc& desc) {
  switch (desc.type) {
    case ShapeType::kSphere:
      return {{}, desc.sphere.radius};
    case ShapeType::kCapsule:
      return {{0.0f, desc.capsule.half_height, 0.0f}, desc.capsule.radius};
    default:
      return {desc.box.half_extents, 0.0f};
  }
}

// The bounding box of a solid that moves straight from one pose to another, and turns. On an arc,
// a point leaves the straight way by less than its distance times 1 - cos(angle / 2).
WorldBox SweptBox(const RoundedBox& solid, const Pose& from, const Pose& to) {
  const Vec3& half = solid.half_extents;
  WorldBox swept;
  bool is_first = true;
  for (const Pose& pose : {from, to}) {
    double axes[3][3] = {{half.x, 0.0, 0.0}, {0.0, half.y, 0.0}, {0.0, 0.0, half.z}};
    for (double(&axis)[3] : axes) Turn(RotationOf(pose.rotation), axis);
    const double centre[3] = {pose.position.x, pose.position.y, pose.position.z};
    for (int k = 0; k < 3; ++k) {
      const double reach = std::fabs(axes[0][k]) + std::fabs(axes[1][k]) + std::fabs(axes[2][k]) +
                           double(solid.radius);
      swept.low[k] = is_first ? centre[k] - reach : std::fmin(swept.low[k], centre[k] - reach);
      swept.high[k] = is_first ? centre[k] + reach : std::fmax(swept.high[k], centre[k] + reach);
    }
    is_first = false;
  }
  const Rotation turn = RotationOf(to.rotation) * Conjugate(RotationOf(from.rotation));
  const double bulge = double(Length(half)) * (1.0 - std::fmin(std::fabs(turn.w), 1.0));
  for (int k = 0; k < 3; ++k) {
    swept.low[k] -= bulge;
    swept.high[k] += bulge;
  }
  return swept;
}

// The box of a body's nodes, and what is so near that a collider wakes the body.
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

// The pose after moving for `dt` seconds.
Pose Advanced(const ColliderDesc& desc, float dt) {
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
    const Rotation turn =
        Normalised({half * double(omega.x), half * double(omega.y), half * double(omega.z), 1.0});
    to.rotation = ToQuat(Normalised(turn * RotationOf(desc.pose.rotation)));
  }
  return to;
}

// The velocities that lead from one pose to another in `dt` seconds: those of Cayley's turn, but
// without dividing by w, which is near 1 for the small turn of a step.
void FindVelocities(const Pose& from, const Pose& to, float dt, Vec3* velocity,
                    Vec3* angular_velocity) {
  const double rate = 1.0 / double(dt);
  const auto speed = [rate](float a, float b) {
    return static_cast<float>((double(b) - double(a)) * rate);
  };
  *velocity = {speed(from.position.x, to.position.x), speed(from.position.y, to.position.y),
               speed(from.position.z, to.position.z)};
  const Rotation turn = RotationOf(to.rotation) * Conjugate(RotationOf(from.rotation));
  const double twice = turn.w < 0.0 ? -2.0 * rate : 2.0 * rate;  // the shorter way round
  *angular_velocity = {static_cast<float>(turn.x * twice), static_cast<float>(turn.y * twice),
                       static_cast<float>(turn.z * twice)};
}

StepCollider InStep(const Collider& collider, float dt) {
  StepCollider plane = ColliderNow(collider);
  if (!collider.Moves()) return plane;
  const ColliderDesc& desc = collider.desc;
  const Pose to = collider.has_target ? collider.target : Advanced(desc, dt);
  if (!IsPosition(to.position)) return plane;  // too far out: it rests
  plane.moves = true;
  plane.to = to;
  if (plane.is_solid) plane.swept = SweptBox(plane.solid, plane.from, plane.to);
  plane.velocity = desc.velocity;
  plane.angular_velocity = desc.angular_velocity;
  if (collider.has_target) {
    FindVelocities(desc.pose, to, dt, &plane.velocity, &plane.angular_velocity);
  }
  return plane;
}

// Drops the body's contacts with a plane; returns whether it had some.
bool DropContacts(uint32_t plane, Body* body) {
  const std::span<PlaneContact> all = body->contacts.Current();
  const auto is_of_plane = [plane](const PlaneContact& contact) {
    return contact.collider == plane;
  };
  const auto end = std::remove_if(all.begin(), all.end(), is_of_plane);
  body->contacts.num_contacts = static_cast<uint32_t>(end - all.begin());
  if (body->contacts.rebound.collider == plane) body->contacts.rebound = {};
  return end != all.end();
}

}  // namespace

StepCollider ColliderNow(const Collider& collider) {
  const ColliderDesc& desc = collider.desc;
  StepCollider now;
  now.exists = true;
  now.is_solid = desc.type != ShapeType::kPlane;
  if (now.is_solid) {
    now.solid = SolidOf(desc);
    now.swept = collider.has_bounds ? collider.bounds : SweptBox(now.solid, desc.pose, desc.pose);
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
  now.user_data = desc.user_data;
  now.filter = desc.filter;
  return now;
}

bool Collider::Moves() const {
  if (has_target) return !AreEqual(desc.pose, target);
  return !IsZero(desc.velocity) || !IsZero(desc.angular_velocity);
}

Status World::Impl::FindCollider(const Impl* impl, ColliderId id, Collider** out_collider) {
  using State = SlotList<>::State;
  if (!id.valid()) return {StatusCode::kNullId, "id", "is null"};
  if (impl == nullptr) return kNoWorld;
  const uint32_t slot = SlotOf(id.value);
  const State state = impl->collider_slots.Find(slot, GenerationOf(id.value));
  if (TagOf(id.value) != impl->desc.tag || state == State::kNeverGiven) {
    return {StatusCode::kForeignId, "id", "is not of this world"};
  }
  if (state == State::kFreed) return {StatusCode::kStaleId, "id", "its collider was removed"};
  *out_collider = const_cast<Collider*>(&impl->colliders[slot]);
  return {};
}

// Makes room for the arrays' elements of slots up to `slot`.
bool World::Impl::ReserveColliderArrays(uint32_t slot) {
  return Reserve(&colliders, slot) && Reserve(&step_colliders, slot) && Reserve(&swept, slot);
}

// Makes room for one more collider, in each body too.
Status World::Impl::ReserveCollider() {
  if (!collider_slots.Reserve(allocator)) {
    return {StatusCode::kOutOfMemory, "collider", "no memory, or no slot left"};
  }
  const uint32_t next = collider_slots.next_slot();
  const size_t num_colliders = std::max<size_t>(MostColliders(), size_t{next} + 1);
  bool has_room = ReserveColliderArrays(next);
  for (const uint32_t slot : slots) {
    has_room = has_room && ReserveColliders(allocator, num_colliders, bodies[slot]);
  }
  if (!has_room) return {StatusCode::kOutOfMemory, "collider"};
  return {};
}

Status World::AddCollider(const ColliderDesc& desc, ColliderId* out_id) {
  if (out_id == nullptr) return kNoOutput;
  *out_id = {};
  const Status checked = CheckDescription(desc);
  if (!checked.ok()) return checked;
  if (impl_ == nullptr) return kNoWorld;
  Impl& w = *impl_;
  const Status reserved = w.ReserveCollider();
  if (!reserved.ok()) return reserved;
  const uint32_t slot = w.collider_slots.Add();
  Collider& collider = w.colliders[slot];
  collider = {};
  collider.desc = OnlyItsShape(desc);
  collider.desc.friction = Given(desc.friction);
  collider.desc.restitution = Given(desc.restitution);
  collider.id = PackId(slot, w.collider_slots.generation(slot), w.desc.tag);
  for (const uint32_t b : w.slots) {
    if (MayTouch(w.bodies[b]->filter, desc.filter)) WakeUp(w.bodies[b]);
  }
  *out_id = {collider.id};
  return {};
}

Status World::RemoveCollider(ColliderId id) {
  Collider* collider = nullptr;
  const Status found = Impl::FindCollider(impl_, id, &collider);
  if (!found.ok()) return found;
  const uint32_t slot = SlotOf(id.value);
  impl_->WakeTouching(*collider);
  impl_->ForgetContacts(slot);
  impl_->collider_slots.Remove(slot);
  *collider = {};
  return {};
}

Status World::GetCollider(ColliderId id, ColliderDesc* out_desc) const {
  Collider* collider = nullptr;
  const Status found = Impl::FindCollider(impl_, id, out_desc, &collider);
  if (!found.ok()) return found;
  *out_desc = collider->desc;
  return {};
}

Status World::SetColliderPose(ColliderId id, const Pose& pose) {
  Collider* collider = nullptr;
  Status status = Impl::FindCollider(impl_, id, &collider);
  if (status.ok()) status = CheckPose(pose);
  if (!status.ok()) return status;
  impl_->WakeTouching(*collider);  // where it was
  impl_->ForgetContacts(SlotOf(id.value));
  collider->desc.pose = pose;
  collider->has_bounds = false;
  collider->has_target = false;
  impl_->WakeTouching(*collider);
  return {};
}

Status World::MoveCollider(ColliderId id, const Pose& target) {
  Collider* collider = nullptr;
  Status status = Impl::FindCollider(impl_, id, &collider);
  if (status.ok()) status = CheckPose(target);
  if (!status.ok()) return status;
  collider->has_target = true;
  collider->target = target;
  if (collider->Moves()) impl_->WakeTouching(*collider);
  return {};
}

Status World::SetColliderVelocity(ColliderId id, const Vec3& velocity,
                                  const Vec3& angular_velocity) {
  Collider* collider = nullptr;
  Status status = Impl::FindCollider(impl_, id, &collider);
  if (status.ok()) status = CheckVelocities(velocity, angular_velocity);
  if (!status.ok()) return status;
  collider->has_target = false;
  collider->desc.velocity = velocity;
  collider->desc.angular_velocity = angular_velocity;
  if (collider->Moves()) impl_->WakeTouching(*collider);
  return {};
}

Status World::SetColliderFriction(ColliderId id, float friction) {
  Collider* collider = nullptr;
  Status status = Impl::FindCollider(impl_, id, &collider);
  if (status.ok()) status = CheckFriction(friction);
  if (!status.ok()) return status;
  collider->desc.friction = Given(friction);
  impl_->WakeTouching(*collider);
  return {};
}

Status World::SetColliderRestitution(ColliderId id, float restitution) {
  Collider* collider = nullptr;
  Status status = Impl::FindCollider(impl_, id, &collider);
  if (status.ok()) status = CheckRestitution(restitution);
  if (status.ok()) collider->desc.restitution = Given(restitution);
  return status;
}

Status World::SetFilter(ColliderId id, const Filter& filter) {
  Collider* collider = nullptr;
  const Status found = Impl::FindCollider(impl_, id, &collider);
  if (!found.ok()) return found;
  collider->desc.filter = filter;
  impl_->ForgetContacts(SlotOf(id.value));
  impl_->WakeAll();
  return {};
}

uint32_t World::num_colliders() const {
  return impl_ != nullptr ? impl_->collider_slots.num_live() : 0;
}

Status World::Colliders(std::span<ColliderId> ids, uint32_t* out_count) const {
  if (out_count == nullptr) return kNoOutput;
  *out_count = num_colliders();
  if (impl_ == nullptr) return kNoWorld;
  size_t count = 0;
  for (const uint32_t slot : impl_->collider_slots) {
    if (count == ids.size()) break;
    ids[count++] = {impl_->colliders[slot].id};
  }
  return {};
}

bool World::IsValid(ColliderId id) const {
  Collider* collider = nullptr;
  return Impl::FindCollider(impl_, id, &collider).ok();
}

Status World::SetUserData(ColliderId id, uint64_t user_data) {
  Collider* collider = nullptr;
  const Status found = Impl::FindCollider(impl_, id, &collider);
  if (!found.ok()) return found;
  collider->desc.user_data = user_data;
  return {};
}

Status World::GetUserData(ColliderId id, uint64_t* out_user_data) const {
  Collider* collider = nullptr;
  const Status found = Impl::FindCollider(impl_, id, out_user_data, &collider);
  if (!found.ok()) return found;
  *out_user_data = collider->desc.user_data;
  return {};
}

void World::Impl::WakeTouching(const Collider& collider) {
  const ColliderDesc& of = collider.desc;
  const Pose& to = collider.has_target ? collider.target : of.pose;
  const bool is_solid = of.type != ShapeType::kPlane;
  const WorldBox reach = is_solid ? SweptBox(SolidOf(of), of.pose, to) : WorldBox{};
  for (const uint32_t slot : slots) {
    Body* body = bodies[slot];
    if (!body->asleep || !MayTouch(body->filter, of.filter)) continue;
    const bool is_near =
        is_solid ? reach.Overlaps(WakingBox(*body)) : IsNear(*body, of.plane, of.pose, to);
    if (is_near) WakeUp(body);
  }
}

void World::Impl::ForgetContacts(uint32_t slot) {
  for (const uint32_t b : slots) {
    if (DropContacts(slot, bodies[b])) WakeUp(bodies[b]);
  }
}

void World::Impl::PlaceColliders() {
  const uint32_t num_slots = collider_slots.num_slots();
  for (uint32_t slot = 0; slot < num_slots; ++slot) step_colliders[slot] = {};
  settings.any_solid = false;
  size_t num_swept = 0;
  bool any_moves = false;
  for (const uint32_t slot : collider_slots) {
    Collider& collider = colliders[slot];
    step_colliders[slot] = InStep(collider, dt);
    if (step_colliders[slot].is_solid && !step_colliders[slot].moves) {
      collider.bounds = step_colliders[slot].swept;
      collider.has_bounds = true;
    }
    swept[num_swept++] = {step_colliders[slot].swept, slot};
    any_moves = any_moves || step_colliders[slot].moves;
    settings.any_solid = settings.any_solid || step_colliders[slot].is_solid;
  }
  settings.colliders = {step_colliders.data(), num_slots};
  settings.swept = {swept.data(), num_swept};
  if (any_moves) WakeByColliders();
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
  const WorldBox box = settings.any_solid ? WakingBox(body) : WorldBox{};
  for (const uint32_t slot : collider_slots) {
    const StepCollider& collider = step_colliders[slot];
    if (!collider.moves || !MayTouch(body.filter, collider.filter)) continue;
    const bool is_near = collider.is_solid
                             ? collider.swept.Overlaps(box)
                             : IsNear(body, collider.shape, collider.from, collider.to);
    if (is_near) return true;
  }
  return false;
}

void World::Impl::MoveColliders() {
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
