// SPDX-License-Identifier: MIT
// World::Step and its phases in order; runtime/README.md draws them.
// body_step.cpp steps one body, crowd.cpp a crowd.
#include "world/body_planes.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

namespace plush {
namespace {

// Whether something keeps a slow body from speeding up. Under weak gravity, a body at the top of
// its flight is slow for a long time although nothing holds it.
bool IsHeld(const StepSettings& settings, const Body& body) {
  const Vec3& g = settings.gravity;
  return (g.x == 0.0f && g.y == 0.0f && g.z == 0.0f) || body.system->num_pinned > 0 ||
         TouchesPlane(body);
}

}  // namespace

// Gives a new body a lane in a crowd of its system, or makes a crowd of the bodies without one. If
// memory runs out, the body steps by itself.
void World::Impl::PlaceInCrowd(Body* body) {
  if (!MayJoinCrowds(*body)) return;
  uint32_t least = kLeastCrowd;
  for (uint32_t c = 0; c < num_crowds; ++c) {
    if (crowds[c]->system != CrowdSystem(*body)) continue;
    least = kLeastFurtherCrowd;
    if (crowds[c]->num_bodies < kCrowdLanes && JoinCrowd(allocator, crowds[c], body)) return;
  }
  const auto waits = [&](const Body* other) {
    return other != nullptr && CrowdSystem(*other) == CrowdSystem(*body) &&
           other->crowd == nullptr && MayJoinCrowds(*other);
  };
  const auto end = bodies.begin() + num_bodies;
  if (std::count_if(bodies.begin(), end, waits) < static_cast<std::ptrdiff_t>(least)) return;
  if (!Reserve(&crowds, num_crowds)) return;
  Crowd* crowd = NewObject<Crowd>(allocator);
  if (crowd == nullptr) return;
  if (!crowd->Allocate(allocator, CrowdSystem(*body))) return DeleteObject(allocator, crowd);
  crowds[num_crowds++] = crowd;
  for (auto other = bodies.begin(); other != end && crowd->num_bodies < kCrowdLanes; ++other) {
    if (waits(*other) && !JoinCrowd(allocator, crowd, *other)) return;
  }
}

void World::Impl::RemoveEmptyCrowds() {
  uint32_t kept = 0;
  for (uint32_t c = 0; c < num_crowds; ++c) {
    if (crowds[c]->num_bodies > 0) {
      crowds[kept++] = crowds[c];
    } else {
      DeleteObject(allocator, crowds[c]);
    }
  }
  num_crowds = kept;
}

uint32_t World::Step(float dt) {
  if (impl_ == nullptr) return kStepOutOfMemory;
  Impl& w = *impl_;
  w.stats = {};
  if (!IsTimeStep(dt)) return w.stats.flags = kStepInvalidArgument;
  bool made = false;
  const Status prepared = w.PrepareFactors(dt, &made);
  if (!prepared.ok()) {
    return w.stats.flags =
               prepared.code == StatusCode::kOutOfMemory ? kStepOutOfMemory : kStepInvalidArgument;
  }
  w.BeginStep(dt);
  w.DecideCrowdSteps();
  w.ChooseUnits();
  w.StepUnits();
  w.StepSharedBody();
  w.EndStep();
  w.SumStats();
  if (made) w.stats.flags |= kStepPreparedTimeStep;
  return w.stats.flags;
}

void World::Impl::BeginStep(float new_dt) {
  dt = new_dt;
  for (uint32_t i = 0; i < num_bodies; ++i) {
    if (bodies[i] != nullptr) bodies[i]->dt = new_dt;
  }
  settings = {desc.gravity, desc.solver, {planes.data(), num_planes}, new_dt, desc.measure_energy};
}

void World::Impl::DecideCrowdSteps() {
  const JobFunction decide = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    Body* body = world.bodies[index];
    if (body == nullptr || body->asleep) return;
    world.body_stats[index] = {};
    DecideCrowdStep(world.settings, body);
  };
  RunJobs(num_bodies, decide);
}

