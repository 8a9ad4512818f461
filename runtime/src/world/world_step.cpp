// SPDX-License-Identifier: MIT
// World::Step and its phases in order; runtime/README.md draws them.
// body_step.cpp steps one body, crowd_step.cpp a crowd.
#include "body/body_colliders.h"
#include "body/crowd.h"
#include "body/pin_motion.h"
#include "world/forces.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>

namespace plush {
namespace {

bool TouchesCarried(const Body& body) {
  return std::ranges::any_of(body.contacts.between, [](const BodyContactSide& at) {
    return at.contact->sides[1 - at.side].of->is_carried;
  });
}

bool RestsOnStatic(const Body& body) {
  return std::ranges::any_of(body.contacts.between, [](const BodyContactSide& at) {
    return at.contact->sides[1 - at.side].of->is_static;
  });
}

// Whether something keeps a slow body from speeding up. Under weak gravity, a body at the top of
// its flight is slow for a long time although nothing holds it.
bool IsHeld(const StepSettings& settings, const Body& body) {
  const Vec3 g = GravityOf(settings, body);
  return (g.x == 0.0f && g.y == 0.0f && g.z == 0.0f) || body.system->num_pinned > 0 ||
         body.attached.has_target || TouchesCollider(settings, body) || RestsOnStatic(body);
}

}  // namespace

// Gives a body without a crowd a lane in a crowd of its system, or makes a crowd of the bodies that
// wait for one. If memory runs out, the body waits and steps by itself.
void World::Impl::PlaceInCrowd(Body* body) {
  if (!MayJoinCrowds(*body)) return;
  System* system = CrowdSystem(*body);
  auto& open_crowds = system->open_crowds;
  for (Crowd* crowd = open_crowds.first(); crowd != nullptr; crowd = open_crowds.Next(crowd)) {
    if (crowd->splitting == body->splitting && JoinCrowd(allocator, crowd, body)) return;
  }
  // The place in the order of slots; mostly the end, because rising slots are given out.
  Body* before = system->waiting.last();
  while (before != nullptr && before->slot > body->slot) before = system->waiting.Previous(before);
  system->waiting.InsertAfter(before, body);
  ++system->num_waiting;
  const uint32_t least = system->num_crowds > 0 ? kLeastFurtherCrowd : kLeastCrowd;
  if (system->num_waiting < least) return;
  uint32_t num_alike = 0;
  for (Body* b = system->waiting.first(); b != nullptr; b = system->waiting.Next(b)) {
    num_alike += b->splitting == body->splitting ? 1 : 0;
  }
  if (num_alike >= least) MakeCrowd(body->splitting, system);
}

// Moves bodies that wait, with these settings, into a new crowd.
void World::Impl::MakeCrowd(const SplittingSettings& splitting, System* system) {
  if (!Reserve(&crowds, num_crowds)) return;
  Crowd* crowd = NewObject<Crowd>(allocator);
  if (crowd == nullptr) return;
  if (!crowd->Allocate(allocator, system)) return DeleteObject(allocator, crowd);
  crowd->splitting = splitting;
  crowd->index = num_crowds;
  crowds[num_crowds++] = crowd;
  ++system->num_crowds;
  system->open_crowds.PushBack(crowd);
  for (Body* next = system->waiting.first(); next != nullptr && crowd->num_bodies < kCrowdLanes;) {
    Body* const body = std::exchange(next, system->waiting.Next(next));
    if (body->splitting != splitting) continue;
    if (!JoinCrowd(allocator, crowd, body)) break;
    system->waiting.Remove(body);
    --system->num_waiting;
  }
  RemoveIfEmpty(crowd);
}

void World::Impl::RemoveIfEmpty(Crowd* crowd) {
  if (crowd->num_bodies > 0) return;
  crowd->system->open_crowds.Remove(crowd);
  --crowd->system->num_crowds;
  crowds[crowd->index] = crowds[--num_crowds];
  crowds[crowd->index]->index = crowd->index;
  DeleteObject(allocator, crowd);
}

// Undoes PlaceInCrowd.
void World::Impl::TakeFromCrowd(Body* body) {
  if (!MayJoinCrowds(*body)) return;
  Crowd* crowd = body->crowd;
  if (crowd != nullptr) {
    LeaveCrowd(body);
    return RemoveIfEmpty(crowd);
  }
  System* system = CrowdSystem(*body);
  system->waiting.Remove(body);
  --system->num_waiting;
}

Status World::Step(float dt) {
  if (impl_ == nullptr) return kNoWorld;
  if (!IsTimeStep(dt)) return kNoTimeStep;
  Impl& w = *impl_;
  bool made = false;
  const Status prepared = w.PrepareFactors(dt, &made);
  if (!prepared.ok()) return prepared;
  w.BeginStep(dt);
  w.PlaceColliders();
  w.WakeIslands();
  w.ApplyForces();  // may wake bodies, whose attachments then act
  w.PlaceAttachments();
  w.FindBodyContacts();
  if (w.AnyBodySteps()) {
    w.DecideCrowdSteps();
    w.ChooseUnits();
    w.StepUnits();
    w.StepSharedIsland();
    w.StepCarriedBodies();
  }
  w.EndStep();
  w.EndBodyContacts();
  w.EndAttachments();
  w.MoveColliders();
  w.SumStats();
  if (made) w.stats.flags |= kStepPreparedTimeStep;
  return {};
}

void World::Impl::BeginStep(float new_dt) {
  dt = new_dt;
  ListLiveBodies();
  for (Body* body : live_bodies()) {
    body->dt = new_dt;
    body->has_previous = false;
  }
  settings = {.gravity = desc.gravity,
              .contact = desc.contact,
              .sleep = desc.sleep,
              .mix_friction = desc.mix_friction,
              .mix_restitution = desc.mix_restitution,
              .dt = new_dt};
  num_events = num_attachment_events = 0;
  num_contact_events = 0;
  ReportKeptEnds();
  LinkAttachments();
}

// What sleeps costs little only if few passes over the bodies look at it.
bool World::Impl::AnyBodySteps() const {
  return std::ranges::any_of(live_bodies(), [](const Body* body) { return body->Steps(); });
}

void World::Impl::DecideCrowdSteps() {
  const JobFunction decide = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    Body* body = world.live[index];
    body->in_crowd_step = false;
    if (!body->Steps()) return;
    body->num_found = 0;
    body->last_substeps = world.body_stats[body->slot].substeps;
    world.body_stats[body->slot] = {};
    DecideCrowdStep(world.settings, body);
  };
  RunJobs(slots.num_live(), decide);
}

