// SPDX-License-Identifier: MIT
// SolveWithContacts: projected Gauss-Seidel with S = J A^-1 J^T, in rounds that add the points
// which sink. Source: plane_contacts.h.
#include "contact/plane_contacts.h"

#include "contact/attached_points.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

namespace plush {
namespace {

// Rounds of a solve. Points that the last one presses below a plane are left to the next solve.
constexpr int kMostRounds = 2;

// d = A^-1 (b + impulses).
void Respond(const FactoredSystem& system, const ContactProblem& problem, const ContactState& state,
             std::span<NodeVec> d) {
  std::copy(problem.b.begin(), problem.b.end(), d.begin());
  for (const PlaneContact& contact : state.Current()) {
    state.PointOf(contact).Push(contact.impulse, d);
  }
  if (problem.attached != nullptr) {
    problem.attached->Push([d](uint32_t node, const Vec3& impulse) { d[node] += impulse; });
  }
  SolvePanels(system.factor, system.workspace, d);
}

// Where the current sweeps have moved the points of all slots, by axis.
struct Moved {
  float *x, *y, *z;

  explicit Moved(ContactState* state)
      : x(state->moved.data()), y(x + state->couplings.stride), z(y + state->couplings.stride) {}

  Vec3 At(uint32_t slot) const { return {x[slot], y[slot], z[slot]}; }
  void Add(const float* row, uint32_t count, const Vec3& impulse) {
    for (uint32_t k = 0; k < count; ++k) {
      x[k] += row[k] * impulse.x;
      y[k] += row[k] * impulse.y;
      z[k] += row[k] * impulse.z;
    }
  }
};

// What a sweep changed.
struct SweepChange {
  float longest = 0.0f;         // displacement of a point by the change of its own impulse [m]
  float load = 0.0f;            // sum of normal impulses after it [kg m]
  float change_of_load = 0.0f;  // [kg m]
};

// Changes the impulses on attached points once. Returns the longest motion of one by that [m].
float SweepAttached(AttachedPoints* attached, ContactState* state) {
  const PointCouplings& S = state->couplings;
  Moved moved(state);
  return attached->Sweep([&](uint32_t i, const Vec3& impulse) {
    moved.Add(&attached->to_contacts[size_t{S.stride} * i], S.num_slots, impulse);
  }) / attached->scale;
}

SweepChange SweepContacts(bool cones_follow, AttachedPoints* attached, ContactState* state) {
  const PointCouplings& S = state->couplings;
  Moved moved(state);
  SweepChange sum;
  float longest2 = 0.0f;
  for (PlaneContact& contact : state->Current()) {
    const uint32_t slot = contact.slot;
    const Vec3 change = ChangeImpulse(moved.At(slot), cones_follow, &contact);
    const float change2 = Dot(change, change);
    sum.load += NormalImpulse(contact);
    if (change2 == 0.0f) continue;
    const float* row = S.Row(slot);
    sum.change_of_load += Dot(contact.plane.normal, change);
    longest2 = std::max(longest2, row[slot] * row[slot] * change2);
    moved.Add(row, S.num_slots, change);
    if (attached == nullptr) continue;
    for (uint32_t i = 0; i < attached->num_points; ++i) {
      attached->points[i].moved += change * attached->to_contacts[size_t{S.stride} * i + slot];
    }
  }
  sum.longest = std::sqrt(longest2);
  if (attached != nullptr) sum.longest = std::fmax(sum.longest, SweepAttached(attached, state));
  return sum;
}

// Finds how the points of the current contacts answer impulses.
void FindCouplings(const FactoredSystem& system, ContactState* state) {
  constexpr uint32_t kSpare = 16;
  PointCouplings& S = state->couplings;
  // Each change of an impulse goes to all slots, so unused ones go if they are many, and if their
  // values are to be found anew.
  if (S.num_slots > 2 * state->num_contacts + kSpare || S.factor_id != system.id) {
    state->KeepTouching();
  }
  S.Find(system);
  for (PlaneContact& contact : state->Current()) {
    const float response = S.Row(contact.slot)[contact.slot];
    contact.yielding = response > 0.0f ? 1.0f / response : 0.0f;
  }
}

// Sweeps until the impulses have converged. Two planes that press a stiff body move it as a whole,
// in turns, and converge slowly. If it then sank in by what is left, it would do so in each step.
// So sweeps beyond problem.sweeps go on while points move by more than the depth that counts, and
// many more while they move much farther. Returns the number of sweeps.
int SweepUntilConverged(const ContactProblem& problem, ContactState* state) {
  constexpr float kShareOfLoad = 1.0e-3f;
  constexpr int kMany = 64, kMost = 256;
  constexpr float kFar = 30.0f;  // [tolerances]
  int most = problem.sweeps;
  for (int sweep = 1;; ++sweep) {
    const SweepChange change = SweepContacts(ConesFollow(sweep - 1, most), problem.attached, state);
    if (change.longest <= problem.accuracy &&
        std::fabs(change.change_of_load) <= kShareOfLoad * change.load) {
      return sweep;
    }
    if (sweep < problem.sweeps) continue;
    const float limit = sweep < kMany ? problem.tolerance : kFar * problem.tolerance;
    if (change.longest <= limit || sweep >= kMost) return sweep;
    most = std::max(most, sweep < kMany ? kMany : kMost);
  }
}

// Finds impulses of the current contacts, from where `d` has moved the nodes with those so far.
// Returns the number of sweeps.
int FindImpulses(const FactoredSystem& system, const ContactProblem& problem,
                 std::span<const NodeVec> d, ContactState* state) {
  FindCouplings(system, state);
  FindOffsets(problem, state);
  const PointCouplings& S = state->couplings;
  const Moved moved(state);
  for (uint32_t slot = 0; slot < S.num_slots; ++slot) {
    const Vec3 at = S.points[slot].Of(d);
    moved.x[slot] = at.x, moved.y[slot] = at.y, moved.z[slot] = at.z;
  }
  if (problem.attached != nullptr) {
    problem.attached->FindToContacts(S);
    problem.attached->StartSweeps([d](uint32_t node) { return d[node]; });
  }
  const int sweeps = SweepUntilConverged(problem, state);
  // A contact that does not press has no friction, whatever its cone was.
  for (PlaneContact& contact : state->Current()) {
    if (!(NormalImpulse(contact) > 0.0f)) contact.impulse = {};
  }
  return sweeps;
}

}  // namespace

void FindOffsets(const ContactProblem& problem, ContactState* state) {
  for (PlaneContact& contact : state->Current()) {
    const LocalCollider& collider = problem.InSlot(contact.collider);
    const EmbeddedPoint& point = state->PointOf(contact);
    const Vec3 x = point.Of(problem.x), y = point.Of(problem.y);
    const Vec3 moved = y - x - collider.MotionAt(x) - collider.run;
    const Vec3& normal = contact.plane.normal;
    const float gap = Gap(contact, y) + contact.plane.allowed;
    contact.offset = moved + normal * (gap - Dot(normal, moved));
    contact.friction = problem.coefficients.Friction(point, collider, contact.face);
  }
}

ContactSolveStats SolveWithContacts(const FactoredSystem& system, const ContactProblem& problem,
                                    ContactState* state, std::span<NodeVec> d) {
  ContactSolveStats stats;
  Respond(system, problem, *state, d);
  if (problem.attached != nullptr) {
    problem.attached->StartSweeps([d](uint32_t node) { return d[node]; });
    problem.attached->SweepAlone(problem.accuracy);
    problem.attached->AddChanges(d);
  }
  for (int round = 0; round < kMostRounds; ++round) {
    const AddedContacts added = AddContacts(problem, d, state);
    stats.num_dropped = std::max(stats.num_dropped, added.num_dropped);
    if (state->num_contacts == 0 || (round > 0 && !added.any)) break;
    stats.sweeps = std::max(stats.sweeps, FindImpulses(system, problem, d, state));
    Respond(system, problem, *state, d);
  }
  DropOpenContacts(state);
  return stats;
}

namespace {

// Finds impulses along the contacts' normals, without friction, that move each point by at least
// `wanted` of its contact. `d` = A^-1 impulses (num_nodes + 1 x 1).
template <class Wanted>
void FindPushes(const FactoredSystem& system, int sweeps, const Wanted& wanted, ContactState* state,
                std::span<NodeVec> d) {
  FindCouplings(system, state);
  const PointCouplings& S = state->couplings;
  Moved moved(state);
  std::fill(state->moved.begin(), state->moved.end(), 0.0f);
  for (PlaneContact& contact : state->Current()) contact.push = 0.0f;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (PlaneContact& contact : state->Current()) {
      const Vec3& normal = contact.plane.normal;
      const uint32_t slot = contact.slot;
      const float missing = wanted(contact) - Dot(normal, moved.At(slot));
      const float change = std::fmax(missing * contact.yielding, -contact.push);
      contact.push += change;
      moved.Add(S.Row(slot), S.num_slots, normal * change);
    }
  }
  std::fill(d.begin(), d.end(), NodeVec());
  for (const PlaneContact& contact : state->Current()) {
    state->PointOf(contact).Push(contact.plane.normal * contact.push, d);
  }
  SolvePanels(system.factor, system.workspace, d);
}

}  // namespace

