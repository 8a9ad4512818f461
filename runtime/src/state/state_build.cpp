// SPDX-License-Identifier: MIT
// LoadState's slow way: a world with the state's systems, bodies and crowds, made beside the one
// that loads it. Factors are copied where that one has them.
#include "body/make_body.h"
#include "state/state_reader.h"
#include "world/world_impl.h"

#include <algorithm>
#include <utility>

namespace plush {
// Makes room for as many ids as another world has room for.
bool World::Impl::ReserveLike(const Impl& other) {
  const size_t num_slots = other.bodies.size(), num_planes = other.colliders.size();
  return slots.ReserveAll(allocator, other.slots.capacity()) &&
         collider_slots.ReserveAll(allocator, other.collider_slots.capacity()) &&
         Grow(&bodies, num_slots) && Grow(&body_stats, num_slots) && Grow(&live, num_slots) &&
         Grow(&measured, num_slots) && Grow(&units, num_slots) && Grow(&predicted, num_slots) &&
         Grow(&is_refitted, num_slots) && near_boxes.Reserve(allocator, num_slots) &&
         Grow(&colliders, num_planes) && Grow(&step_colliders, num_planes) &&
         Grow(&swept, num_planes) &&
         attachment_slots.ReserveAll(allocator, other.attachment_slots.capacity()) &&
         GrowAttachments(other.attachments.size());
}

// Makes the hulls of the state's colliders. The world has room for them.
Status World::Impl::MakeHulls(const StateReader& state) {
  for (uint32_t i = 0; i < state.world().num_colliders; ++i) {
    const StateCollider saved = state.collider(i);
    if (saved.num_points == 0) continue;
    Vec3 points[kMostHullPoints];
    for (uint32_t k = 0; k < saved.num_points; ++k) {
      points[k] = state.hull_point(saved.first_point + k);
    }
    const Status made =
        MakeHull(allocator, {points, saved.num_points}, &colliders[saved.slot].hull);
    if (made.code == StatusCode::kOutOfMemory) return kNoMemory;
    if (!made.ok()) return {StatusCode::kCorrupt, "state.colliders", "have an impossible hull", i};
  }
  return {};
}

// Fills an empty world with the state's systems, bodies, crowds and hulls, without their states.
// Takes factors from `donor`.
Status World::Impl::BuildFrom(const StateReader& state, Impl* donor) {
  const StateWorld& w = state.world();
  desc.contact = state.Contact();
  touching_method = donor->touching_method;
  num_time_steps = donor->num_time_steps;
  if (!time_steps.Allocate(allocator, num_time_steps)) return kNoMemory;
  std::copy_n(donor->time_steps.begin(), num_time_steps, time_steps.begin());
  Array<System*> systems;
  if (!ReserveLike(*donor) || !ReserveFor(state) || !systems.Allocate(allocator, w.num_systems)) {
    return kNoMemory;
  }
  cache.CopyFrom(&donor->cache);
  for (uint32_t i = 0; i < w.num_systems; ++i) {
    const StateSystem saved = state.system(i);
    const Asset& asset = state.AssetOf(saved);
    System* base = saved.base != kNoIndex ? systems[saved.base] : nullptr;
    if (cache.HasSystem({asset.bytes(), asset.content_hash(), state.MaterialOf(saved),
                         state.PinnedOf(saved)})) {
      return {StatusCode::kCorrupt, "state.systems", "are equal", i};
    }
    System* system = systems[i] =
        cache.Restore(asset, state.MaterialOf(saved), state.PinnedOf(saved), base);
    if (system == nullptr) return kNoMemory;
    if (system->base != base) {
      return {StatusCode::kCorrupt, "state.systems", "the base does not fit", i};
    }
    system->state_index = i;
    const Status prepared = RestoreSets(state, system);
    if (!prepared.ok()) return prepared;
  }
  for (uint32_t i = 0; i < w.num_bodies; ++i) {
    const StateBody saved = state.body(i);
    System* system = systems[saved.system];
    cache.Use(system);
    Body* body = AllocateBody(allocator, state.AssetOf(state.system(saved.system)), system,
                              {.fixed = Has(saved, kStateFixed),
                               .keeps_previous = desc.keep_previous,
                               .reports_reactions = Has(saved, kStateReports),
                               .max_contacts = desc.max_contacts});
    if (body == nullptr) {
      cache.Release(system);
      return kNoMemory;
    }
    PlaceBody({}, {}, {}, body);
    body->slot = saved.slot;
    bodies[saved.slot] = body;
    if (!body->fixed && system->Find(saved.dt) == nullptr) {
      return {StatusCode::kCorrupt, "state.systems", "have impossible factors", saved.system};
    }
  }
  for (const System* system : systems) {
    if (system->users == 0) {
      return {StatusCode::kCorrupt, "state.systems", "are not in use", system->state_index};
    }
  }
  for (uint32_t i = 0; i < w.num_crowds; ++i) {
    Crowd* crowd = NewObject<Crowd>(allocator);
    if (crowd == nullptr) return kNoMemory;
    crowd->index = num_crowds;
    crowds[num_crowds++] = crowd;
    if (!crowd->Allocate(allocator, systems[state.crowd(i).system])) return kNoMemory;
    ++crowd->system->num_crowds;
  }
  return ReserveContacts(state) && ReserveMore(state) ? MakeHulls(state) : kNoMemory;
}

// Makes the factors of a new system: those of the state, and those for the world's time steps.
Status World::Impl::RestoreSets(const StateReader& state, System* system) {
  const uint32_t index = system->state_index;
  const StateSystem saved = state.system(index);
  bool made = false;
  const auto make = [&](float step, int num_fractions) {
    const Status status = cache.Prepare(system, step, state.world().dt, num_fractions, &made);
    if (status.ok() && system->Find(step)->num_fractions >= num_fractions) return Status{};
    if (status.code == StatusCode::kOutOfMemory) return status;
    return Status{StatusCode::kCorrupt, "state.systems", "have impossible factors", index};
  };
  const auto make_saved = [&](uint32_t keep) {
    Status status;
    for (uint32_t i = saved.first_set; i < saved.first_set + saved.num_sets && status.ok(); ++i) {
      const StateSet set = state.set(i);
      if (set.keep == keep) status = make(set.dt, static_cast<int>(set.num_fractions));
      if (set.keep == keep && keep != 0 && status.ok()) cache.Keep(system, set.dt);
    }
    return status;
  };
  const auto is_saved = [&](float step) {
    for (uint32_t i = saved.first_set; i < saved.first_set + saved.num_sets; ++i) {
      if (state.set(i).dt == step) return true;
    }
    return false;
  };
  // Those that stay first: others may replace each other.
  Status status = make_saved(1);
  for (uint32_t i = 0; i < num_time_steps && status.ok() && saved.num_sets > 0; ++i) {
    if (is_saved(time_steps[i])) continue;
    // The caller may have prepared a step for which this matrix has no factor.
    const Status own = make(time_steps[i], desc.contact.max_substeps);
    if (own.code == StatusCode::kOutOfMemory) status = own;
    cache.Keep(system, time_steps[i]);
  }
  if (status.ok()) status = make_saved(0);
  for (uint32_t i = 0; i < num_time_steps; ++i) cache.Keep(system, time_steps[i]);
  return status;
}

// Exchanges all that a state replaces.
void World::Impl::SwapState(Impl* other) {
  cache.Swap(&other->cache);
  std::swap(touching_method, other->touching_method);
  std::swap(slots, other->slots);
  std::swap(bodies, other->bodies);
  std::swap(body_stats, other->body_stats);
  std::swap(live, other->live);
  std::swap(measured, other->measured);
  std::swap(crowds, other->crowds);
  std::swap(num_crowds, other->num_crowds);
  std::swap(units, other->units);
  std::swap(collider_slots, other->collider_slots);
  std::swap(colliders, other->colliders);
  std::swap(step_colliders, other->step_colliders);
  std::swap(swept, other->swept);
  colliders_are_placed = other->colliders_are_placed = false;
  std::swap(predicted, other->predicted);
  std::swap(is_refitted, other->is_refitted);
  std::swap(near_boxes, other->near_boxes);
  std::swap(attachment_slots, other->attachment_slots);
  std::swap(attachments, other->attachments);
  std::swap(rows, other->rows);
  std::swap(step_targets, other->step_targets);
  std::swap(forces, other->forces);
  const std::lock_guard<std::mutex> lock(time_steps_mutex);
  std::swap(time_steps, other->time_steps);
  std::swap(num_time_steps, other->num_time_steps);
}

// Frees all bodies, crowds and hulls, also of a world that is built only in part.
void World::Impl::ClearBodies() {
  for (Body*& body : bodies) DestroyBody(allocator, &cache, std::exchange(body, nullptr));
  while (num_crowds > 0) DeleteObject(allocator, crowds[--num_crowds]);
  ClearColliders();
}

}  // namespace plush
