// SPDX-License-Identifier: MIT
// Impulses along normals, without friction, that take deep points out or part bodies after an
// impact. Source: contact_pushes.h.
#include "contact/contact_pushes.h"

#include "base/shared_list.h"
#include "contact/contact_couplings.h"
#include "contact/sweep_rounds.h"
#include "solver/panel_solve.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

// Lets contacts yield as they do along their normals: without friction, nothing else counts.
void YieldToTurns(ContactSolve* first, const JobSystem* jobs) {
  const auto response = [](ContactState* state, uint32_t slot, const Vec3& normal) {
    const PointCouplings& S = state->couplings;
    const float own = S.Row(slot)[slot];
    if (state->turn == nullptr) return own;
    const TurnedPoint point(*state->turn, S.points[slot]);
    return own + Dot(normal, point.MovedBy(point.Answer(*state->turn, normal)));
  };
  ForShared(jobs, first, &ContactSolve::next, [&](ContactSolve* of) {
    for (PlaneContact& contact : of->state->Current()) {
      contact.yielding = YieldingOf(response(of->state, contact.slot, contact.plane.normal));
    }
    ForBetween(*of->state, [&](BodyContact* contact) {
      float sum = 0.0f;
      for (const BodyContact::Side& side : contact->sides) {
        if (!side.of->in_solve) continue;
        const float s = side.of->scale;
        sum += response(side.of, side.slot, contact->row.plane.normal) / (s * s * s);
      }
      contact->row.yielding = YieldingOf(sum);
    });
  });
}

// Adds the free turn to d = A^-1 f.
void AddTurn(const ContactSolve& of) {
  const FreeTurn& turn = of.turn;
  const std::span<const NodeVec> x = turn.nodes;
  Vec3 moment;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(x[i].w > 0.0f)) continue;
    of.d[i] -= Cross(turn.turning.kept, turn.z[i]);
    moment += Cross(x[i] - turn.centre, of.d[i]) * (1.0f / x[i].w);
  }
  const Vec3 missing = turn.turning.kept - turn.yielding * moment;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].w > 0.0f) of.d[i] += Cross(missing, x[i] - turn.centre);
  }
}

// Finds impulses along the contacts' normals, without friction, that move each point by at least
// `push` [m] of its contact, which become those impulses. `d` = A^-1 impulses.
void FindPushes(int sweeps, ContactSolve* first, const JobSystem* jobs = nullptr) {
  FindCouplings(first, jobs);
  YieldToTurns(first, jobs);
  const auto change_of = [](const Vec3& moved, PlaneContact* contact) {
    const float missing = contact->limit - Dot(contact->plane.normal, moved);
    const float change = std::fmax(missing * contact->yielding, -contact->push);
    contact->push += change;
    return contact->plane.normal * change;
  };
  ForShared(jobs, first, &ContactSolve::next, [](ContactSolve* of) {
    ContactState& state = *of->state;
    std::fill(state.moved.begin(), state.moved.end(), 0.0f);
    const auto start = [](PlaneContact* contact) {
      contact->limit = contact->push;
      contact->push = 0.0f;
    };
    for (PlaneContact& contact : state.Current()) start(&contact);
    ForBetween(state, [&](BodyContact* contact) { start(&contact->row); });
  });
  const SweepRounds rounds(first);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    rounds.ForEach(jobs, [&](ContactSolve* of, uint32_t round) {
      ContactState* state = of->state;
      if (round == 0) {
        for (PlaneContact& contact : state->Current()) {
          const Vec3 change = change_of(MotionAt(state, contact.slot), &contact);
          if (!IsZero(change)) PushSlot(contact.slot, change, state);
        }
      }
      ForChanged(state->BetweenIn(round), [&](BodyContact* contact) {
        const Vec3 change = change_of(MotionOf(*contact), &contact->row);
        if (!IsZero(change)) PushSlots(*contact, change);
      });
    });
  }
  ForShared(jobs, first, &ContactSolve::next, [](ContactSolve* of) {
    std::fill(of->d.begin(), of->d.end(), NodeVec());
    for (const PlaneContact& contact : of->state->Current()) {
      of->state->PointOf(contact).Push(contact.plane.normal * contact.push, of->d);
    }
    for (const BodyContactSide& at : of->state->between) {
      if (!at.acts) continue;
      const PlaneContact& row = at.contact->row;
      at.contact->sides[at.side].point.Push(at.contact->Own(at.side, row.plane.normal * row.push),
                                            of->d);
    }
    SolvePanels(of->system.factor, of->system.workspace, of->d);
    if (of->state->turn != nullptr) AddTurn(*of);
  });
}

// The gap of a contact at problem.y, but for what pinned nodes account for [m].
float FreeGap(const ContactSolve& of, const PlaneContact& contact) {
  const std::span<const NodeVec> y = of.problem.y;
  const EmbeddedPoint& point = of.state->PointOf(contact);
  return Gap(contact, point.Of(y)) + point.PinnedDepth(of.problem.most_pinned, [&](uint32_t node) {
    return Gap(contact, y[node]);
  });
}