// Whether the body is the first one of an island of which one steps, by itself.
static bool LeadsSteppingIsland(const Body& first) {
  if (!first.leads_island || first.in_crowd_step) return false;
  for (const Body* body = &first; body != nullptr; body = body->next_of_island) {
    if (body->Steps()) return true;
  }
  return false;
}

// Tets of an island whose bodies share nothing but contacts, in blocks; of one body, too.
static size_t BlocksOf(const Body& first) {
  size_t blocks = 0;
  for (const Body* body = &first; body != nullptr; body = body->next_of_island) {
    if (first.next_of_island != nullptr && body->attached.any()) return 0;
    if (body->Steps() && !body->fixed) blocks += body->elements.blocks.size();
  }
  return blocks;
}

// Chooses the jobs of a step: crowds with enough stepping bodies, and all other islands. A large
// body or pile with three quarters of the blocks of all large ones steps after the jobs, on all
// threads. Else they are jobs: they keep several threads busy anyway.
void World::Impl::ChooseUnits() {
  num_units = 0;
  has_leavers = false;
  for (uint32_t c = 0; c < num_crowds; ++c) {
    const auto steps = [](const Body* body) { return body != nullptr && body->in_crowd_step; };
    Body* const* of_crowd = crowds[c]->bodies;
    if (std::count_if(of_crowd, of_crowd + kCrowdLanes, steps) >=
        static_cast<std::ptrdiff_t>(kLeastCrowd)) {
      units[num_units++] = c;
      const auto leaves = [](const Body* body) {
        return body != nullptr && body->in_lane && !body->in_crowd_step;
      };
      has_leavers = has_leavers || std::any_of(of_crowd, of_crowd + kCrowdLanes, leaves);
      continue;
    }
    for (Body* body : crowds[c]->bodies) {
      if (body != nullptr) body->in_crowd_step = false;
    }
  }
  num_crowd_units = num_units;
  const std::span<Body* const> all = live_bodies();
  size_t most = 0, of_large = 0;  // blocks
  shared_island = nullptr;
  for (Body* body : all) {
    const size_t blocks = LeadsSteppingIsland(*body) ? BlocksOf(*body) : 0;
    if (desc.jobs.run == nullptr || blocks < kBlocksForJobs) continue;
    of_large += blocks;
    if (blocks > most) {
      most = blocks;
      shared_island = body;
    }
  }
  if (4 * most < 3 * of_large) shared_island = nullptr;
  for (const Body* body : all) {
    if (LeadsSteppingIsland(*body) && body != shared_island) units[num_units++] = body->slot;
  }
}

