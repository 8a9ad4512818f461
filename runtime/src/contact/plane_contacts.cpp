// SPDX-License-Identifier: MIT
// SolveWithContacts: projected Gauss-Seidel with S = J A^-1 J^T, in rounds that add the points
// which sink. Source: plane_contacts.h.
#include "contact/plane_contacts.h"

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

SweepChange SweepContacts(bool cones_follow, ContactState* state) {
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
  }
  sum.longest = std::sqrt(longest2);
  return sum;
}

// Forgets points without contacts.
void KeepTouching(ContactState* state) {
  PointCouplings& S = state->couplings;
  std::fill_n(S.new_slots.begin(), S.num_slots, PointCouplings::kNoSlot);
  for (const PlaneContact& contact : state->Current()) S.new_slots[contact.slot] = 0;
  S.Keep();
  for (PlaneContact& contact : state->Current()) contact.slot = S.new_slots[contact.slot];
}

// Finds how the points of the current contacts answer impulses.
void FindCouplings(const FactoredSystem& system, ContactState* state) {
  constexpr uint32_t kSpare = 16;
  PointCouplings& S = state->couplings;
  // Each change of an impulse goes to all slots, so unused ones go if they are many, and if their
  // values are to be found anew.
  if (S.num_slots > 2 * state->num_contacts + kSpare || S.factor_id != system.id) {
    KeepTouching(state);
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
    const SweepChange change = SweepContacts(ConesFollow(sweep - 1, most), state);
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
  const int sweeps = SweepUntilConverged(problem, state);
  // A contact that does not press has no friction, whatever its cone was.
  for (PlaneContact& contact : state->Current()) {
    if (!(NormalImpulse(contact) > 0.0f)) contact.impulse = {};
  }
  return sweeps;
}

// Contacts are in this order.
uint64_t Key(uint32_t id, uint32_t plane) { return uint64_t{id} << 32 | plane; }

uint64_t KeyOf(const ContactState& state, const PlaneContact& contact) {
  return Key(state.PointOf(contact).id, contact.collider);
}

bool IsContact(const ContactState& state, uint32_t id, uint32_t plane) {
  const auto key_of = [&](const PlaneContact& contact) { return KeyOf(state, contact); };
  return std::ranges::binary_search(state.Current(), Key(id, plane), {}, key_of);
}

// What SunkPoints knows of contacts.
struct Known {
  const ContactState& state;
  const ContactProblem& problem;
};

// Whether points of a triangle are so near that one is enough: a share of the triangle.
bool AreNear(float u, float v, const EmbeddedPoint& point) {
  constexpr float kNear = 0.1f;
  return std::fabs(point.u - u) < kNear && std::fabs(point.v - v) < kNear;
}

// Whether the triangle has a contact near the point, or as many as it may have: one with a round
// solid. Of a box, two corners may press on it, and would take turns for ever.
bool IsKnownInside(const Known& known, const SunkPoint& point) {
  const TouchingSurface& surface = known.problem.surface;
  const uint32_t triangle = surface.TriangleOf(point.id);
  const bool is_round = known.problem.InSlot(point.collider).shape.radius > 0.0f;
  uint32_t count = 0;
  for (const PlaneContact& contact : known.state.Current()) {
    const EmbeddedPoint& other = known.state.PointOf(contact);
    if (contact.collider != point.collider || !surface.IsInside(other.id) ||
        surface.TriangleOf(other.id) != triangle) {
      continue;
    }
    ++count;
    if (is_round || AreNear(point.u, point.v, other)) return true;
  }
  return count == TouchingSurface::kPointsPerTriangle;
}

// Whether the point, or one at the same place, is a contact: a vertex on a border has another id in
// each patch.
bool IsKnown(const void* user, const SunkPoint& point) {
  const Known& known = *static_cast<const Known*>(user);
  if (known.problem.surface.IsInside(point.id)) return IsKnownInside(known, point);
  if (IsContact(known.state, point.id, point.collider)) return true;
  if (point.tet == SunkPoint::kNoTet) return false;
  const PointCouplings& S = known.state.couplings;
  const uint32_t slot = S.SlotAt(known.problem.surface.Vertex(point.tet, point.id));
  return slot != PointCouplings::kNoSlot &&
         IsContact(known.state, S.points[slot].id, point.collider);
}

// Adds contacts in any order to those in order. There is room for them.
void Merge(std::span<PlaneContact> added, ContactState* state) {
  const auto key_of = [&](const PlaneContact& contact) { return KeyOf(*state, contact); };
  std::ranges::sort(added, {}, key_of);
  size_t old = state->num_contacts, next = added.size(), to = old + next;
  state->num_contacts = static_cast<uint32_t>(to);
  while (next > 0) {
    const bool is_old = old > 0 && key_of(state->contacts[old - 1]) > key_of(added[next - 1]);
    state->contacts[--to] = is_old ? state->contacts[--old] : added[--next];
  }
}

}  // namespace

