// SPDX-License-Identifier: MIT
// Who steps with whom: bodies in crowds, by themselves, shared by all threads, or not at all.
#include "base/array.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cstddef>

namespace plush {

// Gives a new body a lane: in a crowd of its system with a free one, or in a new crowd with others
// that have none yet. Where there is no memory for one, bodies step by themselves.
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
  if (std::count_if(bodies.begin(), end, waits) < std::ptrdiff_t{least}) return;
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

// The jobs of a step: crowds with enough bodies that take part, and all other bodies. A large one
// that is the only one of its size steps after them, shared by all threads; several keep several
// threads busy as they are.
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

void World::Impl::StepSharedBody() {
  if (shared_body == nullptr) return;
  StepSettings shared = settings;
  shared.jobs = &desc.jobs;
  LeaveLane(shared_body);
  StepBody(shared, shared_body, &body_stats[shared_body->index]);
}

// Its statistics stay those of its last step, but for the motion that it has lost.
void World::Impl::MayFallAsleep(Body* body) {
  StepStats* own = &body_stats[body->index];
  const SolverSettings& solver = settings.solver;
  if (body->fixed || body->frozen || !(own->max_speed < solver.sleep_speed * body->size)) {
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

}  // namespace plush