void World::Impl::StepUnits() {
  // Bodies leave first, because a crowd's step changes all its lanes.
  const JobFunction leave = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    for (Body* body : world.crowds[world.units[index]]->bodies) {
      if (body != nullptr && !body->in_crowd_step) LeaveLane(body);
    }
  };
  if (has_leavers) RunJobs(num_crowd_units, leave);
  const JobFunction step_one = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    const uint32_t unit = world.units[index];
    if (index < world.num_crowd_units) {
      StepCrowd(world.settings, world.crowds[unit], world.body_stats.data());
    } else {
      Body* const first = world.bodies[unit];
      for (Body* body = first; body != nullptr; body = body->next_of_island) LeaveLane(body);
      StepIsland(world.settings, first, world.body_stats.data());
    }
  };
  RunJobs(num_units, step_one);
}

void World::Impl::StepSharedIsland() {
  if (shared_island == nullptr) return;
  StepSettings shared = settings;
  shared.jobs = &desc.jobs;
  for (Body* body = shared_island; body != nullptr; body = body->next_of_island) LeaveLane(body);
  StepIsland(shared, shared_island, body_stats.data());
}

// Fixed bodies move last: until then, bodies that touch them read their old positions.
void World::Impl::StepCarriedBodies() {
  for (Body* body : live_bodies()) {
    if (!body->Steps() || !IsCarried(*body)) continue;
    MoveFixedBody(dt, body, &body_stats[body->slot]);
    plush::EndStep(settings, body, &body_stats[body->slot]);
  }
}

// Measures how long all nodes have stayed near the resting place, within speed * time of
// SleepSettings. A body that has moved on gets a new resting place.
void NoteRest(const StepSettings& settings, float max_speed, Body* body) {
  RestingPlace& resting = body->resting;
  const SleepSettings& sleep = settings.sleep;
  const float most = sleep.speed * body->size * std::fmax(sleep.time, settings.dt);
  bool stays = resting.is_known;
  for (size_t i = 0; i < body->x.size() && stays; ++i) {
    const Vec3 way = body->x[i] - resting.x[i];
    stays = Dot(way, way) < most * most;
  }
  const bool is_slow = max_speed < sleep.speed * body->size * body->scale;
  resting.time = stays ? resting.time + settings.dt : (is_slow ? settings.dt : 0.0f);
  if (stays) return;
  resting.is_known = true;
  std::copy(body->x.begin(), body->x.end(), resting.x.begin());
}

// Begins a step without velocities and with the pressures of the shape as it is. What an error of
// the step holds off its equilibrium moves then. Sweeps find pressures of their own.
void TryRest(Body* body) {
  body->resting.is_tried = true;
  std::fill(body->v.begin(), body->v.end(), NodeVec());
  std::copy(body->x.begin(), body->x.end(), body->y.begin());
  const float h = body->in_lane ? body->crowd->kappa_dt : body->kappa_dt;
  if (h > 0.0f && body->splitting.volume_sweeps == 0) SetMultipliers(h, body);
  body->guard.is_known = false;
}

// Whether the nodes have hardly moved in such a step: in the mean, less than a tenth of what
// gravity moves them.
bool StaysAtRest(const StepSettings& settings, const Body& body) {
  constexpr double kShare = 0.1, kLeastGravity = 1.0;  // the latter in [m/s^2]
  double mass = 0.0, sum = 0.0;
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (!(body.x[i].w > 0.0f)) continue;
    mass += 1.0 / double(body.x[i].w);
    sum += double(Dot(body.v[i], body.v[i])) / double(body.x[i].w);
  }
  const double gravity =
      std::fmax(double(Length(GravityOf(settings, body))), kLeastGravity / double(body.scale));
  const double most = kShare * gravity * double(settings.dt);
  return sum <= most * most * mass;
}

// Notes how long the bodies of an island have been at rest. They fall asleep together, if they stay
// in a step from rest. Frozen ones never do, and keep none awake.
void World::Impl::MayFallAsleep(Body* first) {
  bool is_held = false, may_sleep = true;
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    is_held = is_held || (body->Steps() && IsHeld(settings, *body));
  }
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    body->falls_asleep = false;
    if (!MayMove(*body)) continue;
    if (!is_held || body->fixed) {
      body->resting.Forget();
    } else {
      NoteRest(settings, body_stats[body->slot].max_speed, body);
    }
    if (body->resting.time >= settings.sleep.time &&
        (IsOnWayOut(settings, *body) || TouchesMovingCollider(*body) || TouchesCarried(*body))) {
      body->resting.Forget();
    }
    may_sleep = may_sleep && body->resting.time >= settings.sleep.time;
  }
  bool is_tried = true, stays = true;
  for (Body* body = first; body != nullptr && may_sleep; body = body->next_of_island) {
    if (!MayMove(*body) || body->fixed) continue;
    is_tried = is_tried && body->resting.is_tried;
    stays = stays && StaysAtRest(settings, *body);
  }
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    if (!may_sleep) {
      body->resting.is_tried = false;
    } else if (!is_tried) {
      if (MayMove(*body) && !body->fixed) TryRest(body);
    } else if (!stays) {
      body->resting.Forget();
    } else {
      body->falls_asleep = MayMove(*body);
    }
  }
}