bool ContactState::Reserve(const Allocator& allocator, size_t num_tets, uint32_t num_nodes,
                           bool has_clusters, uint32_t num_planes) {
  if (moved.size() == 0 && !(couplings.Allocate(allocator, num_nodes) &&
                             moved.Allocate(allocator, size_t{3} * couplings.stride, 0.0f))) {
    return false;
  }
  const size_t capacity = MostContacts(num_nodes, num_planes);
  if (contacts.size() >= capacity && sunk.num_lists() >= SunkPoints::NumLists(num_planes))
    return true;
  Array<PlaneContact> more_contacts, more_added;
  Array<CoarsePoint> more_coarse;
  SunkPoints more_sunk;
  if (!more_contacts.Allocate(allocator, capacity) || !more_added.Allocate(allocator, capacity) ||
      !more_sunk.Allocate(allocator, num_tets, num_nodes, num_planes, capacity) ||
      !more_coarse.Allocate(allocator, has_clusters ? capacity : 0)) {
    return false;
  }
  std::copy(contacts.begin(), contacts.begin() + num_contacts, more_contacts.begin());
  contacts = std::move(more_contacts);
  added = std::move(more_added);
  coarse = std::move(more_coarse);
  sunk = std::move(more_sunk);
  return true;
}

void FindOffsets(const ContactProblem& problem, ContactState* state) {
  for (PlaneContact& contact : state->Current()) {
    const LocalCollider& collider = problem.InSlot(contact.collider);
    const EmbeddedPoint& point = state->PointOf(contact);
    const Vec3 x = point.Of(problem.x), y = point.Of(problem.y);
    const Vec3 moved = y - x - collider.MotionAt(x);
    const Vec3& normal = contact.plane.normal;
    const float gap = Gap(contact, y) + contact.plane.allowed;
    contact.offset = moved + normal * (gap - Dot(normal, moved));
    contact.friction = problem.coefficients.Friction(point, collider);
  }
}

namespace {

EmbeddedPoint PointOf(const TouchingSurface& surface, const SunkPoint& sunk) {
  if (sunk.tet == SunkPoint::kNoTet) return surface.Node(sunk.id);
  if (!surface.IsInside(sunk.id)) return surface.Vertex(sunk.tet, sunk.id);
  return surface.Inside(sunk.tet, surface.TriangleOf(sunk.id), sunk.u, sunk.v);
}

// Gives a point inside a triangle the first id that no other one has. Returns whether there is one.
bool ChooseId(const PointCouplings& couplings, EmbeddedPoint* point) {
  const auto has_id = [&](uint32_t id) {
    const std::span<const EmbeddedPoint> all = couplings.points.span().first(couplings.num_slots);
    return std::ranges::find(all, id, &EmbeddedPoint::id) != all.end();
  };
  const uint32_t end = point->id + TouchingSurface::kPointsPerTriangle;
  while (point->id < end && has_id(point->id)) ++point->id;
  return point->id < end;
}

// Finds the plane of a contact inside a triangle, as the substep starts. If another point of the
// triangle is now deeper, because a corner has slid on or the body rolls, the contact moves there
// with its impulse.
void FollowTriangle(const ContactProblem& problem, const LocalCollider& solid,
                    PlaneContact* contact, ContactState* state) {
  PointCouplings& S = state->couplings;
  if (S.num_slots == S.points.size()) KeepTouching(state);
  const EmbeddedPoint point = state->PointOf(*contact);
  Vec3 corners[3];
  problem.surface.ForCorners(point.id, [&](int k, const EmbeddedPoint& corner) {
    corners[k] = solid.start.ToLocal(corner.Of(problem.x));
  });
  const Vec3 at = point.Of(problem.x);
  TrianglePoint held = {point.u, point.v, TangentAt(solid.shape, solid.start.ToLocal(at)).gap};
  const TrianglePoint deepest = FollowDeepest(solid.shape, corners, held);
  const bool may_move = solid.shape.radius > 0.0f || AreNear(deepest.u, deepest.v, point);
  if (may_move && deepest.gap < held.gap - problem.tolerance && S.num_slots < S.points.size()) {
    const EmbeddedPoint moved = problem.surface.Point(point.id, deepest.u, deepest.v);
    if (moved.MovableShare() >= kLeastMovable) {
      contact->slot = S.Add(moved);
      held = deepest;
    }
  }
  const Vec3 start = state->PointOf(*contact).Of(problem.x);
  contact->plane = FindHoldingPlane(solid, corners, held, start, problem.slop);
}

// Whether two contacts with the plane have the point's main node, the movable one with its greatest
// weight, at no smaller weight. A third one would have little to hold.
bool IsHeldByOthers(const ContactState& state, const EmbeddedPoint& point, uint32_t plane) {
  const auto main_of = [](const EmbeddedPoint& p) {
    return std::ranges::max_element(p.free) - p.free;
  };
  const auto main = main_of(point);
  const auto holds = [&](const PlaneContact& contact) {
    if (contact.collider != plane) return false;
    const EmbeddedPoint& other = state.PointOf(contact);
    const auto of_other = main_of(other);
    return other.nodes[of_other] == point.nodes[main] && other.free[of_other] >= point.free[main];
  };
  return std::ranges::count_if(state.Current(), holds) >= 2;
}

}  // namespace

