// SPDX-License-Identifier: MIT
// One step of an island: a body, or bodies that springs join, in substeps.
#include "body/attachment_step.h"
#include "body/body_colliders.h"
#include "body/coarse_correction.h"
#include "body/island.h"
#include "body/island_momenta.h"
#include "body/pin_motion.h"
#include "body/restitution.h"
#include "body/solver_method.h"
#include "contact/body_contacts.h"
#include "contact/contact_pushes.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <utility>

namespace plush {
namespace {

// Places the planes for substep `k` of `count`.
void PlaceCollidersOf(const StepSettings& settings, int k, int count, Body* body) {
  const ContactMethod* method = settings.contact.method;
  if (method != nullptr) return method->place_planes(settings, k, count, body);
  PlaceLocalColliders(settings, static_cast<float>(k + 1) / static_cast<float>(count),
                      settings.dt / static_cast<float>(count), body);
}

// Calls visit(contact) once for each contact between the bodies of an island. `list`: where bodies
// have them.
template <class Visit>
void ForBetween(Body* first, std::span<BodyContactSide> ContactState::*list, Visit visit) {
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    for (const BodyContactSide& at : body->contacts.*list) {
      if (at.side == at.contact->Owner()) visit(at.contact);
    }
  }
}

void PlaceStates(Body* first) {
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    ContactState& state = body->contacts;
    if (state.is_static) continue;  // other islands may read it
    state.x = body->x.span();
    state.y = body->y.span();
    std::copy(body->origin, body->origin + 3, state.origin);
  }
}

// Begins substep `k` of `h` seconds for contacts between the bodies of an island.
void BeginBetween(float h, int k, Body* first) {
  PlaceStates(first);
  ForBetween(first, &ContactState::between, [&](BodyContact* contact) {
    contact->row.impulse = contact->force * (h * h);
    BeginSubstep(h * static_cast<float>(k), h * static_cast<float>(k + 1), contact);
  });
}

// The same if a contact method acts on them.
void PlaceApart(float h, int k, Body* first) {
  ForBetween(first, &ContactState::apart, [&](BodyContact* contact) {
    BeginSubstep(h * static_cast<float>(k), h * static_cast<float>(k + 1), contact);
  });
}

// Lets the method push them. What it does to the bodies' positions follows in their BeginSubstep.
void BeginApart(const StepSettings& of_world, float h, int k, Body* first) {
  PlaceStates(first);
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    std::ranges::fill(body->d, NodeVec());
    body->contacts.moved_nodes = {body->v.span(), body->d.span(), body->y.span()};
  }
  PlaceApart(h, k, first);
  const auto push = of_world.contact.method->push_between;
  ForBetween(first, &ContactState::apart, [&](BodyContact* contact) {
    contact->row.impulse = {};
    if (push != nullptr) push(of_world, h, contact);
  });
}

// Lets a contact method correct the iterates.
void CorrectApart(const StepSettings& of_world, float h, Body* first) {
  const auto correct = of_world.contact.method->correct_between;
  if (correct == nullptr) return;
  ForBetween(first, &ContactState::apart,
             [&](BodyContact* contact) { correct(of_world, h, contact); });
}

void EndBetween(float h, const Body& body) {
  for (const auto list : {body.contacts.between, body.contacts.apart}) {
    for (const BodyContactSide& at : list) {
      BodyContact& contact = *at.contact;
      if (at.side != contact.Owner()) continue;
      contact.force = contact.row.impulse * (1.0f / (h * h));
      contact.pressed += NormalImpulse(contact.row) / h;
    }
  }
}

// Whether bodies of an island have contacts with others in a list.
bool HasBetween(const Body* first, std::span<BodyContactSide> ContactState::*list) {
  for (const Body* body = first; body != nullptr; body = body->next_of_island) {
    if (body->Steps() && !(body->contacts.*list).empty()) return true;
  }
  return false;
}

}  // namespace

