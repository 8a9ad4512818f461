// SPDX-License-Identifier: MIT
// World's calls on colliders. Their motion: collider_motion.cpp.
#include "plush/asset.h"
#include "plush/pose.h"

#include "base/invalid.h"
#include "base/vector_math.h"
#include "body/make_body.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

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

Status CheckSurfaceVelocity(const Vec3& velocity) {
  return IsFinite(velocity) ? Status{} : Invalid("surface_velocity", "must be finite");
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

// Shapes that the type does not name go back to their defaults: states do not hold them.
ColliderDesc OnlyItsShape(const ColliderDesc& desc) {
  ColliderDesc only = desc;
  const ColliderDesc none;
  if (desc.type != ShapeType::kPlane) only.plane = {};
  if (desc.type != ShapeType::kSphere) only.sphere = {};
  if (desc.type != ShapeType::kCapsule) only.capsule = {};
  if (desc.type != ShapeType::kBox) only.box = {};
  if (desc.type != ShapeType::kHeightField) only.height_field = none.height_field;
  if (desc.type != ShapeType::kMesh) only.mesh = none.mesh;
  if (desc.type != ShapeType::kHull) only.hull = {};
  only.plane.normal = UnitVector(only.plane.normal);
  return only;
}

Status CheckHeightField(const HeightFieldShape& field) {
  constexpr uint64_t kMostCells = kMostMeshTriangles / 2;
  if (field.columns < 2 || field.rows < 2 ||
      uint64_t{field.columns - 1} * (field.rows - 1) > kMostCells) {
    return Invalid("height_field.columns", "and rows must be at least 2, with at most 2^29 cells");
  }
  if (field.heights.size() != size_t{field.columns} * field.rows) {
    return Invalid("height_field.heights", "must have columns x rows heights");
  }
  if (!(field.spacing > 0.0f) ||
      !(field.spacing * static_cast<float>(std::max(field.columns, field.rows)) <=
        kMostColliderSize)) {
    return Invalid("height_field.spacing", "must be above 0, and the field at most 1e6 wide");
  }
  if (field.code == nullptr) {
    return Invalid("height_field.code", "is null: assign the shape as a whole");
  }
  const auto is_height = [](float h) { return std::fabs(h) <= kMostColliderSize; };
  const auto wrong = std::ranges::find_if_not(field.heights, is_height);
  if (wrong == field.heights.end()) return {};
  return {StatusCode::kInvalidArgument, "height_field.heights", "must be at most 1e6",
          static_cast<uint64_t>(wrong - field.heights.begin())};
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
    case ShapeType::kHeightField:
      return CheckHeightField(desc.height_field);
    case ShapeType::kMesh:  // FindTriangles checks it
      return {};
    case ShapeType::kHull:  // MakeHull checks the points
      return desc.hull.code != nullptr ? Status{} : Invalid("hull.points", "must be 4 to 256");
  }
  return Invalid("type", "no such shape");
}

Status CheckDescription(const ColliderDesc& desc) {
  Status status = CheckShape(desc);
  if (status.ok()) status = CheckPose(desc.pose);
  if (status.ok()) status = CheckVelocities(desc.velocity, desc.angular_velocity);
  if (status.ok()) status = CheckFriction(desc.friction);
  if (status.ok()) status = CheckRestitution(desc.restitution);
  if (status.ok()) status = CheckSurfaceVelocity(desc.surface_velocity);
  return status;
}

}  // namespace

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

Status World::Impl::FindToChange(Impl* impl, ColliderId id, Collider** out_collider) {
  const Status found = FindCollider(impl, id, out_collider);
  if (found.ok()) impl->colliders_are_placed = false;
  return found;
}

// Makes room for the arrays' elements of slots up to `slot`.
bool World::Impl::ReserveColliderArrays(uint32_t slot) {
  return Reserve(&colliders, slot) && Reserve(&step_colliders, slot) && Reserve(&swept, slot);
}