// Deep points that do not press have no contacts: where others carry the body, they would stay
// deep. Between several colliders they may have no way out.
void AddDeepPoints(ContactSolve* of) {
  const std::span<const PlaneContact> contacts = of->state->Current();
  const bool is_deep = std::ranges::any_of(contacts, [&](const PlaneContact& contact) {
    return FreeGap(*of, contact) < -of->problem.slop;
  });
  const bool is_of_one = std::ranges::all_of(contacts, [&](const PlaneContact& contact) {
    return contact.collider == contacts[0].collider;
  });
  if (!is_deep || !is_of_one) return;
  ContactProblem problem = of->problem;
  problem.tolerance = of->problem.slop;
  problem.slop = problem.rise = std::numeric_limits<float>::infinity();  // no depth is allowed
  AddContacts(problem, {}, of->state);
}

}  // namespace

bool FindPushOut(float share, ContactSolve* first, const JobSystem* jobs) {
  std::atomic<bool> any = false;
  for (ContactSolve* of = first; of != nullptr; of = of->next) of->state->y = of->problem.y;
  BeginSolve(jobs, first);
  ForShared(jobs, first, &ContactSolve::next, [&](ContactSolve* of) {
    const float slop = of->problem.slop;
    bool any_of_body = false;
    AddDeepPoints(of);
    const auto want = [&](float gap, float least, PlaneContact* contact) {
      const bool is_deep = gap < -least;
      contact->push = is_deep ? -share * gap : -gap;
      any_of_body = any_of_body || is_deep;
    };
    for (PlaneContact& contact : of->state->Current()) {
      want(FreeGap(*of, contact), slop, &contact);
    }
    ForBetween(*of->state, [&](BodyContact* contact) {
      const float gap = Dot(contact->row.plane.normal, InFloat(contact->WayNow()));
      want(gap + contact->rest, contact->rest, &contact->row);
    });
    if (any_of_body) any.store(true, std::memory_order_relaxed);
  });
  if (any) FindPushes(first->problem.sweeps, first, jobs);
  EndSolve(first);
  return any;
}

NotedRebounds NoteRebounds(const ContactProblem& problem, NodeVectors v, float h, float least,
                           ContactState* state) {
  NotedRebounds noted;
  for (PlaneContact& contact : state->Current()) {
    const LocalCollider& collider = problem.InSlot(contact.collider);
    const EmbeddedPoint& point = state->PointOf(contact);
    const Vec3& normal = contact.plane.normal;
    const Vec3 carried = collider.MotionAt(point.Of(problem.x)) * (1.0f / h);
    contact.carried = Dot(normal, carried);
    const float speed = contact.carried - Dot(normal, point.Of(v));
    const float restitution = problem.coefficients.Restitution(point, collider, contact.face);
    const float own = speed > least ? restitution * speed : 0.0f;
    const bool is_owed = restitution > 0.0f && contact.collider == state->rebound.collider;
    contact.rebound = is_owed ? std::fmax(own, state->rebound.speed) : own;
    if (contact.rebound > noted.speed) {
      noted = {contact.rebound, contact.collider, carried, contact.rebound == own};
    }
  }
  return noted;
}

void FindRebound(NodeVectors v, ContactSolve* of) {
  constexpr int kSweeps = 32;
  ContactState* const state = of->state;
  for (PlaneContact& contact : state->Current()) {
    const Vec3& normal = contact.plane.normal;
    const float speed = Dot(normal, state->PointOf(contact).Of(v)) - contact.carried;
    contact.rebound = (contact.rebound > 0.0f ? contact.rebound : std::fmin(speed, 0.0f)) - speed;
  }
  for (PlaneContact& contact : state->Current()) contact.push = contact.rebound;
  state->turn = of->turn.acts ? &of->turn : nullptr;
  BeginSolve(nullptr, of);
  ForBetween(*state, [](BodyContact* contact) {
    contact->row.push = -std::numeric_limits<float>::max();  // asks for nothing
  });
  FindPushes(kSweeps, of);
  state->turn = nullptr;
  EndSolve(of);
}

void FindJointRebound(ContactSolve* first) {
  constexpr int kSweeps = 32;
  for (ContactSolve* of = first; of != nullptr; of = of->next) {
    of->state->turn = of->turn.acts ? &of->turn : nullptr;
  }
  BeginSolve(nullptr, first);
  for (ContactSolve* of = first; of != nullptr; of = of->next) {
    const ContactState& state = *of->state;
    for (PlaneContact& contact : of->state->Current()) {
      const float speed =
          Dot(contact.plane.normal, state.PointOf(contact).Of(state.v)) - contact.carried;
      contact.push = std::fmin(speed, 0.0f) - speed;
    }
    ForBetween(state, [](BodyContact* contact) {
      PlaneContact& row = contact->row;
      row.push = -std::numeric_limits<float>::max();  // asks for nothing
      if (!(NormalImpulse(row) > 0.0f)) return;
      const float speed = -contact->ApproachSpeed();
      row.push = (row.rebound > 0.0f ? row.rebound : std::fmin(speed, 0.0f)) - speed;
    });
  }
  FindPushes(kSweeps, first);
  for (ContactSolve* of = first; of != nullptr; of = of->next) of->state->turn = nullptr;
  EndSolve(first);
}

}  // namespace plush
