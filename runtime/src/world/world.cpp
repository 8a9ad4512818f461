// SPDX-License-Identifier: MIT
// World's calls on itself, its bodies and time steps, and its state hash (FNV-1a 64).
// World::Step is in world_step.cpp, calls on colliders in colliders.cpp.
#include "plush/world.h"

#include "base/vector_math.h"
#include "body/make_body.h"
#include "body/solver_method.h"
#include "world/world_impl.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace plush {
namespace {

ContactSettings Clamped(ContactSettings s) {
  constexpr ContactSettings kDefault;
  const auto is_above_0 = [](float value) { return value > 0.0f && std::isfinite(value); };
  s.iterations = std::clamp(s.iterations, 2, 64);
  s.sweeps = std::clamp(s.sweeps, 1, 256);
  s.max_substeps = std::clamp(s.max_substeps, 1, kMaxSubsteps);
  if (!is_above_0(s.push_out_time)) s.push_out_time = kDefault.push_out_time;
  if (!is_above_0(s.penalty_stiffness)) s.penalty_stiffness = kDefault.penalty_stiffness;
  return s;
}

SleepSettings Clamped(SleepSettings s) {
  if (!(s.speed >= 0.0f) || !std::isfinite(s.speed)) s.speed = 0.0f;
  if (!(s.time > 0.0f)) s.time = SleepSettings{}.time;
  return s;
}

}  // namespace

World::World(const WorldDesc& desc) {
  WorldDesc checked = desc;
  if (checked.allocator.allocate == nullptr || checked.allocator.release == nullptr) {
    checked.allocator = DefaultAllocator();
  }
  checked.contact = Clamped(checked.contact);
  checked.sleep = Clamped(checked.sleep);
  if (!IsFinite(checked.gravity)) checked.gravity = {};
  impl_ = NewObject<Impl>(checked.allocator, checked);
  if (impl_ != nullptr) impl_->ReserveCapacity();
}

World::~World() {
  if (impl_ == nullptr) return;
  for (const uint32_t slot : impl_->slots) impl_->Remove(impl_->bodies[slot]);
  impl_->ClearColliders();
  impl_->FreeUnusedMeshes();
  const Allocator allocator = impl_->allocator;
  DeleteObject(allocator, impl_);
}

Status World::Impl::FindBody(const Impl* impl, BodyId id, Body** out_body) {
  using State = SlotList<>::State;
  if (!id.valid()) return {StatusCode::kNullId, "id", "is null"};
  if (impl == nullptr) return kNoWorld;
  const uint32_t slot = SlotOf(id.value);
  const State state = impl->slots.Find(slot, GenerationOf(id.value));
  if (TagOf(id.value) != impl->desc.tag || state == State::kNeverGiven) {
    return {StatusCode::kForeignId, "id", "is not of this world"};
  }
  if (state == State::kFreed) return {StatusCode::kStaleId, "id", "its body was removed"};
  *out_body = impl->bodies[slot];
  return {};
}

constexpr uint32_t kMostPairs = 1u << 20;  // WorldDesc::max_pairs

void World::Impl::ReserveCapacity() {
  desc.reserve_bodies = std::min(desc.reserve_bodies, SlotList<>::kMostSlots);
  desc.reserve_colliders = std::min(desc.reserve_colliders, SlotList<>::kMostSlots);
  desc.max_pairs = std::min(desc.max_pairs, kMostPairs);
  if (!touching_bodies.Reserve(allocator, desc.max_pairs, desc.jobs.run != nullptr) ||
      !events.Allocate(allocator, desc.max_events) ||
      !contact_events.Allocate(allocator, desc.max_contact_events) ||
      !kept_ends.Allocate(allocator, desc.max_contact_events) ||
      !attachment_events.Allocate(allocator, desc.max_events)) {
    return;
  }
  if (desc.reserve_bodies > 0 && (!slots.Reserve(allocator, desc.reserve_bodies) ||
                                  !ReserveBodyArrays(desc.reserve_bodies - 1))) {
    return;
  }
  if (desc.reserve_colliders == 0) return;
  if (!collider_slots.Reserve(allocator, desc.reserve_colliders)) return;
  static_cast<void>(ReserveColliderArrays(desc.reserve_colliders - 1));
}

// Makes room for the arrays' elements of slots up to `slot`.
bool World::Impl::ReserveBodyArrays(uint32_t slot) {
  return Reserve(&bodies, slot) && Reserve(&body_stats, slot) && Reserve(&live, slot) &&
         Reserve(&measured, slot) && Reserve(&units, slot) && Reserve(&predicted, slot) &&
         Reserve(&is_refitted, slot) && near_boxes.Reserve(allocator, predicted.size());
}