// Chooses the jobs of a step: crowds with enough stepping bodies, and all other bodies. A single
// large body steps after the jobs, on all threads. Several large bodies are jobs: they keep several
// threads busy anyway.
void World::Impl::ChooseUnits() {
  num_units = 0;
  has_leavers = false;
  for (uint32_t c = 0; c < num_crowds; ++c) {
    const auto steps = [](const Body* body) { return body != nullptr && body->in_crowd_step; };
    Body* const* of_crowd = crowds[c]->bodies;
    if (std::count_if(of_crowd, of_crowd + kCrowdLanes, steps) >= std::ptrdiff_t{kLeastCrowd}) {
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
  const auto steps_alone = [](const Body* body) {
    return body != nullptr && !body->in_crowd_step && !body->asleep;
  };
  const auto is_large = [&](const Body* body) {
    return steps_alone(body) && !body->fixed && body->elements.blocks.size() >= kBlocksForJobs;
  };
  const auto end = bodies.begin() + num_bodies;
  const bool shares = desc.jobs.run != nullptr && std::count_if(bodies.begin(), end, is_large) == 1;
  shared_body = shares ? *std::find_if(bodies.begin(), end, is_large) : nullptr;
  for (uint32_t i = 0; i < num_bodies; ++i) {
    if (steps_alone(bodies[i]) && bodies[i] != shared_body) units[num_units++] = i;
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
      LeaveLane(world.bodies[unit]);
      StepBody(world.settings, world.bodies[unit], &world.body_stats[unit]);
    }
  };
  RunJobs(num_units, step_one);
}

void World::Impl::StepSharedBody() {
  if (shared_body == nullptr) return;
  StepSettings shared = settings;
  shared.jobs = &desc.jobs;
  LeaveLane(shared_body);
  StepBody(shared, shared_body, &body_stats[shared_body->index]);
}

// A sleeping body keeps the statistics of its last step, with those of its motion set to zero.
void World::Impl::MayFallAsleep(Body* body) {
  StepStats* own = &body_stats[body->index];
  const SolverSettings& solver = settings.solver;
  if (body->fixed || body->frozen || !(own->max_speed < solver.sleep_speed * body->size) ||
      !IsHeld(settings, *body)) {
    body->still_time = 0.0f;
    return;
  }
  body->still_time += settings.dt;
  if (body->still_time < solver.sleep_time) return;
  body->asleep = true;
  body->in_crowd_step = false;
  for (NodeVec& velocity : body->v) velocity = Vec3{};
  own->flags = kStepOk;
  own->held_residual = 0.0f;
  own->kinetic_j = 0.0;
  own->max_speed = 0.0f;
  own->substeps = 0;
  own->outer_iterations = 0;
  for (float& seconds : own->phase_s) seconds = 0.0f;
}

void World::Impl::EndStep() {
  for (uint32_t i = 0; i < num_bodies; ++i) {
    Body* body = bodies[i];
    if (body == nullptr || body->asleep) continue;
    body->moved = body->moved || !body->fixed;
    MayFallAsleep(body);
  }
}

// In the order of the bodies, whatever order the jobs ran in.
void World::Impl::SumStats() {
  for (uint32_t i = 0; i < num_bodies; ++i) {
    const StepStats& s = body_stats[i];
    stats.flags |= s.flags;
    stats.kinetic_j += s.kinetic_j;
    stats.elastic_j += s.elastic_j;
    stats.gravity_j += s.gravity_j;
    stats.max_speed = std::fmax(stats.max_speed, s.max_speed);
    stats.max_penetration = std::fmax(stats.max_penetration, s.max_penetration);
    stats.min_det_f = std::fmin(stats.min_det_f, s.min_det_f);
    stats.held_residual = std::fmax(stats.held_residual, s.held_residual);
    stats.contacts += s.contacts;
    stats.substeps = std::max(stats.substeps, s.substeps);
    stats.outer_iterations = std::max(stats.outer_iterations, s.outer_iterations);
    stats.asleep += bodies[i] != nullptr && bodies[i]->asleep ? 1u : 0u;
    stats.inverted_tets += s.inverted_tets;
    stats.collapsed_tets += s.collapsed_tets;
    for (size_t k = 0; k < std::size(stats.phase_s); ++k) stats.phase_s[k] += s.phase_s[k];
  }
}

}  // namespace plush