bool FindPushOut(const FactoredSystem& system, const ContactProblem& problem, float share,
                 ContactState* state, std::span<NodeVec> d) {
  const auto gap_of = [&](const PlaneContact& contact) {
    return Gap(contact, state->PointOf(contact).Of(problem.y));
  };
  const auto is_deep = [&](const PlaneContact& contact) { return gap_of(contact) < -problem.slop; };
  if (std::ranges::none_of(state->Current(), is_deep)) return false;
  const auto wanted = [&](const PlaneContact& contact) {
    const float gap = gap_of(contact);
    return is_deep(contact) ? -share * gap : -gap;
  };
  FindPushes(system, problem.sweeps, wanted, state, d);
  return true;
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

void FindRebound(const FactoredSystem& system, NodeVectors v, ContactState* state,
                 std::span<NodeVec> d) {
  constexpr int kSweeps = 32;
  for (PlaneContact& contact : state->Current()) {
    const Vec3& normal = contact.plane.normal;
    const float speed = Dot(normal, state->PointOf(contact).Of(v)) - contact.carried;
    contact.rebound = (contact.rebound > 0.0f ? contact.rebound : std::fmin(speed, 0.0f)) - speed;
  }
  const auto wanted = [](const PlaneContact& contact) { return contact.rebound; };
  FindPushes(system, kSweeps, wanted, state, d);
}

namespace {

// Moves a point by moving its nodes, whose w is their inverse mass, in proportion to their weights.
void MovePoint(const EmbeddedPoint& point, const Vec3& by, std::span<NodeVec> y) {
  float response = 0.0f;
  for (int k = 0; k < 4; ++k) response += point.free[k] * point.free[k] * y[point.nodes[k]].w;
  if (!(response > 0.0f)) return;
  for (int k = 0; k < 4; ++k) {
    NodeVec& node = y[point.nodes[k]];
    node += by * (point.free[k] * node.w / response);
  }
}

}  // namespace

void NotePlaces(std::span<const NodeVec> y, ContactState* state) {
  for (PlaneContact& contact : state->Current()) contact.offset = state->PointOf(contact).Of(y);
}

void PutBack(const ContactState& state, std::span<NodeVec> y) {
  for (const PlaneContact& contact : state.Current()) {
    const Vec3& normal = contact.plane.normal;
    const EmbeddedPoint& point = state.PointOf(contact);
    const Vec3 back = contact.offset - point.Of(y);
    MovePoint(point, contact.friction > 0.0f ? back : normal * std::fmax(Dot(normal, back), 0.0f),
              y);
  }
}

void LiftSunk(const ContactProblem& problem, ContactState* state, std::span<NodeVec> y) {
  AddContacts(problem, {}, state);
  for (const PlaneContact& contact : state->Current()) {
    const EmbeddedPoint& point = state->PointOf(contact);
    const float gap = Gap(contact, point.Of(y)) + contact.plane.allowed;
    if (gap < 0.0f) MovePoint(point, contact.plane.normal * -gap, y);
  }
}

}  // namespace plush
