// SPDX-License-Identifier: MIT
// Whether LoadState can overwrite a world's bodies, and room for what else a state has.
#include "asset/regions.h"
#include "body/attachment_step.h"
#include "body/make_body.h"
#include "body/pin_motion.h"
#include "body/solver_method.h"
#include "state/state_checks.h"
#include "state/state_reader.h"
#include "world/world_impl.h"

#include <algorithm>
#include <utility>

namespace plush {
namespace {

// Whether `system` has the key of the state's system `index` and shares the factors of the same
// base. Marks it, and counts the marked ones.
bool Match(const StateReader& state, uint32_t index, System* system, uint32_t* matched) {
  if (system->state_index != kNoIndex) return system->state_index == index;
  const StateSystem saved = state.system(index);
  const Asset& asset = state.AssetOf(saved);
  const std::span<const std::byte> bytes = system->key.asset_bytes;
  const std::span<const uint8_t> pinned = state.PinnedOf(saved);
  if (bytes.data() != asset.bytes().data() || bytes.size() != asset.bytes().size() ||
      system->key.material != state.MaterialOf(saved) ||
      !std::equal(pinned.begin(), pinned.end(), system->pinned.begin(), system->pinned.end()) ||
      (saved.base == kNoIndex) != (system->base == nullptr)) {
    return false;
  }
  if (system->base != nullptr && !Match(state, saved.base, system->base, matched)) return false;
  system->state_index = index;
  ++*matched;
  return true;
}

// Whether the system has the state's factors, as far as they must be there.
bool HasSets(const StateReader& state, const System& system) {
  const StateSystem saved = state.system(system.state_index);
  for (uint32_t i = 0; i < saved.num_sets; ++i) {
    const StateSet set = state.set(saved.first_set + i);
    const FactorSet* own = system.Find(set.dt);
    if (own == nullptr ? set.keep != 0
                       : static_cast<uint32_t>(own->num_fractions) < set.num_fractions) {
      return false;
    }
  }
  return true;
}

}  // namespace

// Whether the world has the state's bodies: with the same assets, matrices, factors and crowds, so
// that they can be overwritten.
bool World::Impl::HasBodiesOf(const StateReader& state) {
  const StateWorld& w = state.world();
  if (slots.num_live() != w.num_bodies || num_crowds != w.num_crowds) return false;
  cache.ForUsed([](System* system) { system->state_index = kNoIndex; });
  uint32_t matched = 0, i = 0;
  for (const uint32_t slot : slots) {
    const Body& body = *bodies[slot];
    const StateBody saved = state.body(i++);
    if (slot != saved.slot || body.fixed != Has(saved, kStateFixed) ||
        (body.pins.reactions.size() > 0) != Has(saved, kStateReports) ||
        !Match(state, saved.system, body.system, &matched) ||
        (!body.fixed && body.system->Find(saved.dt) == nullptr)) {
      return false;
    }
  }
  bool has_sets = matched == w.num_systems;
  cache.ForUsed([&](const System* system) { has_sets = has_sets && HasSets(state, *system); });
  return has_sets && ArrangeCrowds(state);
}

// Puts the crowds in the order of the state. Returns false if their systems differ.
bool World::Impl::ArrangeCrowds(const StateReader& state) {
  for (uint32_t i = 0; i < num_crowds; ++i) {
    const uint32_t system = state.crowd(i).system;
    uint32_t found = i;
    while (found < num_crowds && crowds[found]->system->state_index != system) ++found;
    if (found == num_crowds) return false;
    std::swap(crowds[i], crowds[found]);
    crowds[i]->index = i;
    crowds[found]->index = found;
  }
  return true;
}

// Makes room for everything but bodies and crowds. Changes nothing that can be seen.
bool World::Impl::ReserveFor(const StateReader& state) {
  const StateWorld& w = state.world();
  if (!slots.ReserveAll(allocator, w.num_body_slots) ||
      !collider_slots.ReserveAll(allocator, w.num_collider_slots)) {
    return false;
  }
  const size_t num_slots = w.num_body_slots, num_planes = w.num_collider_slots;
  if (!Grow(&bodies, num_slots) || !Grow(&body_stats, num_slots) || !Grow(&live, num_slots) ||
      !Grow(&measured, num_slots) || !Grow(&units, num_slots) || !Grow(&predicted, num_slots) ||
      !Grow(&is_refitted, num_slots) || !near_boxes.Reserve(allocator, num_slots) ||
      !Grow(&colliders, num_planes) || !Grow(&step_colliders, num_planes) ||
      !Grow(&swept, num_planes) ||
      !attachment_slots.ReserveAll(allocator, w.num_attachment_slots) ||
      !GrowAttachments(w.num_attachment_slots) || !Grow(&forces, w.num_forces) ||
      !Grow(&crowds, w.num_crowds)) {
    return false;
  }
  uint32_t num_new = 0;
  for (uint32_t i = 0; i < w.num_time_steps; ++i) {
    const auto end = time_steps.begin() + num_time_steps;
    num_new += std::find(time_steps.begin(), end, state.time_step(i)) == end ? 1 : 0;
  }
  const std::lock_guard<std::mutex> lock(time_steps_mutex);
  return Grow(&time_steps, size_t{num_time_steps} + num_new);
}

// Makes room in the bodies for the state's contacts, targets of pins and attachments.
bool World::Impl::ReserveContacts(const StateReader& state) {
  const StateWorld& w = state.world();
  const bool has_meshes = state.has_meshes();
  for (uint32_t i = 0; i < w.num_bodies; ++i) {
    AttachedPoints& attached = bodies[state.body(i).slot]->attached;
    attached.num_loaded = attached.num_loaded_constraints = 0;
  }
  for (uint32_t k = 0; k < w.num_attachments; ++k) {
    const StateAttachment attachment = state.attachment(k);
    AttachedPoints& attached = bodies[attachment.body]->attached;
    ++attached.num_loaded;
    attached.num_loaded_constraints += attachment.constraint != 0 ? 1 : 0;
    if (attachment.other_body != kNoIndex) ++bodies[attachment.other_body]->attached.num_loaded;
  }
  const SolverMethod* method = touching_method;
  for (uint32_t i = 0; i < w.num_bodies && method == nullptr; ++i) {
    method = state.SolverOf(state.body(i)).method;
  }
  for (uint32_t i = 0; i < w.num_bodies; ++i) {
    const StateBody saved = state.body(i);
    Body* body = bodies[saved.slot];
    const size_t num_planes = std::max<size_t>(w.num_collider_slots, desc.reserve_colliders);
    if (!ReserveColliders(allocator, num_planes, body)) return false;
    if (has_meshes && !ReserveMesh(allocator, body)) return false;
    if (desc.max_pairs > 0 && !ReserveBodyContacts(allocator, body)) return false;
    if (!touching_bodies.ReserveSurface(allocator, body->surface)) return false;
    if (Has(saved, kStateHasTargets) &&
        !ReserveTargets(allocator, NumRegions(body->system->key.asset_bytes), body)) {
      return false;
    }
    if (!ReserveSolver(allocator, state.SolverOf(saved), body)) return false;
    if (method != nullptr && desc.max_pairs > 0 && !method->reserve_touching(allocator, body)) {
      return false;
    }
    const uint32_t num_attached = body->attached.num_loaded;
    if (num_attached > 0 && !ReserveAttached(allocator, num_attached, body)) return false;
    const uint32_t num_constraints = body->attached.num_loaded_constraints;
    if (num_attached > num_constraints && !ReserveSprings(allocator, body)) return false;
    if (num_constraints > 0 && !ReserveConstraints(allocator, num_constraints, body)) return false;
  }
  for (uint32_t k = 0; k < w.num_attachments && method != nullptr; ++k) {
    const StateAttachment attachment = state.attachment(k);
    if (attachment.other_body == kNoIndex) continue;
    for (const uint32_t slot : {attachment.body, attachment.other_body}) {
      if (!method->reserve_touching(allocator, bodies[slot])) return false;
    }
  }
  touching_method = method;
  return true;
}

// Makes room in the crowds for bodies with more pins than the factor.
bool World::Impl::ReserveMore(const StateReader& state) {
  for (uint32_t i = 0; i < state.world().num_bodies; ++i) {
    const StateBody saved = state.body(i);
    if (saved.crowd == kNoIndex || state.system(saved.system).base == kNoIndex) continue;
    Crowd* crowd = crowds[saved.crowd];
    if (crowd->more.size() == 0 && !crowd->more.Allocate(allocator, crowd->rhs.size(), 0.0f)) {
      return false;
    }
  }
  return true;
}

}  // namespace plush
