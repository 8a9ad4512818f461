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

Status CheckDescription(const ColliderDesc& desc) {
  if (desc.type != ShapeType::kPlane) return Invalid("type", "no such shape");
  const Vec3 normal = UnitVector(desc.plane.normal);
  if (normal.x == 0.0f && normal.y == 0.0f && normal.z == 0.0f) {
    return Invalid("plane.normal", "must be finite and not zero");
  }
  if (!std::isfinite(desc.plane.offset)) return Invalid("plane.offset", "must be finite");
  Status status = CheckPose(desc.pose);
  if (status.ok()) status = CheckVelocities(desc.velocity, desc.angular_velocity);
  if (status.ok()) status = CheckFriction(desc.friction);
  if (status.ok()) status = CheckRestitution(desc.restitution);
  return status;
}

bool IsZero(const Vec3& v) { return v.x == 0.0f && v.y == 0.0f && v.z == 0.0f; }

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

StepCollider PlaneInStep(const Collider& collider, float dt) {
  StepCollider plane = PlaneNow(collider);
  if (!collider.Moves()) return plane;
  const ColliderDesc& desc = collider.desc;
  const Pose to = collider.has_target ? collider.target : Advanced(desc, dt);
  if (!IsPosition(to.position)) return plane;  // too far out: it rests
  plane.moves = true;
  plane.to = to;
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
  const auto is_of_plane = [plane](const PlaneContact& contact) { return contact.collider == plane; };
  const auto end = std::remove_if(all.begin(), all.end(), is_of_plane);
  body->contacts.num_contacts = static_cast<uint32_t>(end - all.begin());
  if (body->contacts.rebound.collider == plane) body->contacts.rebound = {};
  return end != all.end();
}

}  // namespace

StepCollider PlaneNow(const Collider& collider) {
  const ColliderDesc& desc = collider.desc;
  const WorldPlane start = PlaceAt(desc.plane, desc.pose);
  StepCollider plane;
  plane.normal = start.normal;
  plane.offset = start.offset;
  plane.from = desc.pose;
  plane.to = desc.pose;
  plane.shape = desc.plane;
  plane.coefficients = {desc.friction, desc.restitution};
  plane.user_data = desc.user_data;
  plane.filter = desc.filter;
  return plane;
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
  return Reserve(&colliders, slot) && Reserve(&step_colliders, slot);
}

// Makes room for one more collider, in each body too.
Status World::Impl::ReserveCollider() {
  if (!collider_slots.Reserve(allocator)) {
    return {StatusCode::kOutOfMemory, "collider", "no memory, or no slot left"};
  }
  const uint32_t next = collider_slots.next_slot();
  const size_t num_planes = std::max<size_t>(NumPlanes(), size_t{next} + 1);
  bool has_room = ReserveColliderArrays(next);
  for (const uint32_t slot : slots) {
    has_room = has_room && ReserveColliders(allocator, num_planes, bodies[slot]);
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
  collider.desc = desc;
  collider.desc.plane.normal = UnitVector(desc.plane.normal);
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
  const Pose& to = collider.has_target ? collider.target : collider.desc.pose;
  for (const uint32_t slot : slots) {
    Body* body = bodies[slot];
    if (!body->asleep || !MayTouch(body->filter, collider.desc.filter)) continue;
    if (IsNear(*body, collider.desc.plane, collider.desc.pose, to)) WakeUp(body);
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
  bool any_moves = false;
  for (const uint32_t slot : collider_slots) {
    step_colliders[slot] = PlaneInStep(colliders[slot], dt);
    any_moves = any_moves || step_colliders[slot].moves;
  }
  settings.colliders = {step_colliders.data(), num_slots};
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
  for (const uint32_t slot : collider_slots) {
    const StepCollider& plane = step_colliders[slot];
    if (plane.moves && MayTouch(body.filter, plane.filter) &&
        IsNear(body, plane.shape, plane.from, plane.to)) {
      return true;
    }
  }
  return false;
}

void World::Impl::MoveColliders() {
  for (const uint32_t slot : collider_slots) {
    Collider& collider = colliders[slot];
    if (step_colliders[slot].moves) collider.desc.pose = step_colliders[slot].to;
    if (!collider.has_target) continue;
    collider.has_target = false;
    collider.desc.velocity = {};
    collider.desc.angular_velocity = {};
  }
}

}  // namespace plush