void CorrectJointly(const StepSettings& of_world, int k, int count, Body* first, StepStats* stats) {
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    Body::Progress& p = body->progress;
    const SubstepOf of(own, k, count, body);
    p.is_corrected = p.is_owed && BeginJointCorrection(of.settings, of.h, body, of_body);
  });
  Chain<CoarseContacts> coarse;
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings&, StepStats*) {
    if (body->progress.is_corrected) coarse.Add(&body->coarse_solve);
  });
  if (coarse.first == nullptr) return;
  {
    const PhaseTimer timer(&stats[first->slot], Phase::kContact);
    SolveCoarseContacts(coarse.first, of_world.jobs);
  }
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    const SubstepOf of(own, k, count, body);
    if (body->progress.is_corrected) EndJointCorrection(of.settings, of.h, body, of_body);
  });
}

namespace {

// One outer iteration of an island whose bodies touch each other.
void IterateJointly(const StepSettings& of_world, int k, int count, Body* first, StepStats* stats) {
  CorrectJointly(of_world, k, count, first, stats);
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    BeginJointSolve(SubstepOf(own, k, count, body), body, of_body);
  });
  Chain<ContactSolve> fine;
  ForMoving(of_world, first, stats,
            [&](Body* body, const StepSettings&, StepStats*) { fine.Add(&body->solve); });
  {
    const PhaseTimer timer(&stats[first->slot], Phase::kContact);
    SolveWithContacts(fine.first, of_world.jobs);
  }
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    EndJointSolve(SubstepOf(own, k, count, body), body, of_body);
  });
}

// Finds how far deep points of an island come out, whose bodies touch each other. Returns whether
// there are any.
bool PushJointly(const StepSettings& of_world, int k, int count, Body* first, StepStats* stats) {
  const PhaseTimer timer(&stats[first->slot], Phase::kContact);
  Chain<ContactSolve> chain;
  float share = 0.0f;
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats*) {
    const SubstepOf of(own, k, count, body);
    BeginPush(of, body);
    share = ShareOut(of);
    chain.Add(&body->solve);
  });
  return chain.first != nullptr && FindPushOut(share, chain.first, of_world.jobs);
}

// Changes velocities as restitution between the bodies asked for.
void ThrowJointly(const StepSettings& of_world, int k, int count, const JointThrow& thrown,
                  Body* first, StepStats* stats) {
  const PhaseTimer timer(&stats[first->slot], Phase::kContact);
  Chain<ContactSolve> chain;
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats*) {
    const SubstepOf of(own, k, count, body);
    BeginPush(of, body);
    body->solve.turn = {};
    if (TurnsFreely(*body)) {
      body->solve.turn =
          FindFreeTurn(of.system, body->x.span(), body->contacts.couplings.columns.span());
    }
    body->contacts.x = body->x.span();  // the substep may have swapped it
    chain.Add(&body->solve);
  });
  const float h = of_world.dt / static_cast<float>(count);
  if (chain.first != nullptr) ThrowJointly(of_world, h, thrown, chain.first, first);
}

// Makes the outer iterations of substep `k` of `count`, at least `least` of a body.
void SolveIsland(const StepSettings& of_world, int k, int count, bool is_joint, int least,
                 Body* first, StepStats* stats) {
  for (bool wants = true; wants;) {
    wants = false;
    if (is_joint) IterateJointly(of_world, k, count, first, stats);
    ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
      const SubstepOf of(own, k, count, body);
      if (!is_joint) Iterate(of, body, of_body);
      wants = wants || WantsIteration(of, body, least);
    });
    const ContactMethod* const method = of_world.contact.method;
    if (method == nullptr || !method->corrects_iterates) continue;
    ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats*) {
      const SubstepOf of(own, k, count, body);
      method->correct(of.settings, of.h, body);
    });
    CorrectApart(of_world, of_world.dt / static_cast<float>(count), first);
  }
  // A point may have sunk that the last solve did not know of, or the coarse correction after it.
  if (!is_joint) {
    ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
      const SubstepOf of(own, k, count, body);
      if (IsSunk(of, body)) IterateOnce(of, body, of_body);
    });
    return;
  }
  // In a heap, some point nearly always has, and all bodies would iterate again for it. If another
  // substep follows, it finds the point anyway.
  if (k + 1 < count) return;
  std::atomic<bool> is_sunk = false;
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats*) {
    if (IsSunk(SubstepOf(own, k, count, body), body)) is_sunk = true;
  });
  if (is_sunk) IterateJointly(of_world, k, count, first, stats);
}

