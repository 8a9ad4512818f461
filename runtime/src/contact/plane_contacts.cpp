// SPDX-License-Identifier: MIT
// SolveWithContacts: projected Gauss-Seidel with S = J A^-1 J^T, in rounds that add the nodes which
// sink. Source: plane_contacts.h.
#include "contact/plane_contacts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

namespace plush {
namespace {

// Rounds of a solve. Nodes that the last one presses below a plane are left to the next solve.
constexpr int kMostRounds = 4;

// d = A^-1 (b + impulses).
void Respond(const FactoredSystem& system, const ContactProblem& problem, const ContactState& state,
             std::span<NodeVec> d) {
  std::copy(problem.b.begin(), problem.b.end(), d.begin());
  for (const PlaneContact& contact : state.Current()) d[contact.node] += contact.impulse;
  SolvePanels(system.factor, system.workspace, d);
}

// Where the current sweeps have moved the nodes of all slots, by axis.
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

// One sweep. Returns whether the impulses have converged.
bool SweepContacts(const ContactProblem& problem, bool cones_follow, ContactState* state) {
  constexpr float kShareOfLoad = 1.0e-3f;
  const NodeCouplings& S = state->couplings;
  Moved moved(state);
  float largest2 = 0.0f, load = 0.0f, change_of_load = 0.0f;
  for (PlaneContact& contact : state->Current()) {
    const LocalPlane& plane = problem.planes[contact.plane];
    const uint32_t slot = S.slot_of_node[contact.node];
    const Vec3 change = ChangeImpulse(plane, moved.At(slot), cones_follow, &contact);
    const float change2 = Dot(change, change);
    load += NormalImpulse(plane, contact);
    if (change2 == 0.0f) continue;
    const float* row = S.Row(slot);
    change_of_load += Dot(plane.normal, change);
    largest2 = std::fmax(largest2, row[slot] * row[slot] * change2);
    moved.Add(row, S.num_slots, change);
  }
  return largest2 <= problem.accuracy * problem.accuracy &&
         std::fabs(change_of_load) <= kShareOfLoad * load;
}

// Finds how the nodes of the current contacts answer impulses.
void FindCouplings(const FactoredSystem& system, ContactState* state) {
  for (uint32_t i = 0; i < state->num_contacts; ++i) state->nodes[i] = state->contacts[i].node;
  NodeCouplings& S = state->couplings;
  S.Find(system, state->nodes.span().first(state->num_contacts));
  for (PlaneContact& contact : state->Current()) {
    const uint32_t slot = S.slot_of_node[contact.node];
    const float response = S.Row(slot)[slot];
    contact.yielding = response > 0.0f ? 1.0f / response : 0.0f;
  }
}

// Finds impulses of the current contacts, from where `d` has moved the nodes with those so far.
// Returns the number of sweeps.
int FindImpulses(const FactoredSystem& system, const ContactProblem& problem,
                 std::span<const NodeVec> d, ContactState* state) {
  FindCouplings(system, state);
  FindOffsets(problem, state);
  const NodeCouplings& S = state->couplings;
  const Moved moved(state);
  for (uint32_t slot = 0; slot < S.num_slots; ++slot) {
    const NodeVec& at = d[S.node_of_slot[slot]];
    moved.x[slot] = at.x, moved.y[slot] = at.y, moved.z[slot] = at.z;
  }
  int sweep = 0;
  while (sweep < problem.sweeps &&
         !SweepContacts(problem, ConesFollow(sweep, problem.sweeps), state)) {
    ++sweep;
  }
  // A contact that does not press has no friction, whatever its cone was.
  for (PlaneContact& contact : state->Current()) {
    const float normal = NormalImpulse(problem.planes[contact.plane], contact);
    if (!(normal > 0.0f)) contact.impulse = {};
  }
  return std::min(sweep + 1, problem.sweeps);
}

// Keeps as many contacts as there are slots: those that carry load, then the deepest. Returns
// whether that was too few.
bool DropShallowContacts(const ContactProblem& problem, std::span<const NodeVec> d,
                         ContactState* state) {
  const size_t most = state->couplings.node_of_slot.size();
  const std::span<PlaneContact> all = state->Current();
  size_t num_nodes = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    num_nodes += i == 0 || all[i].node != all[i - 1].node ? 1 : 0;
  }
  if (num_nodes <= most) return false;
  const auto key = [&](const PlaneContact& c) {
    const LocalPlane& plane = problem.planes[c.plane];
    const bool is_loaded = NormalImpulse(plane, c) > 0.0f;
    const float gap = Gap(plane, problem.y[c.node] + d[c.node]);
    return std::make_tuple(!is_loaded, std::isfinite(gap) ? gap : 0.0f, c.node, c.plane);
  };
  const auto place = [](const PlaneContact& c) { return std::make_pair(c.node, c.plane); };
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(all, end, {}, key);
  state->num_contacts = static_cast<uint32_t>(most);
  std::ranges::sort(state->Current(), {}, place);
  return true;
}

void DropOpenContacts(const ContactProblem& problem, ContactState* state) {
  const auto is_open = [&](const PlaneContact& contact) {
    return !(NormalImpulse(problem.planes[contact.plane], contact) > 0.0f);
  };
  const std::span<PlaneContact> all = state->Current();
  const auto end = std::remove_if(all.begin(), all.end(), is_open);
  state->num_contacts = static_cast<uint32_t>(end - all.begin());
}

}  // namespace

