// SPDX-License-Identifier: MIT
// One step of an island: a body, or bodies that springs join, in substeps.
#include "body/attachment_step.h"
#include "body/body_colliders.h"
#include "body/pin_motion.h"
#include "body/substep.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace plush {
namespace {

// Places the planes for substep `k` of `count`.
void PlaceCollidersOf(const StepSettings& settings, int k, int count, Body* body) {
  const ContactMethod* method = settings.contact.method;
  if (method != nullptr) return method->place_planes(settings, k, count, body);
  PlaceLocalColliders(settings, static_cast<float>(k + 1) / static_cast<float>(count),
                      settings.dt / static_cast<float>(count), body);
}

StepSettings OwnSettings(const StepSettings& of_world, const Body& body) {
  StepSettings own = of_world;
  own.splitting = body.splitting;
  return own;
}

bool Moves(const Body& body) { return !body.fixed && !body.frozen; }

// Calls visit(body, its settings, its statistics) for the bodies of an island that move.
template <class Visit>
void ForMoving(const StepSettings& of_world, Body* first, StepStats* stats, const Visit& visit) {
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    if (body->Steps() && Moves(*body)) {
      visit(body, OwnSettings(of_world, *body), &stats[body->slot]);
    }
  }
}

// Substep `k` of `count` of an island. Islands of one body make as many outer iterations as it
// wants, others as many as any of their bodies wants, and more: bodies pull at each other only once
// in each of them.
void StepIslandOnce(const StepSettings& of_world, int k, int count, Body* first, StepStats* stats) {
  constexpr int kLeastOfSeveral = 4;
  const int least = first->next_of_island != nullptr ? kLeastOfSeveral : 1;
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    PlaceCollidersOf(own, k, count, body);
    BeginSubstep(own, k, count, body, of_body);
  });
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats*) {
    BeginAttachments(own, k, count, body);
  });
  for (bool wants = true; wants;) {
    wants = false;
    ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
      const SubstepOf of(own, k, count, body);
      Iterate(of, body, of_body);
      wants = wants || WantsIteration(of, *body, least);
    });
  }
  // A point may have sunk that the last solve did not know of, or the coarse correction after it.
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    IterateIfSunk(SubstepOf(own, k, count, body), body, of_body);
  });
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    EndSubstep(SubstepOf(own, k, count, body), body, of_body);
  });
}

// Places what bodies may touch at the start of the step. Returns the number of substeps that one of
// them wants and all can make.
int PlanSubsteps(const StepSettings& of_world, Body* first, StepStats* stats) {
  int wanted = 1, most = kMaxSubsteps;
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    if (!FindNearColliders(own, body)) of_body->flags |= kStepContactsDropped;
    StartTouches(body);
    PlaceLocalColliders(own, 0.0f, own.dt, body);
    wanted = std::max(wanted, CountSubsteps(own, *body));
    most = std::min(most, body->Factors().num_fractions);
  });
  const int substeps = std::min(wanted, most);
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings&, StepStats* of_body) {
    if (ColliderTurnsFar(*body, substeps)) of_body->flags |= kStepColliderTurnsFar;
  });
  return substeps;
}

// Adds what the island's phases since `start` do not explain to those of its first body.
void AddOtherTime(std::chrono::steady_clock::time_point start, float phases, StepStats* stats) {
  const float total =
      std::chrono::duration<float>(std::chrono::steady_clock::now() - start).count();
  stats->phase_s[static_cast<size_t>(Phase::kOther)] += std::fmax(total - phases, 0.0f);
}

}  // namespace

void StepIsland(const StepSettings& of_world, Body* first, StepStats* stats) {
  const auto start = std::chrono::steady_clock::now();
  int substeps = 0;
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    // The game may have named a contact method since the last step.
    if (body->Steps() && !SolvesContact(of_world)) body->contacts.Forget();
    if (body->Steps() && Moves(*body)) substeps = 1;
  }
  if (substeps > 0) substeps = PlanSubsteps(of_world, first, stats);
  ForMoving(of_world, first, stats, [&](Body*, const StepSettings&, StepStats* of_body) {
    of_body->substeps = static_cast<uint32_t>(substeps);
  });
  for (int k = 0; k < substeps; ++k) StepIslandOnce(of_world, k, substeps, first, stats);
  float phases = 0.0f;
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    if (!body->Steps()) continue;
    for (const float phase : stats[body->slot].phase_s) phases += phase;
  }
  if (substeps > 0) AddOtherTime(start, phases, &stats[first->slot]);
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    if (!body->Steps()) continue;
    const StepSettings own = OwnSettings(of_world, *body);
    if (body->fixed && (body->pins.moves || !body->pins.rests)) {
      MoveFixedBody(own.dt, body, &stats[body->slot]);
    }
    EndStep(own, body, &stats[body->slot]);
    if (Moves(*body)) FinishTouches(own, body);
  }
}

}  // namespace plush
