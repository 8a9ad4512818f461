// SPDX-License-Identifier: MIT
// Contact impulses on the coarse level: projected Gauss-Seidel with D = J Z C^-1 Z^T J^T.
// Source: see coarse_contacts.h.
#include "contact/coarse_contacts.h"

#include "base/shared_list.h"
#include "contact/body_contacts.h"
#include "contact/coarse_attached.h"
#include "contact/contact_couplings.h"
#include "contact/sweep_rounds.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Few contacts on stiff clusters converge slowly: the block of D is far from a multiple of I. A
// body on four nodes would rock for ever with 8 sweeps. Several bodies hand loads on to each other:
// with 32 sweeps, the cubes of a stack rocked by up to 6 mm/s, and stiff planks that a spring joins
// by 0.5% of their length per second. A soft body's clusters are too stiff: the better its coarse
// impulses have converged, the larger is the error of its motion.
constexpr int kMostSweeps = 32, kMostSweepsOfSeveral = 64, kMostSweepsOfSoft = 4;

}  // namespace

void AddContactImpulses(const ContactState& state, std::span<const uint16_t> clusters,
                        std::span<const NodeVec> y, std::span<ClusterSums> sums) {
  const auto add = [&](const EmbeddedPoint& point, const Vec3& on_point) {
    for (int k = 0; k < 4; ++k) {
      ClusterSums& sum = sums[clusters[point.nodes[k]]];
      const Vec3 impulse = on_point * point.Free(k);
      sum.impulse += impulse;
      sum.moment += Cross(y[point.nodes[k]] - sum.centre, impulse);
    }
  };
  for (const PlaneContact& contact : state.Current()) add(state.PointOf(contact), contact.impulse);
  for (const BodyContactSide& at : state.between) {
    add(at.contact->sides[at.side].point, at.contact->Own(at.side, at.contact->row.impulse));
  }
}

namespace {

CoarsePoint Place(const EmbeddedPoint& point, const CoarseContacts& of, TouchedClusters* touched) {
  Vec3 at[4];
  for (int k = 0; k < 4; ++k) at[k] = of.problem.y[point.nodes[k]];
  return touched->Place(point, of.clusters, at);
}

void PlaceContacts(CoarseContacts* of) {
  const ContactProblem& problem = of->problem;
  const std::span<NodeVec> d = of->d;
  TouchedClusters* touched = &of->touched;
  ContactState* state = of->state;
  if (!of->is_soft) {
    const std::span<const uint8_t> pinned = problem.surface.pinned;
    for (size_t i = 0; i < pinned.size(); ++i) {
      d[i] = pinned[i] != 0 ? Vec3{} : touched->Displacement(of->clusters[i], problem.y[i]);
    }
    AddContacts(problem, d, state);
  }
  FindOffsets(problem, state);
  for (uint32_t i = 0; i < state->num_contacts; ++i) {
    PlaneContact& contact = state->contacts[i];
    state->coarse[i] = Place(state->PointOf(contact), *of, touched);
    const float response = BoundOf(touched->Response(state->coarse[i]));
    contact.yielding = response > 0.0f ? 1.0f / response : 0.0f;
  }
  for (const BodyContactSide& at : state->between) {
    BodyContact::Side& side = at.contact->sides[at.side];
    side.coarse = Place(side.point, *of, touched);
  }
}

// Once all bodies have placed their contacts.
void PrepareBetween(BodyContact* contact) {
  FindOffset(contact);
  float response = 0.0f;
  for (const BodyContact::Side& side : contact->sides) {
    if (!side.of->in_solve) continue;
    const float s = side.of->scale;
    response += BoundOf(side.of->coarse_solve->touched.Response(side.coarse)) / (s * s * s);
  }
  contact->row.yielding = response > 0.0f ? 1.0f / response : 0.0f;
}

// Changes the impulse of a contact of two bodies once. Returns whether that moves a point by more
// than the accuracy.
bool SweepBetween(float accuracy, bool cones_follow, BodyContact* contact) {
  Vec3 moved;
  for (uint32_t k = 0; k < 2; ++k) {
    const BodyContact::Side& side = contact->sides[k];
    if (!side.of->in_solve) continue;
    const float s = side.of->scale;
    moved += side.of->coarse_solve->touched.Displacement(side.coarse) * (k == 0 ? s : -s);
  }
  if (!IsFinite(moved)) return false;  // a body that is about to freeze takes no other with it
  PlaneContact& row = contact->row;
  const Vec3 change = ChangeImpulse(moved, cones_follow, &row);
  if (IsZero(change)) return false;
  for (uint32_t k = 0; k < 2; ++k) {
    const BodyContact::Side& side = contact->sides[k];
    if (!side.of->in_solve) continue;
    CoarseContacts* of = side.of->coarse_solve;
    of->touched.Push(side.coarse, contact->Own(k, change), of->sums);
  }
  const float least = accuracy * row.yielding;
  return Dot(change, change) > least * least;
}

// Changes the impulses on a body in a round of a sweep. In a heap, skips one if neither it nor
// those that it touches moved in the last sweep.
void SweepBody(int sweep, bool cones_follow, uint32_t round, CoarseContacts* of) {
  const float accuracy = of->problem.accuracy;
  ContactState* state = of->state;
  if (round == 0) {
    of->moves = of->attached != nullptr && SweepAttached(of);
    if (state != nullptr && sweep > 0) {
      state->is_settled = of->attached == nullptr && !state->moves && !state->IsMoved();
    }
  }
  if (state == nullptr || state->is_settled) return;
  for (uint32_t i = 0; round == 0 && i < state->num_contacts; ++i) {
    PlaneContact& contact = state->contacts[i];
    const CoarsePoint& point = state->coarse[i];
    const Vec3 change = ChangeImpulse(of->touched.Displacement(point), cones_follow, &contact);
    const float change2 = Dot(change, change), least = accuracy * contact.yielding;
    if (change2 == 0.0f) continue;
    of->moves = of->moves || change2 > least * least;
    of->touched.Push(point, change, of->sums);
  }
  ForActing(state->BetweenIn(round), [&](BodyContact* contact) {
    of->moves = SweepBetween(accuracy * state->scale, cones_follow, contact) || of->moves;
  });
}

int MostSweeps(const CoarseContacts* first) {
  if (first->next == nullptr) {
    const bool is_alone = first->state == nullptr || first->state->between.empty();
    return first->is_soft && is_alone ? kMostSweepsOfSoft : kMostSweeps;
  }
  constexpr int kLeast = 8;
  size_t sides = 0;  // of contacts
  bool all_soft = true;
  for (const CoarseContacts* of = first; of != nullptr; of = of->next) {
    all_soft = all_soft && of->is_soft;
    if (of->state != nullptr) sides += 2 * of->state->num_contacts + of->state->between.size();
  }
  if (all_soft) return kMostSweepsOfSoft;
  return AffordableSweeps(sides / 2, kLeast, kMostSweepsOfSeveral);
}

}  // namespace