bool ContactState::Reserve(const Allocator& allocator, uint32_t num_nodes, uint32_t num_planes) {
  if (moved.size() == 0 && !(couplings.Allocate(allocator, num_nodes) &&
                             moved.Allocate(allocator, size_t{3} * couplings.stride, 0.0f))) {
    return false;
  }
  const size_t capacity = size_t{num_nodes} * num_planes;
  if (contacts.size() >= capacity) return true;
  Array<PlaneContact> more_contacts;
  Array<uint32_t> more_nodes;
  if (!more_contacts.Allocate(allocator, capacity) || !more_nodes.Allocate(allocator, capacity)) {
    return false;
  }
  std::copy(contacts.begin(), contacts.begin() + num_contacts, more_contacts.begin());
  contacts = std::move(more_contacts);
  nodes = std::move(more_nodes);
  return true;
}

Vec3 ChangeImpulse(const LocalPlane& plane, const Vec3& d, bool cone_follows,
                   PlaneContact* contact) {
  const Vec3 wanted = contact->impulse - (contact->offset + d) * contact->yielding;
  const float along_normal = Dot(plane.normal, wanted), pressing = std::fmax(along_normal, 0.0f);
  const Vec3 along = wanted - plane.normal * along_normal;
  if (cone_follows) contact->cone = plane.friction * pressing;
  const float length2 = Dot(along, along), most = contact->cone;
  const float kept = length2 > most * most ? most / std::sqrt(length2) : 1.0f;
  const Vec3 before = contact->impulse;
  contact->impulse = plane.normal * pressing + along * kept;
  return contact->impulse - before;
}

void FindOffsets(const ContactProblem& problem, ContactState* state) {
  for (PlaneContact& contact : state->Current()) {
    const LocalPlane& plane = problem.planes[contact.plane];
    const Vec3& x = problem.x[contact.node];
    const Vec3& y = problem.y[contact.node];
    const Vec3 moved = y - x - plane.MotionAt(x);
    const float gap = Gap(plane, y) + AllowedDepth(plane, x, problem.slop);
    contact.offset = moved + plane.normal * (gap - Dot(plane.normal, moved));
  }
}