bool World::Impl::HasMeshes() const {
  for (const uint32_t slot : collider_slots) {
    if (colliders[slot].mesh.exists()) return true;
  }
  return false;
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
  w.colliders_are_placed = false;  // memory may have moved
  if (!reserved.ok()) return reserved;
  const bool has_triangles = desc.type == ShapeType::kHeightField || desc.type == ShapeType::kMesh;
  for (const uint32_t b : w.slots) {
    if (has_triangles && !ReserveMesh(w.allocator, w.bodies[b])) {
      return {StatusCode::kOutOfMemory, "collider"};
    }
  }
  const StaticMeshView* mesh = nullptr;
  const FacePatches* patches = nullptr;
  if (desc.type == ShapeType::kMesh) {
    const Status found = w.FindTriangles(desc.mesh, &mesh, &patches);
    if (!found.ok()) return found;
    if (desc.sensor && mesh->sides != MeshSides::kSolid) {
      w.FreeUnusedMeshes();
      return {StatusCode::kUnsupported, "sensor", "must be a closed mesh", 0};
    }
  }
  Hull* hull = nullptr;
  if (desc.type == ShapeType::kHull) {
    const Status made = desc.hull.code->make(w.allocator, desc.hull.points, &hull);
    if (!made.ok()) return made;
  }
  const uint32_t slot = w.collider_slots.Add();
  Collider& collider = w.colliders[slot];
  collider = {};
  collider.desc = OnlyItsShape(desc);
  collider.hull = hull;
  if (hull != nullptr) collider.desc.hull.points = hull->given.span();
  collider.desc.friction = Given(desc.friction);
  collider.desc.restitution = Given(desc.restitution);
  collider.mesh = TrianglesOf(collider.desc, mesh, patches);
  collider.extent = ExtentOf(collider);
  collider.id = PackId(slot, w.collider_slots.generation(slot), w.desc.tag);
  for (const uint32_t b : w.slots) {
    if (!desc.sensor && MayTouch(w.bodies[b]->filter, desc.filter)) WakeUp(w.bodies[b]);
  }
  *out_id = {collider.id};
  return {};
}

Status World::RemoveCollider(ColliderId id) {
  Collider* collider = nullptr;
  const Status found = Impl::FindToChange(impl_, id, &collider);
  if (!found.ok()) return found;
  const uint32_t slot = SlotOf(id.value);
  impl_->WakeTouching(*collider);
  impl_->ForgetContacts(slot);
  impl_->DetachCollider(id.value);
  impl_->collider_slots.Remove(slot);
  DeleteObject(impl_->allocator, collider->hull);
  *collider = {};
  impl_->FreeUnusedMeshes();
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
  Status status = Impl::FindToChange(impl_, id, &collider);
  if (status.ok()) status = CheckPose(pose);
  if (!status.ok()) return status;
  impl_->WakeTouching(*collider);  // where it was
  impl_->ForgetContacts(SlotOf(id.value));
  collider->desc.pose = pose;
  collider->has_bounds = false;
  collider->has_target = false;
  impl_->WakeTouching(*collider);
  impl_->WakeAttachedTo(id.value);
  return {};
}

Status World::MoveCollider(ColliderId id, const Pose& target) {
  Collider* collider = nullptr;
  Status status = Impl::FindToChange(impl_, id, &collider);
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
  Status status = Impl::FindToChange(impl_, id, &collider);
  if (status.ok()) status = CheckVelocities(velocity, angular_velocity);
  if (!status.ok()) return status;
  collider->has_target = false;
  collider->desc.velocity = velocity;
  collider->desc.angular_velocity = angular_velocity;
  if (collider->Moves()) impl_->WakeTouching(*collider);
  return {};
}

Status World::SetColliderSurfaceVelocity(ColliderId id, const Vec3& velocity) {
  Collider* collider = nullptr;
  Status status = Impl::FindToChange(impl_, id, &collider);
  if (status.ok()) status = CheckSurfaceVelocity(velocity);
  if (!status.ok()) return status;
  collider->desc.surface_velocity = velocity;
  if (!IsZero(velocity)) impl_->WakeTouching(*collider);
  return {};
}

Status World::SetColliderFriction(ColliderId id, float friction) {
  Collider* collider = nullptr;
  Status status = Impl::FindToChange(impl_, id, &collider);
  if (status.ok()) status = CheckFriction(friction);
  if (!status.ok()) return status;
  collider->desc.friction = Given(friction);
  impl_->WakeTouching(*collider);
  return {};
}

Status World::SetColliderRestitution(ColliderId id, float restitution) {
  Collider* collider = nullptr;
  Status status = Impl::FindToChange(impl_, id, &collider);
  if (status.ok()) status = CheckRestitution(restitution);
  if (status.ok()) collider->desc.restitution = Given(restitution);
  return status;
}

Status World::SetFilter(ColliderId id, const Filter& filter) {
  Collider* collider = nullptr;
  const Status found = Impl::FindToChange(impl_, id, &collider);
  if (!found.ok()) return found;
  collider->desc.filter = filter;
  impl_->ForgetContacts(SlotOf(id.value));
  if (!collider->desc.sensor) impl_->WakeAll();
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
  const Status found = Impl::FindToChange(impl_, id, &collider);
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

void World::Impl::ClearColliders() {
  for (Collider& collider : colliders) {
    DeleteObject(allocator, collider.hull);
    collider = {};
  }
}

void World::Impl::ForgetContacts(uint32_t slot) {
  for (const uint32_t b : slots) {
    ContactState& contacts = bodies[b]->contacts;
    if (contacts.rebound.collider == slot) contacts.rebound = {};
    contacts.sunk.ForgetMesh();
    const auto is_of_it = [slot](const PlaneContact& contact) { return contact.collider == slot; };
    if (contacts.Drop(is_of_it)) WakeUp(bodies[b]);
  }
}

}  // namespace plush