// Makes room for one more body.
Status World::Impl::ReserveBody() {
  if (!slots.Reserve(allocator)) {
    return {StatusCode::kOutOfMemory, "body", "no memory, or no slot left"};
  }
  // The arrays have room for all slots below num_slots.
  if (!ReserveBodyArrays(slots.next_slot())) return {StatusCode::kOutOfMemory, "body"};
  return {};
}

bool World::Impl::ReserveTouching(const SolverMethod* method, Body* body) {
  const bool may_touch = desc.max_pairs > 0;
  if (method != nullptr && touching_method == nullptr) {
    for (const uint32_t slot : slots) {
      if (may_touch && !method->reserve_touching(allocator, bodies[slot])) return false;
    }
    for (const uint32_t slot : attachment_slots) {
      if (!ReserveJoined(method, attachments[slot].desc)) return false;
    }
    touching_method = method;
  }
  return touching_method == nullptr || !may_touch ||
         touching_method->reserve_touching(allocator, body);
}

bool World::Impl::ReserveJoined(const SolverMethod* method, const AttachmentDesc& of) {
  return method == nullptr || !of.other_body.valid() ||
         (method->reserve_touching(allocator, bodies[SlotOf(of.body.value)]) &&
          method->reserve_touching(allocator, bodies[SlotOf(of.other_body.value)]));
}

Status World::AddBody(const Asset& asset, const BodyDesc& desc, BodyId* out_id) {
  if (out_id == nullptr) return kNoOutput;
  *out_id = {};
  if (impl_ == nullptr) return kNoWorld;
  Impl& w = *impl_;
  const Status reserved = w.ReserveBody();
  if (!reserved.ok()) return reserved;
  Body* body = nullptr;
  const Status made = MakeBody(w.allocator, asset, desc, w.MostColliders(), w.desc.max_contacts,
                               w.desc.keep_previous, &w.cache, &body);
  if (!made.ok()) return made;
  const bool has_room =
      (!w.HasMeshes() || ReserveMesh(w.allocator, body)) &&
      w.ReserveTouching(body->solver.method, body) &&
      (w.desc.max_pairs == 0 ||
       (w.touching_bodies.Reserve(w.allocator, w.desc.max_pairs, w.desc.jobs.run != nullptr) &&
        ReserveBodyContacts(w.allocator, body) &&
        w.touching_bodies.ReserveSurface(w.allocator, body->surface)));
  if (!has_room) {
    DestroyBody(w.allocator, &w.cache, body);
    return {StatusCode::kOutOfMemory, "body"};
  }
  if (!body->fixed) {
    body->dt = asset.factor().dt;
    const Status prepared = w.PrepareSystem(body->dt, body->system);
    if (!prepared.ok()) {
      DestroyBody(w.allocator, &w.cache, body);
      return prepared;
    }
  }
  body->slot = w.slots.Add();
  body->id = PackId(body->slot, w.slots.generation(body->slot), w.desc.tag);
  w.bodies[body->slot] = body;
  w.body_stats[body->slot] = {};
  w.PlaceInCrowd(body);
  body->pins.rests = false;  // a fixed body wakes what it is placed in
  *out_id = {body->id};
  return {};
}

Status World::RemoveBody(BodyId id) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  impl_->Remove(body);
  return {};
}

void World::Impl::Remove(Body* body) {
  DetachBody(body->id);
  KeepEndsOf(*body);
  ForgetPairs(body->slot);
  slots.Remove(body->slot);
  bodies[body->slot] = nullptr;
  islands_changed = true;
  NoteTouching();
  TakeFromCrowd(body);
  DestroyBody(allocator, &cache, body);
}

// Makes all bodies' factors for `new_dt`. On failure each body keeps those of its last step.
Status World::Impl::PrepareFactors(float new_dt, bool* out_made) {
  for (const uint32_t slot : slots) {
    const Body* body = bodies[slot];
    if (body->fixed || body->dt == new_dt) continue;
    const Status status =
        cache.Prepare(body->system, new_dt, dt, desc.contact.max_substeps, out_made);
    if (!status.ok()) return status;
  }
  return {};
}

