// SPDX-License-Identifier: MIT
// SolveWithContacts: projected Gauss-Seidel with S = J A^-1 J^T, in rounds that add the points
// which sink. Source: plane_contacts.h, body_contacts.h.
#include "contact/plane_contacts.h"

#include "base/shared_list.h"
#include "contact/attached_points.h"
#include "contact/body_contacts.h"
#include "contact/coarse_attached.h"
#include "contact/contact_couplings.h"
#include "contact/normal_impulses.h"
#include "contact/sweep_rounds.h"
#include "solver/coarse_level.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

namespace plush {

void AddImpulses(const ContactSolve& of, std::span<NodeVec> to) {
  const ContactState& state = *of.state;
  for (const PlaneContact& contact : state.Current()) {
    state.PointOf(contact).Push(contact.impulse, to);
  }
  for (const BodyContactSide& at : state.between) {
    at.contact->sides[at.side].point.Push(at.contact->Own(at.side, at.contact->row.impulse), to);
  }
  if (of.problem.attached != nullptr) {
    of.problem.attached->Push([&](uint32_t node, const Vec3& impulse) { to[node] += impulse; });
  }
}

namespace {

// Adds the turn that follows from what has changed the impulses.
void AddTurn(const ContactSolve* of) {
  if (of->state->turn == nullptr) return;
  const FreeTurn& turn = *of->state->turn;
  const Mat3 change = TurnBy(turn.turning.turn);
  for (size_t i = 0; i < turn.nodes.size(); ++i) {
    if (!(turn.nodes[i].w > 0.0f)) continue;
    of->d[i] += change * (turn.nodes[i] - turn.centre) - Cross(turn.turning.kept, turn.z[i]);
  }
}

// d = A^-1 (b + impulses), and the turn.
void Respond(const ContactSolve* of) {
  std::copy(of->problem.b.begin(), of->problem.b.end(), of->d.begin());
  AddImpulses(*of, of->d);
  SolvePanels(of->system.factor, of->system.workspace, of->d);
  AddTurn(of);
}

// Changes the impulses of the springs whose turn this body is once. Returns the longest motion of a
// point by that [m].
float SweepAttached(ContactState* state) {
  AttachedPoints* attached = state->attached;
  return attached->Sweep([&](AttachedPoints* of, uint32_t i, const Vec3& impulse) {
    ContactState* moved = of->contacts;
    if (moved == nullptr || !moved->in_solve || moved->couplings.num_slots == 0) return;
    const SlotPush push(of->ToContacts(i), impulse, moved);
    Move({&push, 1});
  }) / attached->scale;
}

// Changes the impulse of a contact with another body once.
void SweepBetween(bool cones_follow, BodyContact* contact, SweepChange* sum) {
  const Vec3 moved = MotionOf(*contact);
  if (!IsFinite(moved)) return;  // a body that is about to freeze takes no other with it
  PlaneContact& row = contact->row;
  const Vec3 change = ChangeImpulse(moved, cones_follow, &row);
  const float scale = contact->sides[contact->Lead()].of->scale;
  sum->load += NormalImpulse(row);
  if (IsZero(change)) return;
  sum->change_of_load += Dot(row.plane.normal, change);
  const float safe = row.yielding * scale;
  const float far = Length(change) / safe;
  const float deep = std::fabs(Dot(row.plane.normal, change)) / safe;
  sum->longest = far > sum->longest ? far : sum->longest;
  sum->deepest = deep > sum->deepest ? deep : sum->deepest;
  PushSlots(*contact, change);
}

// Changes the impulses of a body's contacts with colliders once.
void SweepContacts(bool cones_follow, ContactState* state, SweepChange* change_of_body) {
  const PointCouplings& S = state->couplings;
  SweepChange& sum = *change_of_body;
  float longest2 = 0.0f;
  for (PlaneContact& contact : state->Current()) {
    const uint32_t slot = contact.slot;
    const Vec3 change = ChangeImpulse(MotionAt(state, slot), cones_follow, &contact);
    const float change2 = Dot(change, change);
    sum.load += NormalImpulse(contact);
    if (change2 == 0.0f) continue;
    const float along_normal = Dot(contact.plane.normal, change);
    const float response = state->turn == nullptr ? S.Row(slot)[slot] : 1.0f / contact.yielding;
    sum.change_of_load += along_normal;
    longest2 = std::max(longest2, response * response * change2);
    sum.deepest = std::max(sum.deepest, response * std::fabs(along_normal));
    PushSlot(slot, change, state);
  }
  sum.longest = std::sqrt(longest2);
}

// How far a unit impulse on a slot moves its point at most [1/kg].
float ResponseAt(const ContactState& state, uint32_t slot) {
  const float own = state.couplings.Row(slot)[slot];
  if (state.turn == nullptr) return own;
  return TurnedPoint(*state.turn, state.couplings.points[slot]).Bound(own, *state.turn);
}

// Finds how the points of a body's contacts answer impulses.
void FindCouplings(const FactoredSystem& system, ContactState* state) {
  constexpr uint32_t kSpare = 16;
  PointCouplings& S = state->couplings;
  // Each change of an impulse goes to all slots, so unused ones go if they are many, and if their
  // values are to be found anew.
  const size_t used = state->num_contacts + state->between.size();
  if (S.num_slots > 2 * used + kSpare || S.factor_id != system.id) state->KeepTouching();
  const bool overwrites = S.Find(system);
  const bool is_lost =
      overwrites && state->turn != nullptr && state->turn->z.data() == S.columns.data();
  if (is_lost) FindKept(system, S.columns.span(), state->turn);
  for (PlaneContact& contact : state->Current()) {
    contact.yielding = YieldingOf(ResponseAt(*state, contact.slot));
  }
}

}  // namespace

void FindCouplings(ContactSolve* first, const JobSystem* jobs) {
  ForShared(jobs, first, &ContactSolve::next,
            [](ContactSolve* of) { FindCouplings(of->system, of->state); });
  ForShared(jobs, first, &ContactSolve::next, [](ContactSolve* of) {
    ForBetween(*of->state, [](BodyContact* contact) {
      float response = 0.0f;
      for (const BodyContact::Side& side : contact->sides) {
        if (!side.of->in_solve) continue;
        const float s = side.of->scale;
        response += ResponseAt(*side.of, side.slot) / (s * s * s);
      }
      contact->row.yielding = YieldingOf(response);
    });
  });
}

namespace {

// Sweeps the contacts of a body in a round, unless neither it nor those that it touches moved in
// the last sweep.
void SweepBody(int sweep, bool cones_follow, bool has_springs, uint32_t round, ContactSolve* of) {
  ContactState* state = of->state;
  if (round == 0) {
    of->change = {};
    if (sweep > 1) state->is_settled = !state->moves && !state->IsMoved();
  }
  if (state->is_settled && !has_springs) return;
  if (round == 0) SweepContacts(cones_follow, state, &of->change);
  ForChanged(state->BetweenIn(round),
             [&](BodyContact* contact) { SweepBetween(cones_follow, contact, &of->change); });
  if (round != 0 || state->attached == nullptr) return;
  const float of_springs = SweepAttached(state);
  of->change.longest = std::fmax(of->change.longest, of_springs);
  of->change.deepest = std::fmax(of->change.deepest, of_springs);
}

// Whether a sweep moved a body's points by more than the accuracy.
bool HasMoved(const SweepChange& change, float accuracy) {
  constexpr float kShareOfLoad = 1.0e-3f;
  return !(change.longest <= accuracy) ||
         !(std::fabs(change.change_of_load) <= kShareOfLoad * change.load);
}

// Sweeps until the impulses have converged. Solves the normal ones of each body first: in each
// sweep, that would cost more than it gains. In a pile, skips the bodies that have settled. Two
// planes that press a stiff body move it as a whole, in turns, and converge slowly. If it then sank
// in by what is left, it would do so in each step. So sweeps beyond problem.sweeps go on while
// points rise or sink by more than the depth that counts, and many more while they move much
// farther, or if several bodies hand their loads on to each other. Stacks need them. Returns their
// number. Counts solves that end while they still do.
int SweepUntilConverged(ContactSolve* solve, const JobSystem* jobs) {
  constexpr int kMany = 64, kMost = 256;
  constexpr float kFar = 30.0f;  // [tolerances]
  const ContactSolve& first = *solve;
  const bool is_pile = first.next != nullptr;
  const int asked = first.problem.sweeps;
  int most = asked;
  bool has_springs = false;  // they may join any two bodies
  size_t sides = 0;          // of contacts
  for (const ContactSolve* of = &first; of != nullptr; of = of->next) {
    sides += 2 * of->state->num_contacts + of->state->between.size();
    has_springs = has_springs || of->state->attached != nullptr;
  }
  ForShared(jobs, &first, &ContactSolve::next, [has_springs](const ContactSolve* of) {
    ContactState* state = of->state;
    if (has_springs) state->is_settled = false;
    // Springs and constraints change them again: only stiff bodies need it beside those.
    if (state->is_settled || (state->attached != nullptr && state->turn == nullptr)) return;
    SolveNormals(of->problem.accuracy, of->problem.is_slow, state);
  });
  const int limit = is_pile ? AffordableSweeps(sides / 2, std::min(asked, kMost), kMost) : kMost;
  const int many = is_pile ? limit : kMany;
  const SweepRounds rounds(solve);
  for (int sweep = 1;; ++sweep) {
    const bool cones_follow = ConesFollow(sweep - 1, most);
    rounds.ForEach(jobs, [&](ContactSolve* of, uint32_t round) {
      SweepBody(sweep, cones_follow, has_springs, round, of);
    });
    bool has_converged = true;
    float farthest = 0.0f;  // [tolerances]
    for (const ContactSolve* of = &first; of != nullptr; of = of->next) {
      of->state->moves =
          (!of->state->is_settled || has_springs) && HasMoved(of->change, of->problem.accuracy);
      has_converged = has_converged && !of->state->moves;
      farthest = std::fmax(farthest, of->change.deepest / of->problem.tolerance);
    }
    if (has_converged) return sweep;
    if (sweep < asked) continue;
    if (farthest <= 1.0f && sweep < many) return sweep;
    if ((farthest <= kFar && sweep >= many) || sweep >= limit) {
      if (farthest > 1.0f && sweep >= kMany) ++solve->stats.unsettled;
      return sweep;
    }
    most = std::max(most, sweep < many ? many : limit);
  }
}

// A contact that does not press has no friction, whatever its cone was.
void EndSliding(PlaneContact* contact) {
  if (!(NormalImpulse(*contact) > 0.0f)) contact->impulse = {};
}

// Finds the turn of a body that has begun to touch, or that springs join to others.
void FindTurn(ContactSolve* of) {
  AttachedPoints* attached = of->state->attached;
  const bool is_joined = attached != nullptr && attached->joins_bodies;
  if (!of->may_turn || of->state->turn != nullptr) return;
  if (!of->state->any() && !is_joined) return;
  const std::span<NodeVec> z =
      attached != nullptr ? attached->solved.span() : of->state->couplings.columns.span();
  of->turn = FindFreeTurn(of->system, of->problem.y.first(of->problem.x.size()), z, of->hinge);
  if (!of->turn.acts) return;
  of->state->turn = &of->turn;
  if (attached == nullptr) return;
  attached->ResistanceTo(of->turn).ApplyTo(&of->turn);
  attached->AnswerWithTurn();
}

// Finds impulses of the current contacts, from where `d` has moved the nodes with those so far.
// Returns the number of sweeps.
int FindImpulses(ContactSolve* first, const JobSystem* jobs) {
  ForShared(jobs, first, &ContactSolve::next, FindTurn);
  FindCouplings(first, jobs);
  ForShared(jobs, first, &ContactSolve::next, [first](ContactSolve* of) {
    ContactState* state = of->state;
    FindOffsets(of->problem, state);
    ForBetween(*state, [](BodyContact* contact) { FindOffset(contact); });
    const PointCouplings& S = state->couplings;
    const Moved moved(state);
    for (uint32_t slot = 0; slot < S.num_slots; ++slot) {
      Vec3 at = S.points[slot].Of(of->d);
      if (state->turn != nullptr) {  // its turn is in d
        at -= TurnedPoint(*state->turn, S.points[slot]).MovedBy(state->turn->turning);
      }
      moved.x[slot] = at.x, moved.y[slot] = at.y, moved.z[slot] = at.z;
    }
    if (state->attached == nullptr) return;
    state->attached->FindToContacts(S);
    const auto get = [of](uint32_t node) { return of->d[node]; };
    if (first->next == nullptr) {
      state->attached->StartSweeps(get);
    } else {
      state->attached->StartOwn(get);
    }
  });
  const int sweeps = SweepUntilConverged(first, jobs);
  for (ContactSolve* of = first; of != nullptr; of = of->next) {
    for (PlaneContact& contact : of->state->Current()) EndSliding(&contact);
    ForBetween(*of->state, [](BodyContact* contact) { EndSliding(&contact->row); });
  }
  return sweeps;
}

}  // namespace

void BeginSubstep(float begin, float end, BodyContact* contact) {
  contact->begin = begin;
  contact->end = end;
  const float gap = Dot(contact->row.plane.normal, InFloat(contact->WayAtStart()));
  contact->row.plane.allowed = std::fmax(contact->rest, -gap);
}

void FindOffsets(const ContactProblem& problem, ContactState* state) {
  // A new point that rose at once, if only by the tolerance, would take the loads of neighbours on
  // the same nodes. In a body near rest they would take turns for ever.
  constexpr float kRecovery = 0.1f;
  for (PlaneContact& contact : state->Current()) {
    const LocalCollider& collider = problem.InSlot(contact.collider);
    const EmbeddedPoint& point = state->PointOf(contact);
    const Vec3 x = point.Of(problem.x), y = point.Of(problem.y);
    const Vec3& normal = contact.plane.normal;
    const Vec3 along = collider.run - normal * Dot(normal, collider.run);
    const Vec3 moved = y - x - collider.MotionAt(x) - along;
    const float allowed = contact.plane.allowed;
    float gap = Gap(contact, y) + allowed;
    if (problem.is_slow) {
      const float depth = -StartGap(collider, contact.plane, x) - allowed;
      gap += (1.0f - kRecovery) * std::fmax(depth, 0.0f);
    }
    contact.offset = moved + normal * (gap - Dot(normal, moved));
    contact.friction = problem.coefficients.Friction(point, collider, contact.face);
  }
}

void FindOffset(BodyContact* contact) {
  PlaneContact& row = contact->row;
  const DoubleVector way = contact->WayNow();
  const Vec3 moved = InFloat(way - contact->WayAtStart());
  const Vec3& normal = row.plane.normal;
  const float gap = Dot(normal, InFloat(way)) + row.plane.allowed;
  row.offset = moved + normal * (gap - Dot(normal, moved));
}

void SolveWithContacts(ContactSolve* first, const JobSystem* jobs) {
  for (ContactSolve* of = first; of != nullptr; of = of->next) {
    of->stats = {};
    of->state->moves = false;
    of->state->y = of->problem.y;
    of->state->turn = of->turn.acts ? &of->turn : nullptr;
    of->state->attached = of->problem.attached;
    if (AttachedPoints* attached = of->state->attached; attached != nullptr) {
      attached->contacts = of->state;
      attached->Locate([of](uint32_t node) { return of->problem.y[node]; });
      if (of->turn.acts) attached->AnswerWithTurn();
    }
  }
  BeginSolve(jobs, first);
  ForShared(jobs, first, &ContactSolve::next, Respond);
  if (first->next == nullptr && first->problem.attached != nullptr) {
    AttachedPoints& attached = *first->problem.attached;
    FindTurn(first);
    attached.StartSweeps([first](uint32_t node) { return first->d[node]; });
    attached.SweepAlone(first->problem.accuracy);
    attached.AddChanges(first->d);
    AddTurn(first);
  }
  int searches = 0;
  for (const ContactSolve* of = first; of != nullptr; of = of->next) {
    searches = std::max(searches, of->problem.searches);
  }
  for (int round = 0; round < std::max(searches, 1); ++round) {
    bool any = false, any_new = round == 0;
    ForShared(jobs, first, &ContactSolve::next, [round](ContactSolve* of) {
      if (of->problem.searches > 0) {
        of->added = AddContacts(of->problem, of->d, of->state);
        of->stats.num_dropped = std::max(of->stats.num_dropped, of->added.num_dropped);
      }
      // Later rounds begin with the bodies that have new points.
      of->state->is_settled = round > 0 && !of->added.any;
    });
    for (const ContactSolve* of = first; of != nullptr; of = of->next) {
      any = any || of->state->any() || (first->next != nullptr && of->state->attached != nullptr);
      any_new = any_new || of->added.any;
    }
    if (!any || !any_new) break;
    const int sweeps = FindImpulses(first, jobs);
    ForShared(jobs, first, &ContactSolve::next, [sweeps](ContactSolve* of) {
      of->stats.sweeps = std::max(of->stats.sweeps, sweeps);
      Respond(of);
    });
  }
  for (ContactSolve* of = first; of != nullptr; of = of->next) {
    DropOpenContacts(of->state);
    const bool turns = std::exchange(of->state->turn, nullptr) != nullptr;
    if (turns && of->state->attached != nullptr) of->state->attached->AnswerWithTurn();
    if (first->next != nullptr && of->state->attached != nullptr) {
      of->state->attached->KnowImpulses();
    }
    of->state->attached = nullptr;
  }
  EndSolve(first);
}

ContactSolveStats SolveWithContacts(const FactoredSystem& system, const ContactProblem& problem,
                                    ContactState* state, std::span<NodeVec> d) {
  ContactSolve solve = {system, problem, state, d};
  SolveWithContacts(&solve);
  return solve.stats;
}

namespace {

// Moves a point by moving its nodes, whose w is their inverse mass, in proportion to their weights.
void MovePoint(const EmbeddedPoint& point, const Vec3& by, std::span<NodeVec> y) {
  float response = 0.0f;
  for (int k = 0; k < 4; ++k) response += point.Free(k) * point.Free(k) * y[point.nodes[k]].w;
  if (!(response > 0.0f)) return;
  for (int k = 0; k < 4; ++k) {
    NodeVec& node = y[point.nodes[k]];
    node += by * (point.Free(k) * node.w / response);
  }
}

}  // namespace

void NotePlaces(std::span<const NodeVec> y, ContactState* state) {
  for (PlaneContact& contact : state->Current()) contact.offset = state->PointOf(contact).Of(y);
  for (const BodyContactSide& at : state->between) {
    BodyContact::Side& side = at.contact->sides[at.side];
    side.place = side.point.Of(y);
  }
}

void PutBack(const ContactState& state, std::span<NodeVec> y) {
  for (const PlaneContact& contact : state.Current()) {
    const Vec3& normal = contact.plane.normal;
    const EmbeddedPoint& point = state.PointOf(contact);
    const Vec3 back = contact.offset - point.Of(y);
    MovePoint(point, contact.friction > 0.0f ? back : normal * std::fmax(Dot(normal, back), 0.0f),
              y);
  }
  for (const BodyContactSide& at : state.between) {
    const BodyContact::Side& side = at.contact->sides[at.side];
    if (NormalImpulse(at.contact->row) > 0.0f)
      MovePoint(side.point, side.place - side.point.Of(y), y);
  }
}

void LiftSunk(const ContactProblem& problem, bool searches, ContactState* state,
              std::span<NodeVec> y) {
  if (searches) AddContacts(problem, {}, state);
  for (const PlaneContact& contact : state->Current()) {
    const EmbeddedPoint& point = state->PointOf(contact);
    const float gap = Gap(contact, point.Of(y)) + contact.plane.allowed;
    if (gap < 0.0f) MovePoint(point, contact.plane.normal * -gap, y);
  }
}

}  // namespace plush