// Merges from the back to keep the order of (node, plane).
bool AddContacts(const ContactProblem& problem, std::span<const uint8_t> pinned,
                 std::span<const NodeVec> d, ContactState* state) {
  const uint32_t num_planes = static_cast<uint32_t>(problem.planes.size());
  const auto below = [&](uint32_t node, uint32_t p) {
    const LocalPlane& plane = problem.planes[p];
    const float gap = Gap(plane, problem.y[node] + d[node]);
    return gap < -problem.tolerance && pinned[node] == 0 &&
           gap + AllowedDepth(plane, problem.x[node], problem.slop) < -problem.tolerance;
  };
  const uint32_t num_nodes = static_cast<uint32_t>(problem.x.size());
  const auto key = [num_planes](uint32_t node, uint32_t plane) {
    return uint64_t{node} * num_planes + plane;
  };
  const auto key_of = [&](uint32_t i) {
    return key(state->contacts[i].node, state->contacts[i].plane);
  };
  // Count first, then fill from the highest key down.
  uint32_t added = 0, cursor = 0;
  for (uint32_t node = 0; node < num_nodes; ++node) {
    for (uint32_t plane = 0; plane < num_planes; ++plane) {
      if (!below(node, plane)) continue;
      const uint64_t k = key(node, plane);
      while (cursor < state->num_contacts && key_of(cursor) < k) ++cursor;
      const bool known = cursor < state->num_contacts && key_of(cursor) == k;
      added += known ? 0 : 1;
    }
  }
  if (added == 0) return false;
  uint32_t read = state->num_contacts, write = state->num_contacts + added;
  state->num_contacts = write;
  for (uint32_t node = num_nodes; node-- > 0 && write > read;) {
    for (uint32_t plane = num_planes; plane-- > 0 && write > read;) {
      const uint64_t k = key(node, plane);
      while (read > 0 && key_of(read - 1) > k) {
        state->contacts[--write] = state->contacts[--read];
      }
      const bool known = read > 0 && key_of(read - 1) == k;
      if (!known && below(node, plane)) {
        state->contacts[--write] = {node, plane};
      }
    }
  }
  return true;
}

ContactSolveStats SolveWithContacts(const FactoredSystem& system, const ContactProblem& problem,
                                    ContactState* state, std::span<NodeVec> d) {
  ContactSolveStats stats;
  Respond(system, problem, *state, d);
  for (int round = 0; round < kMostRounds; ++round) {
    const bool added = AddContacts(problem, system.system.pinned, d, state);
    if (state->num_contacts == 0 || (round > 0 && (!added || stats.is_over_full))) break;
    if (DropShallowContacts(problem, d, state)) stats.is_over_full = true;
    stats.sweeps = std::max(stats.sweeps, FindImpulses(system, problem, d, state));
    Respond(system, problem, *state, d);
  }
  DropOpenContacts(problem, state);
  return stats;
}

bool FindPushOut(const FactoredSystem& system, const ContactProblem& problem, float share,
                 ContactState* state, std::span<NodeVec> d) {
  const auto gap_of = [&](const PlaneContact& contact) {
    return Gap(problem.planes[contact.plane], problem.y[contact.node]);
  };
  const auto is_deep = [&](const PlaneContact& contact) { return gap_of(contact) < -problem.slop; };
  if (std::ranges::none_of(state->Current(), is_deep)) return false;
  FindCouplings(system, state);
  NodeCouplings& S = state->couplings;
  Moved moved(state);
  std::fill(state->moved.begin(), state->moved.end(), 0.0f);
  for (PlaneContact& contact : state->Current()) contact.push = 0.0f;
  for (int sweep = 0; sweep < problem.sweeps; ++sweep) {
    for (PlaneContact& contact : state->Current()) {
      const Vec3& normal = problem.planes[contact.plane].normal;
      const uint32_t slot = S.slot_of_node[contact.node];
      const float gap = gap_of(contact);
      const float wanted = is_deep(contact) ? -share * gap : -gap;
      const float missing = wanted - Dot(normal, moved.At(slot));
      const float change = std::fmax(missing * contact.yielding, -contact.push);
      contact.push += change;
      moved.Add(S.Row(slot), S.num_slots, normal * change);
    }
  }
  std::fill(d.begin(), d.end(), NodeVec());
  for (const PlaneContact& contact : state->Current()) {
    d[contact.node] += problem.planes[contact.plane].normal * contact.push;
  }
  SolvePanels(system.factor, system.workspace, d);
  return true;
}

void HoldNodes(const ContactState& state, std::span<const LocalPlane> planes, std::span<NodeVec> y,
               std::span<NodeVec> held_normals) {
  const std::span<const PlaneContact> all = state.Current();
  for (size_t i = 0; i < all.size(); ++i) {
    const uint32_t node = all[i].node;
    const bool is_alone =
        (i == 0 || all[i - 1].node != node) && (i + 1 == all.size() || all[i + 1].node != node);
    const LocalPlane& plane = planes[all[i].plane];
    if (plane.friction > 0.0f || !is_alone) {
      y[node].w = 0.0f;
    } else {
      held_normals[node] = plane.normal;
    }
  }
}

}  // namespace plush