// Makes the factors of a body's new system for `body_dt` and for all prepared time steps.
Status World::Impl::PrepareSystem(float body_dt, System* system) {
  bool made = false;
  Status status = cache.Prepare(system, body_dt, dt, desc.contact.max_substeps, &made);
  for (uint32_t i = 0; status.ok() && i < num_time_steps; ++i) {
    status = cache.Prepare(system, time_steps[i], dt, desc.contact.max_substeps, &made);
    if (status.ok()) cache.Keep(system, time_steps[i]);
  }
  return status;
}

Status World::PrepareTimeStep(float dt) {
  if (impl_ == nullptr) return kNoWorld;
  if (!IsTimeStep(dt)) return kNoTimeStep;
  Impl& w = *impl_;
  {
    const std::lock_guard<std::mutex> lock(w.time_steps_mutex);
    if (!w.Reserve(&w.time_steps, w.num_time_steps)) return {StatusCode::kOutOfMemory, "dt"};
  }
  bool made = false;
  const Status status = w.PrepareFactors(dt, &made);
  if (!status.ok()) return status;
  for (const uint32_t slot : w.slots) w.cache.Keep(w.bodies[slot]->system, dt);
  const std::lock_guard<std::mutex> lock(w.time_steps_mutex);
  const auto end = w.time_steps.begin() + w.num_time_steps;
  if (std::find(w.time_steps.begin(), end, dt) == end) w.time_steps[w.num_time_steps++] = dt;
  return {};
}

const StepStats& World::stats() const {
  static constexpr StepStats kNone;
  return impl_ != nullptr ? impl_->stats : kNone;
}

std::span<const BodyEvent> World::body_events() const {
  if (impl_ == nullptr) return {};
  return impl_->events.span().first(std::min<size_t>(impl_->num_events, impl_->events.size()));
}

void World::Impl::WakeAll() {
  for (const uint32_t slot : slots) WakeUp(bodies[slot]);
}

Status World::SetGravity(const Vec3& gravity) {
  if (!IsFinite(gravity)) return {StatusCode::kInvalidArgument, "gravity", "must be finite"};
  if (impl_ == nullptr) return kNoWorld;
  const Vec3 change = gravity - impl_->desc.gravity;
  impl_->desc.gravity = gravity;
  if (change.x != 0.0f || change.y != 0.0f || change.z != 0.0f) impl_->WakeAll();
  return {};
}

Vec3 World::gravity() const { return impl_ != nullptr ? impl_->desc.gravity : Vec3{}; }

void World::SetContact(const ContactSettings& settings) {
  if (impl_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(impl_->time_steps_mutex);
  impl_->desc.contact = Clamped(settings);
}

const ContactSettings& World::contact() const {
  static constexpr ContactSettings kDefault;
  return impl_ != nullptr ? impl_->desc.contact : kDefault;
}

void World::SetSleep(const SleepSettings& settings) {
  if (impl_ != nullptr) impl_->desc.sleep = Clamped(settings);
}

const SleepSettings& World::sleep() const {
  static constexpr SleepSettings kDefault;
  return impl_ != nullptr ? impl_->desc.sleep : kDefault;
}

Status World::SetFilter(BodyId id, const Filter& filter) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  body->filter = filter;
  impl_->WakeTouching(body->slot);
  body->contacts.Forget();
  body->pins.rests = false;  // a fixed body wakes what it touches now
  WakeUp(body);
  return {};
}

Status World::GetFilter(BodyId id, Filter* out_filter) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_filter, &body);
  if (!found.ok()) return found;
  *out_filter = body->filter;
  return {};
}

uint32_t World::num_bodies() const { return impl_ != nullptr ? impl_->slots.num_live() : 0; }

// Lists the bodies in the order of slots, so that jobs can be numbered.
void World::Impl::ListLiveBodies() {
  uint32_t count = 0;
  for (const uint32_t slot : slots) live[count++] = bodies[slot];
}

uint64_t World::StateHash() const {
  uint64_t hash = 0xcbf29ce484222325ull;
  const auto add = [&hash](const Vec3& v) {
    for (const float value : {v.x, v.y, v.z}) {
      const uint32_t bits = std::bit_cast<uint32_t>(value);
      for (int shift = 0; shift < 32; shift += 8) {
        hash = (hash ^ ((bits >> shift) & 0xffu)) * 0x100000001b3ull;
      }
    }
  };
  if (impl_ == nullptr) return hash;
  for (const uint32_t slot : impl_->slots) {
    const Body& body = *impl_->bodies[slot];
    for (size_t i = 0; i < body.x.size(); ++i) {
      add(WorldPosition(body, body.x[i]));
      add(Vec3(body.v[i]) * body.scale);
    }
  }
  return hash;
}

}  // namespace plush