// Lets the solver of the first body that names one advance an island whose bodies touch each other
// or fixed ones, or are joined. Returns false if the substep is splitting's.
bool AdvanceJointly(const StepSettings& of_world, int k, int count, Body* first, StepStats* stats) {
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    const SolverMethod* method = body->solver.method;
    if (method != nullptr && body->Steps() && Moves(*body)) {
      return method->advance_island(of_world, k, count, first, stats);
    }
  }
  return false;
}

// The least outer iterations of bodies that springs join. Soft beams need four for forces within
// 1%. In very stiff bodies, errors grow from iteration to iteration: a chain of ten planks of 16 cm
// and 1e8 Pa exploded with three, and moves as it should with two.
int LeastOfJoined(float h, Body* first) {
  constexpr double kStiff = 100.0;  // clusters
  int least = 4;
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    if (body->Steps() && Moves(*body) && body->system->coarse.CrossesClusters(h, kStiff)) least = 2;
  }
  return least;
}

// Substep `k` of `count` of an island. Islands of one body make as many outer iterations as it
// wants, others as many as any of their bodies wants.
void StepIslandOnce(const StepSettings& of_world, int k, int count, Body* first, StepStats* stats) {
  const bool is_joint = HasBetween(first, &ContactState::between);
  const bool is_apart = HasBetween(first, &ContactState::apart);
  const bool has_springs_only = first->next_of_island != nullptr && !is_joint && !is_apart;
  const float h = of_world.dt / static_cast<float>(count);
  const int least = has_springs_only ? LeastOfJoined(h, first) : 1;
  if (is_apart) BeginApart(of_world, h, k, first);
  IslandMomenta momenta;
  if (is_joint) momenta = FindMomenta(of_world, h, first);
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    PlaceCollidersOf(own, k, count, body);
    BeginSubstep(own, k, count, body, of_body);
  });
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats*) {
    BeginAttachments(own, k, count, body);
  });
  if (is_joint) BeginBetween(h, k, first);
  if (is_apart) PlaceApart(h, k, first);  // the method may have moved them
  const bool is_single = first->next_of_island == nullptr && !is_joint;
  const bool is_advanced = !is_single && AdvanceJointly(of_world, k, count, first, stats);
  if (!is_advanced) {
    ForMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats*) {
      if (body->attached.any()) TurnAlone(own, h, body);
    });
    SolveIsland(of_world, k, count, is_joint || has_springs_only, least, first, stats);
  }
  if (is_apart && !of_world.contact.method->corrects_iterates) CorrectApart(of_world, h, first);
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    EndSolves(SubstepOf(own, k, count, body), body, of_body);
  });
  JointThrow thrown;
  if (is_joint) thrown = FindJointThrow(of_world, h, first);
  const bool is_pushed = is_joint && PushJointly(of_world, k, count, first, stats);
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    const SubstepOf of(own, k, count, body);
    EndSubstep(of, is_joint ? is_pushed : FindWayOut(of, body, of_body), body, of_body);
    EndBetween(h, *body);
  });
  if (thrown.owed != nullptr) ThrowJointly(of_world, k, count, thrown, first, stats);
  if (momenta.known) GiveMomenta(momenta, first);
}

// The same for the bodies that one touches: 2 v dt / e of the fastest approach, as CountSubsteps.
// Two stiff bodies that pressed on each other in the last step take more, so that stress waves
// cross few clusters of the softer one in each: a substep's few iterations would not bring the
// turns of stacked bodies to rest. (Ten cubes of 0.2 m and 1e7 Pa shook and fell over in steps of
// 14 ms and more, that is from 18 clusters on; with substeps they stand, and a step takes a fifth
// of the time.)
int CountSubstepsBetween(const StepSettings& settings, const Body& body) {
  constexpr double kMostClusters = 17.0;
  float fastest = 0.0f;
  double wave_rate6 = 0.0;
  for (const BodyContactSide& at : body.contacts.between) {
    const BodyContact& contact = *at.contact;
    fastest = std::fmax(fastest, contact.ApproachSpeed());
    if (Dot(contact.force, contact.force) == 0.0f) continue;
    const double softer =
        std::fmin(contact.sides[0].of->wave_rate6, contact.sides[1].of->wave_rate6);
    wave_rate6 = std::fmax(wave_rate6, softer);
  }
  const float edge = body.simulation.median_edge * body.scale;
  const float wanted = std::ceil(2.0f * fastest * settings.dt / edge);
  const int most = settings.contact.max_substeps;
  int count = wanted > 1.0f ? static_cast<int>(std::fmin(wanted, static_cast<float>(most))) : 1;
  const auto is_long = [&] {
    return CrossesClusters(wave_rate6, settings.dt / static_cast<float>(count), kMostClusters);
  };
  while (SolvesContact(settings) && count < most && is_long()) ++count;
  return count;
}