// A sleeping body keeps those statistics of its last step that are not about motion.
void World::Impl::FallAsleep(Body* body) {
  StepStats* own = &body_stats[body->slot];
  body->falls_asleep = false;
  body->asleep = true;
  body->in_crowd_step = false;
  body->has_previous = false;
  body->contacts.rebound = {};
  body->guard = {};
  for (NodeVec& velocity : body->v) velocity = Vec3{};
  *own = {.contacts = own->contacts, .flat_tets = own->flat_tets};
}

void World::Impl::EndStep() {
  FindTouches();
  for (Body* body : live_bodies()) {
    // A sleeping body that reports nothing keeps its touches.
    if (!body->asleep || !body->enabled || body->report_contacts) ReportTouches(body);
    if (!body->Steps()) continue;
    StepStats* own = &body_stats[body->slot];
    if (own->max_speed > body->max_speed) own->max_speed = LimitSpeed(body);
    body->moved = body->moved || !body->fixed || !body->pins.rests;
  }
  if (!AnyBodySteps()) return;
  for (Body* body : live_bodies()) {
    if (body->leads_island) MayFallAsleep(body);
  }
  for (Body* body : live_bodies()) {
    if (!body->Steps()) continue;
    if (body->was_asleep) RecordEvent(*body, BodyEventType::kWoke);
    if ((body_stats[body->slot].flags & kStepBodyFrozen) != 0) {
      RecordEvent(*body, BodyEventType::kFroze);
    }
    if (body->falls_asleep) FallAsleep(body);
    if (body->asleep) RecordEvent(*body, BodyEventType::kSlept);
    body->was_asleep = body->asleep;
  }
}

void World::Impl::RecordEvent(const Body& body, BodyEventType type) {
  if (num_events < events.size()) events[num_events] = {{body.id}, body.user_data, type};
  if (num_events < UINT32_MAX) ++num_events;
}

// In the order of the bodies, whatever order the jobs ran in.
void World::Impl::SumStats() {
  stats = {};
  if (num_events > events.size() || num_attachment_events > attachment_events.size() ||
      lost_contact_events) {
    stats.flags |= kStepEventsLost;
  }
  for (const Body* body : live_bodies()) {
    if (!body->enabled) continue;
    const StepStats& s = body_stats[body->slot];
    stats.flags |= s.flags;
    stats.max_speed = std::fmax(stats.max_speed, s.max_speed);
    stats.contact_sweeps = std::max(stats.contact_sweeps, s.contact_sweeps);
    stats.contacts += s.contacts;  // those between bodies follow
    stats.substeps = std::max(stats.substeps, s.substeps);
    stats.outer_iterations = std::max(stats.outer_iterations, s.outer_iterations);
    stats.asleep += body->asleep ? 1u : 0u;
    stats.contacts_dropped += s.contacts_dropped;
    stats.contacts_unsettled += s.contacts_unsettled;
    stats.overshoots += s.overshoots;
    stats.linear_iterations = std::max(stats.linear_iterations, s.linear_iterations);
    stats.newton_fallbacks += s.newton_fallbacks;
    stats.flat_tets += s.flat_tets;
    for (size_t k = 0; k < std::size(stats.phase_s); ++k) stats.phase_s[k] += s.phase_s[k];
  }
  for (const TouchingPair& pair : touching_bodies.Past()) {
    stats.body_pairs += pair.presses ? 1 : 0;
    stats.contacts += pair.end - pair.begin;
  }
  stats.pairs_searched = touching_bodies.num_searched;
  stats.phase_s[static_cast<size_t>(Phase::kFindPairs)] += touching_bodies.find_time;
  stats.contacts_dropped += touching_bodies.num_dropped;
  if (touching_bodies.has_dropped || touching_bodies.num_dropped > 0)
    stats.flags |= kStepContactsDropped;
  if (touching_bodies.has_open) stats.flags |= kStepSurfacesOpen;
  if (touching_bodies.has_fast) stats.flags |= kStepBodiesFast;
}

}  // namespace plush