void SolveCoarseContacts(CoarseContacts* first, const JobSystem* jobs) {
  for (CoarseContacts* of = first; of != nullptr; of = of->next) {
    if (of->attached != nullptr) of->attached->coarse_solve = of;
    if (of->state == nullptr) continue;
    of->state->coarse_solve = of;
    of->state->is_settled = of->state->moves = false;
    of->state->y = of->problem.y;
  }
  // A body may have no coarse level. If its contacts did not act, clusters of others would move
  // through it, driven by what it pressed with so far; the fine solve would throw them back.
  constexpr bool kOthersAreStill = true;
  BeginSolve(jobs, first, kOthersAreStill);
  ForShared(jobs, first, &CoarseContacts::next, [](CoarseContacts* of) {
    of->touched.Start(*of->coarse, *of->matrix, of->sums, of->responses);
    if (of->state != nullptr) PlaceContacts(of);
    if (of->attached != nullptr) PlaceAttached(of);
  });
  ForShared(jobs, first, &CoarseContacts::next, [](CoarseContacts* of) {
    if (of->state != nullptr) ForBetween(*of->state, PrepareBetween);
  });
  const int most = MostSweeps(first);
  const SweepRounds rounds(first);
  for (int sweep = 0; sweep < most; ++sweep) {
    const bool cones_follow = ConesFollow(sweep, most);
    rounds.ForEach(jobs, [&](CoarseContacts* of, uint32_t round) {
      SweepBody(sweep, cones_follow, round, of);
    });
    bool moves = false;
    for (CoarseContacts* of = first; of != nullptr; of = of->next) {
      if (of->state != nullptr) of->state->moves = of->moves;
      moves = moves || of->moves;
    }
    if (!moves) break;
  }
  for (CoarseContacts* of = first; of != nullptr; of = of->next) {
    if (of->attached != nullptr) of->attached->MoveOthers();
  }
  for (CoarseContacts* of = first; of != nullptr; of = of->next) {
    if (of->attached != nullptr) of->attached->coarse_solve = nullptr;
  }
  EndSolve(first);
}

}  // namespace plush