// Whether a contact's bodies approach by more than half the thickness of the thinner one in a
// substep of `h` seconds.
bool IsFast(float h, const BodyContact& contact) {
  constexpr float kMostShare = 0.5f;
  const float thinner = ThinnerOf(*contact.sides[0].of, *contact.sides[1].of);
  return thinner > 0.0f && contact.ApproachSpeed() * h > kMostShare * thinner;
}

// Places what bodies may touch at the start of the step. Returns the number of substeps that one of
// them wants and all can make.
int PlanSubsteps(const StepSettings& of_world, Body* first, StepStats* stats) {
  int most = kMaxSubsteps;
  std::atomic<int> wanted = 1;
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    if (!FindNearColliders(own, body)) of_body->flags |= kStepContactsDropped;
    StartTouches(body);
    PlaceLocalColliders(own, 0.0f, own.dt, body);
    const int of_this = std::max(CountSubsteps(own, *body), CountSubstepsBetween(own, *body));
    for (int before = wanted; before < of_this && !wanted.compare_exchange_weak(before, of_this);) {
    }
  });
  ForMoving(of_world, first, stats, [&](Body* body, const StepSettings&, StepStats*) {
    most = std::min(most, body->Factors().num_fractions);
  });
  const int substeps = std::min(wanted.load(), most);
  ShareMoving(of_world, first, stats, [&](Body* body, const StepSettings& own, StepStats* of_body) {
    if (ColliderTurnsFar(own, *body, substeps)) of_body->flags |= kStepColliderTurnsFar;
    const float h = of_world.dt / static_cast<float>(substeps);
    for (const BodyContactSide& at : body->contacts.between) {
      if (IsFast(h, *at.contact)) of_body->flags |= kStepBodiesFast;
    }
  });
  return substeps;
}

// Whether a body of an island moves. In a substep, all may freeze.
bool AnyMoves(const Body* first) {
  for (const Body* body = first; body != nullptr; body = body->next_of_island) {
    if (body->Steps() && Moves(*body)) return true;
  }
  return false;
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
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    // The game may have named a contact method since the last step.
    if (body->Steps() && !SolvesContact(of_world)) body->contacts.Forget();
  }
  const int substeps = AnyMoves(first) ? PlanSubsteps(of_world, first, stats) : 0;
  ForMoving(of_world, first, stats, [&](Body*, const StepSettings&, StepStats* of_body) {
    of_body->substeps = static_cast<uint32_t>(substeps);
  });
  const auto take_apart = [&] {
    for (Body* body = first; body != nullptr && !SolvesContact(of_world);
         body = body->next_of_island) {
      std::swap(body->contacts.between, body->contacts.apart);
    }
  };
  take_apart();
  for (int k = 0; k < substeps && AnyMoves(first); ++k) {
    StepIslandOnce(of_world, k, substeps, first, stats);
  }
  take_apart();
  float phases = 0.0f;
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    if (!body->Steps()) continue;
    for (const float phase : stats[body->slot].phase_s) phases += phase;
  }
  if (substeps > 0) AddOtherTime(start, phases, &stats[first->slot]);
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    if (!body->Steps()) continue;
    const StepSettings own = OwnSettings(of_world, *body);
    if (IsCarried(*body)) continue;  // it moves when all others have stepped
    EndStep(own, body, &stats[body->slot]);
    if (Moves(*body)) FinishTouches(own, body);
  }
}

}  // namespace plush