void BeginSubstep(const ContactProblem& problem, ContactState* state) {
  const auto is_gone = [&](const PlaneContact& contact) {
    return !problem.HasSlot(contact.collider);
  };
  const std::span<PlaneContact> all = state->Current();
  const auto end = std::remove_if(all.begin(), all.end(), is_gone);
  state->num_contacts = static_cast<uint32_t>(end - all.begin());
  for (PlaneContact& contact : state->Current()) {
    const LocalCollider& collider = problem.InSlot(contact.collider);
    const EmbeddedPoint& point = state->PointOf(contact);
    if (collider.is_solid && problem.surface.IsInside(point.id)) {
      FollowTriangle(problem, collider, &contact, state);
    } else {
      contact.plane = problem.PlaneFor(collider, point, {});
    }
  }
}

AddedContacts AddContacts(const ContactProblem& problem, std::span<const NodeVec> d,
                          ContactState* state) {
  const Known known = {*state, problem};
  std::span<SunkPoint> found = state->sunk.Find(problem, d, problem.tolerance, IsKnown, &known);
  if (found.empty()) return {};
  PointCouplings& S = state->couplings;
  if (S.num_slots + found.size() > S.points.size()) KeepTouching(state);
  const size_t room = state->contacts.size() - state->num_contacts;
  if (found.size() > std::min(room, S.points.size() - S.num_slots)) {
    const auto key = [](const SunkPoint& p) { return std::make_tuple(p.gap, p.id, p.collider); };
    std::ranges::sort(found, {}, key);  // the deepest first: there may be too little room
    found = found.first(std::min(found.size(), room + S.points.size()));  // enough for twins, too
  }
  // A flat surface on a plane has many more vertices there than nodes. Contacts of all of them
  // would fill the room with points that others hold, and leave none for those that sink later.
  const bool is_crowded = 2 * (state->num_contacts + found.size()) > S.points.size();
  size_t count = 0;
  bool is_over_full = false;
  for (const SunkPoint& sunk : found) {
    const TouchingSurface& surface = problem.surface;
    const bool is_vertex = sunk.tet != SunkPoint::kNoTet && !surface.IsInside(sunk.id);
    EmbeddedPoint point = PointOf(surface, sunk);
    if (is_crowded && is_vertex && IsHeldByOthers(*state, point, sunk.collider)) continue;
    uint32_t slot = S.SlotAt(point);
    if (slot == PointCouplings::kNoSlot) {
      if (S.num_slots == S.points.size()) {
        is_over_full = true;
        continue;
      }
      if (surface.IsInside(point.id) && !ChooseId(S, &point)) continue;
      slot = S.Add(point);
    } else {
      const auto is_same = [&](const PlaneContact& contact) {
        return contact.slot == slot && contact.collider == sunk.collider;
      };
      if (IsContact(*state, S.points[slot].id, sunk.collider) ||
          std::ranges::any_of(state->added.span().first(count), is_same)) {
        continue;
      }
    }
    if (count == room) {
      is_over_full = true;
      break;
    }
    state->added[count++] = {.slot = slot,
                             .collider = sunk.collider,
                             .plane = problem.PlaneFor(problem.InSlot(sunk.collider), point, d)};
  }
  Merge(state->added.span().first(count), state);
  return {count > 0, is_over_full};
}

void DropOpenContacts(ContactState* state) {
  const auto is_open = [](const PlaneContact& contact) { return !(NormalImpulse(contact) > 0.0f); };
  const std::span<PlaneContact> all = state->Current();
  const auto end = std::remove_if(all.begin(), all.end(), is_open);
  state->num_contacts = static_cast<uint32_t>(end - all.begin());
  // Points of pressing contacts have values. A state does not save the others.
  state->couplings.num_slots = state->couplings.num_known;
}

ContactSolveStats SolveWithContacts(const FactoredSystem& system, const ContactProblem& problem,
                                    ContactState* state, std::span<NodeVec> d) {
  ContactSolveStats stats;
  Respond(system, problem, *state, d);
  for (int round = 0; round < kMostRounds; ++round) {
    const AddedContacts added = AddContacts(problem, d, state);
    stats.is_over_full = stats.is_over_full || added.is_over_full;
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
    const float restitution = problem.coefficients.Restitution(point, collider);
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
