// SPDX-License-Identifier: MIT
// LoadState: overwrites equal bodies in place, or lets state_build.cpp make a world aside and swaps
// it in. state_reader.h checks the bytes first.
#include "plush/format/tet_block.h"

#include "asset/regions.h"
#include "body/attachment_step.h"
#include "body/body_colliders.h"
#include "body/make_body.h"
#include "body/pin_motion.h"
#include "state/state_checks.h"
#include "state/state_reader.h"
#include "state/state_scenery.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace plush {
namespace {

StepStats ToStats(const StateStats& s) {
  StepStats out;
  out.flags = s.flags;
  out.max_speed = s.max_speed;
  out.contact_sweeps = s.contact_sweeps;
  out.contacts = s.contacts;
  out.substeps = s.substeps;
  out.outer_iterations = s.outer_iterations;
  out.asleep = s.asleep;
  out.overshoots = s.overshoots;
  out.contacts_dropped = s.contacts_dropped;
  out.contacts_unsettled = s.contacts_unsettled;
  out.body_pairs = s.body_pairs;
  out.pairs_searched = s.pairs_searched;
  out.linear_iterations = s.linear_iterations;
  out.newton_fallbacks = s.newton_fallbacks;
  out.flat_tets = s.flat_tets;
  std::copy(std::begin(s.phase_s), std::end(s.phase_s), out.phase_s);
  return out;
}

template <class T>
void CopyTo(const std::byte* from, Array<T>* to) {
  if (to->size() > 0) std::memcpy(static_cast<void*>(to->data()), from, sizeof(T) * to->size());
}

void LoadContacts(const StateBody& saved, const BodyBulk& bulk, const TouchingSurface& surface,
                  ContactState* contacts) {
  contacts->sunk.ForgetMesh();
  PointCouplings& couplings = contacts->couplings;
  couplings.Forget();
  const std::byte* row = bulk.couplings;
  for (uint32_t k = 0; k < saved.num_coupled; ++k) {
    const StatePoint point = PointAt(bulk.coupled, k);
    couplings.Add(surface.Point(point.id, point.u, point.v));
    for (uint32_t other = 0; other <= k; ++other) {
      const float coupling = std::bit_cast<float>(WordAt(row, other));
      couplings.Row(k)[other] = couplings.Row(other)[k] = coupling;
    }
    row += sizeof(float) * (k + 1);
  }
  couplings.num_known = saved.num_coupled;
  couplings.factor_id = saved.factor_id;
  contacts->num_contacts = saved.num_contacts;
  for (uint32_t i = 0; i < saved.num_contacts; ++i) {
    StateContact c;
    std::memcpy(&c, bulk.contacts + sizeof(c) * i, sizeof(c));
    PlaneContact& out = contacts->contacts[i];
    out.slot = c.slot;
    out.collider = c.collider;
    out.face = c.face;
    out.impulse = ToVec3(c.impulse);
    out.plane.normal = ToVec3(c.normal);
  }
}

// Targets: the body has room for them.
void LoadPins(const StateBody& saved, const BodyBulk& bulk, PinMotion* pins) {
  pins->rests = Has(saved, kStatePinsRest);
  pins->moves = Has(saved, kStatePinsMove);
  CopyTo(bulk.reactions, &pins->reactions);
  if (!Has(saved, kStateHasTargets)) {
    pins->targets = {};
    pins->regions = {};
    pins->motions = {};
    return;
  }
  CopyTo(bulk.targets, &pins->targets);
  CopyTo(bulk.regions, &pins->regions);
  for (size_t i = 0; i < pins->motions.size(); ++i) {
    StateMotion motion;
    std::memcpy(&motion, bulk.motions + sizeof(motion) * i, sizeof(motion));
    pins->motions[i] = {ToPose(motion.from), ToPose(motion.to), motion.known != 0,
                        motion.moves != 0};
  }
}

// Overwrites the body's state; its links to crowds stay. Resets scratch memory that may not be
// finite because the body froze.
void LoadBody(const StateBody& saved, const BodySolver& solver, const BodyBulk& bulk, Body* body) {
  if (body->frozen) {
    for (Array<NodeVec>* scratch : {&body->y, &body->rhs, &body->d}) {
      std::fill(scratch->begin(), scratch->end(), NodeVec());
    }
    std::fill(body->workspace.begin(), body->workspace.end(), 0.0f);
  }
  body->user_data = saved.user_data;
  std::copy(std::begin(saved.origin), std::end(saved.origin), body->origin);
  std::copy(std::begin(saved.previous_origin), std::end(saved.previous_origin),
            body->previous_origin);
  body->dt = saved.dt;
  body->kappa_dt = saved.kappa_dt;
  body->resting.time = saved.resting_time;
  body->resting.is_known = Has(saved, kStateHasResting);
  body->resting.is_tried = Has(saved, kStateTriesRest);
  body->gravity_factor = saved.gravity_factor;
  body->max_speed = saved.max_speed;
  body->filter = ToFilter(saved.filter);
  body->splitting = SplittingOf(saved);
  body->solver = solver;
  body->coefficients = {saved.friction, saved.restitution};
  body->contacts.rebound = {saved.rebound_collider, saved.rebound_speed, saved.rebound_time,
                            saved.rebound_energy};
  body->fixed = Has(saved, kStateFixed);
  body->frozen = Has(saved, kStateFrozen);
  body->asleep = Has(saved, kStateAsleep);
  body->enabled = Has(saved, kStateEnabled);
  body->was_asleep = Has(saved, kStateWasAsleep);
  body->in_lane = Has(saved, kStateInLane);
  body->in_crowd_step = Has(saved, kStateInCrowdStep);
  body->has_previous = Has(saved, kStateHasPrevious);
  body->searched.is_known = Has(saved, kStateHasSearched) && body->searched.y.size() > 0;
  body->searched.way = saved.searched_way;
  body->guard = {saved.guard_credit, saved.guard_elastic, Has(saved, kStateKnowsElastic)};
  std::copy(std::begin(saved.searched_origin), std::end(saved.searched_origin),
            body->searched.origin);
  std::copy(std::begin(saved.searched_travel), std::end(saved.searched_travel),
            body->searched.travel);
  body->moved = true;
  CopyTo(bulk.x, &body->x);
  CopyTo(bulk.v, &body->v);
  if (!body->in_lane) {
    CopyTo(bulk.rotations, &body->rotations);
    CopyTo(bulk.kappa, &body->kappa);
  }
  if (body->has_previous) CopyTo(bulk.previous, &body->previous);
  if (body->searched.is_known) CopyTo(bulk.searched, &body->searched.y);
  if (body->resting.is_known) CopyTo(bulk.resting, &body->resting.x);
  body->num_near = 0;
  body->num_found = 0;
  body->report_contacts = Has(saved, kStateReportsContacts);
  body->num_touches = saved.num_touches;
  for (uint32_t i = 0; i < saved.num_touches; ++i) {
    StateTouch t;
    std::memcpy(&t, bulk.touches + sizeof(t) * i, sizeof(t));
    body->touches[i] = {.collider = t.collider,
                        .is_sensor = t.is_sensor != 0,
                        .is_reported = t.is_reported != 0,
                        .force = ToVec3(t.force),
                        .torque = ToVec3(t.torque),
                        .point = ToVec3(t.point),
                        .normal = ToVec3(t.normal),
                        .impulse = t.impulse,
                        .approach_speed = t.approach_speed,
                        .triangle = t.triangle,
                        .other_triangle = t.other_triangle};
  }
  for (uint32_t i = 0; i < saved.num_models; ++i) {
    StateModelTet t;
    std::memcpy(&t, bulk.models + sizeof(t) * i, sizeof(t));
    const float* r = t.rotation;
    RotationState<float>& state = body->newton.tets[i].state;
    state.rotation = {{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, {r[6], r[7], r[8]}};
    state.reflected = {t.reflected[0], t.reflected[1], t.reflected[2]};
    state.witness = static_cast<Witness>(t.witness);
  }
  LoadPins(saved, bulk, &body->pins);
  LoadContacts(saved, bulk, SurfaceOf(*body), &body->contacts);
}

void LoadSets(const StateReader& state, System* system) {
  const StateSystem saved = state.system(system->state_index);
  for (uint32_t i = 0; i < saved.num_sets; ++i) {
    const StateSet set = state.set(saved.first_set + i);
    FactorSet* own = system->Find(set.dt);
    if (own == nullptr) continue;
    own->num_fractions = static_cast<int>(set.num_fractions);
    own->keep = own->keep || set.keep != 0;
  }
}

}  // namespace

// Takes all bodies out of crowds and waiting lists. Their numbers of crowds stay.
void World::Impl::UnlinkCrowds() {
  for (uint32_t i = 0; i < num_crowds; ++i) {
    Crowd* crowd = crowds[i];
    if (crowd->num_bodies < kCrowdLanes) crowd->system->open_crowds.Remove(crowd);
    std::fill(crowd->bodies, crowd->bodies + kCrowdLanes, nullptr);
    crowd->num_bodies = 0;
  }
  for (const uint32_t slot : slots) {
    Body* body = bodies[slot];
    if (MayJoinCrowds(*body) && body->crowd == nullptr) {
      System* system = CrowdSystem(*body);
      system->waiting.Remove(body);
      --system->num_waiting;
    }
    body->crowd = nullptr;
  }
}

void World::Impl::LinkCrowds(const StateReader& state) {
  const StateWorld& w = state.world();
  for (uint32_t i = 0; i < w.num_bodies; ++i) {
    const StateBody saved = state.body(i);
    Body* body = bodies[saved.slot];
    body->lane = 0;
    if (saved.crowd != kNoIndex) {
      body->crowd = crowds[saved.crowd];
      body->lane = saved.lane;
      body->crowd->bodies[body->lane] = body;
      body->crowd->splitting = body->splitting;
      ++body->crowd->num_bodies;
    } else if (MayJoinCrowds(*body)) {
      System* system = CrowdSystem(*body);
      system->waiting.PushBack(body);
      ++system->num_waiting;
    }
  }
  for (uint32_t s = 0; s < w.num_systems; ++s) {
    for (uint32_t i = state.system(s).first_open; i != kNoIndex; i = state.crowd(i).next_open) {
      crowds[i]->system->open_crowds.PushBack(crowds[i]);
    }
  }
}

// Overwrites the world, which has room for the state and its bodies, systems and crowds.
void World::Impl::ApplyState(const StateReader& state) {
  const StateWorld& w = state.world();
  cache.ForUsed([&](System* system) { LoadSets(state, system); });
  slots.Load([&](uint32_t slot) { return state.body_slot(slot); }, w.num_body_slots,
             w.first_free_body, w.last_free_body);
  collider_slots.Load([&](uint32_t slot) { return state.collider_slot(slot); },
                      w.num_collider_slots, w.first_free_collider, w.last_free_collider);
  const bool has_meshes = state.has_meshes();
  uint32_t next = 0;
  for (uint32_t slot = 0; slot < colliders.size(); ++slot) {
    Hull* const hull = std::exchange(colliders[slot], {}).hull;
    if (next == w.num_colliders || state.collider(next).slot != slot) continue;
    const uint64_t id = PackId(slot, collider_slots.generation(slot), desc.tag);
    const TriangleSource mesh = has_meshes ? loaded_meshes[next] : TriangleSource{};
    colliders[slot] = ToCollider(state.collider(next), id, hull, mesh);
    ++next;
  }
  std::fill(step_colliders.begin(), step_colliders.end(), StepCollider{});
  colliders_are_placed = false;
  num_forces = w.num_forces;
  for (uint32_t i = 0; i < num_forces; ++i) forces[i] = ToForce(state.force(i));
  for (uint32_t i = 0; i < w.num_bodies; ++i) {
    const StateBody saved = state.body(i);
    Body* body = bodies[saved.slot];
    body->id = PackId(saved.slot, slots.generation(saved.slot), desc.tag);
    LoadBody(saved, state.SolverOf(saved), state.BulkOf(saved), body);
    body_stats[saved.slot] = ToStats(saved.stats);
  }
  LoadAttachments(state);
  LoadBodyContacts(state);
  LinkCrowds(state);
  for (uint32_t i = 0; i < num_crowds; ++i) {
    const StateCrowd saved = state.crowd(i);
    Crowd* crowd = crowds[i];
    crowd->kappa_dt = saved.kappa_dt;
    if (saved.has_lanes == 0) continue;
    const std::byte* bulk = state.BulkOf(saved);
    CopyTo(bulk, &crowd->rotations);
    CopyTo(bulk + sizeof(float) * crowd->rotations.size(), &crowd->kappa);
  }
  desc.gravity = ToVec3(w.gravity);
  desc.sleep = state.Sleep();
  dt = w.dt;
  stats = ToStats(w.stats);
  num_events = num_attachment_events = 0;
  num_contact_events = 0;
  num_kept_ends = std::min(w.num_ends, static_cast<uint32_t>(kept_ends.size()));
  lost_kept_ends = w.lost_ends != 0 || num_kept_ends < w.num_ends;
  for (uint32_t i = 0; i < num_kept_ends; ++i) {
    const StateEnd saved = state.end(i);
    ContactEvent& end = kept_ends[i] = {};
    end.type = ContactEventType::kEnded;
    end.body = {saved.body};
    end.other_body = {saved.other_body};
    end.collider = {saved.collider};
  }
  settings = {};
  shared_island = nullptr;
  ListLiveBodies();
  NoteTouching();
  const std::lock_guard<std::mutex> lock(time_steps_mutex);
  desc.contact = state.Contact();
  for (uint32_t i = 0; i < w.num_time_steps; ++i) {
    const auto end = time_steps.begin() + num_time_steps;
    const float step = state.time_step(i);
    if (std::find(time_steps.begin(), end, step) == end) time_steps[num_time_steps++] = step;
  }
}

Status World::Impl::LoadState(const StateReader& state) {
  if (!touching_bodies.Reserve(allocator, desc.max_pairs, desc.jobs.run != nullptr))
    return kNoMemory;
  if (!HasRoomForPairs(state)) {
    return {StatusCode::kMismatch, "state.body_contacts", "are more than max_pairs has room for"};
  }
  if (HasHullsOf(state) && HasBodiesOf(state)) {
    if (!ReserveFor(state) || !ReserveContacts(state) || !ReserveMore(state)) return kNoMemory;
    cache.SortUsed();
    UnlinkCrowds();
    ApplyState(state);
    return {};
  }
  Impl* aside = NewObject<Impl>(allocator, desc);
  if (aside == nullptr) return kNoMemory;
  Status built = aside->BuildFrom(state, this);
  for (Body* body : aside->bodies) {
    if (body != nullptr && !touching_bodies.ReserveSurface(allocator, body->surface)) {
      built = kNoMemory;
    }
  }
  if (built.ok()) {
    SwapState(aside);
    ApplyState(state);
  }
  aside->ClearBodies();
  if (built.ok()) cache.TakeIdle(&aside->cache);
  DeleteObject(allocator, aside);
  return built;
}

Status World::LoadState(std::span<const std::byte> bytes, std::span<const Asset* const> assets,
                        std::span<const SolverMethod* const> solvers) {
  if (impl_ == nullptr) return kNoWorld;
  StateReader state(bytes, assets, solvers);
  const WorldDesc& own = impl_->desc;
  const Status checked =
      state.Check(own.tag, own.keep_previous, own.contact.method, own.max_contacts,
                  impl_->colliders.data(), impl_->colliders.size());
  if (!checked.ok()) return checked;
  const uint32_t num_meshes = state.has_meshes() ? state.world().num_colliders : 0;
  if (!impl_->Grow(&impl_->loaded_meshes, num_meshes)) return kNoMemory;
  for (uint32_t i = 0; i < num_meshes; ++i) {
    const TriangleSource* mesh = state.MeshOf(state.collider(i));
    impl_->loaded_meshes[i] = mesh != nullptr ? *mesh : TriangleSource{};
  }
  const Status loaded = impl_->LoadState(state);
  impl_->FreeUnusedMeshes();
  return loaded;
}

}  // namespace plush
