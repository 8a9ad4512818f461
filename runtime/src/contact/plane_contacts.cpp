// SPDX-License-Identifier: MIT
#include "contact/plane_contacts.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace plush {
namespace {

// Rounds of the active set: contacts may open and begin to slide in the first kChangeRounds, later
// ones only add, so that the last round leaves no node below.
constexpr int kMaxRounds = 12;
constexpr int kChangeRounds = 4;
// Impulses above the cone by less than this fraction still stick: no chatter at the limit.
constexpr float kConeSlack = 1.0e-3f;

// Two unit vectors that make a right-handed frame with `n`.
void Tangents(const Vec3& n, Vec3* s, Vec3* t) {
  const Vec3 axis = std::fabs(n.x) < 0.6f ? Vec3{1.0f, 0.0f, 0.0f} : Vec3{0.0f, 1.0f, 0.0f};
  const Vec3 across = Cross(n, axis);
  *s = across * (1.0f / Length(across));
  *t = Cross(n, *s);
}

float Gap(const LocalPlane& plane, const Vec3& x) { return Dot(plane.normal, x) - plane.offset; }

// Whether the contact holds its node's tangential displacement. A node on several planes is held
// along their normals only.
bool HoldsTangents(const PlaneContact& contact, const LocalPlane& plane) {
  return !contact.sliding && contact.alone && plane.friction > 0.0f;
}

// Rows of all contacts: the normal, and both tangents where they are held.
uint32_t MakeRows(const ContactProblem& problem, const ContactState& state,
                  std::span<HeldRow> rows) {
  uint32_t count = 0;
  for (uint32_t c = 0; c < state.num_contacts; ++c) {
    const PlaneContact& contact = state.contacts[c];
    const LocalPlane& plane = problem.planes[contact.plane];
    const Vec3 moved = problem.u[contact.node];
    rows[count++] = {contact.node, plane.normal,
                     -Gap(plane, problem.x[contact.node]) - Dot(plane.normal, moved), 0.0};
    if (!HoldsTangents(contact, plane)) continue;
    Vec3 s, t;
    Tangents(plane.normal, &s, &t);
    rows[count++] = {contact.node, s, -Dot(s, moved), 0.0};
    rows[count++] = {contact.node, t, -Dot(t, moved), 0.0};
  }
  return count;
}

// Reads the multipliers back, in the order of MakeRows; opens, slides and sticks contacts where
// `may_change`. Returns whether anything changed that asks for another round.
bool UpdateContacts(const ContactProblem& problem, std::span<const HeldRow> rows,
                    std::span<const Vec3> d, bool may_change, ContactState* state) {
  bool changed = false;
  uint32_t row = 0, kept = 0;
  for (uint32_t c = 0; c < state->num_contacts; ++c) {
    PlaneContact contact = state->contacts[c];
    const LocalPlane& plane = problem.planes[contact.plane];
    const float normal = static_cast<float>(rows[row++].multiplier);
    const bool has_tangents = HoldsTangents(contact, plane);
    Vec3 tangential;
    if (has_tangents) {
      tangential = rows[row].direction * static_cast<float>(rows[row].multiplier) +
                   rows[row + 1].direction * static_cast<float>(rows[row + 1].multiplier);
      row += 2;
    }
    if (normal < 0.0f && may_change) {
      changed = true;
      continue;  // the plane would have to pull: the contact opens
    }
    contact.normal = std::fmax(normal, 0.0f);
    const float cone = plane.friction * contact.normal;
    if (has_tangents) {
      const float size = Length(tangential);
      if (size > cone * (1.0f + kConeSlack) && may_change) {
        contact.sliding = true;
        contact.slide = tangential * (cone / size);
        changed = true;
      }
    } else if (contact.sliding && may_change) {
      const Vec3 moved = problem.u[contact.node] + d[contact.node];
      const Vec3 slip = moved - plane.normal * Dot(plane.normal, moved);
      const float distance = Length(slip), before = Length(contact.slide);
      if (Dot(slip, contact.slide) > 0.0f || !(distance > 0.0f)) {
        contact.sliding = false;  // friction would drive the motion: it sticks instead
        contact.slide = {};
        changed = true;
      } else {
        // Against the slip, of the size that the new normal impulse allows.
        contact.slide = slip * (-cone / distance);
        changed = changed || std::fabs(before - cone) > 0.05f * cone;
      }
    }
    state->contacts[kept++] = contact;
  }
  state->num_contacts = kept;
  return changed;
}

// Adds a contact for every free node that `d` puts below a plane. Merges from the back, so that the
// list stays in ascending order of (node, plane).
bool AddContacts(const ContactProblem& problem, std::span<const uint8_t> pinned,
                 std::span<const Vec3> d, ContactState* state) {
  const uint32_t num_planes = static_cast<uint32_t>(problem.planes.size());
  const auto below = [&](uint32_t node, uint32_t plane) {
    return !pinned[node] && Gap(problem.planes[plane],
                                problem.x[node] + problem.u[node] + d[node]) < -problem.tolerance;
  };
  const uint32_t num_nodes = static_cast<uint32_t>(problem.x.size());
  const auto key = [num_planes](uint32_t node, uint32_t plane) {
    return uint64_t{node} * num_planes + plane;
  };
  // Count first, then fill from the highest key down.
  uint32_t added = 0, cursor = 0;
  for (uint32_t node = 0; node < num_nodes; ++node) {
    for (uint32_t plane = 0; plane < num_planes; ++plane) {
      const uint64_t k = key(node, plane);
      while (cursor < state->num_contacts &&
             key(state->contacts[cursor].node, state->contacts[cursor].plane) < k) {
        ++cursor;
      }
      const bool known = cursor < state->num_contacts &&
                         key(state->contacts[cursor].node, state->contacts[cursor].plane) == k;
      if (!known && below(node, plane)) ++added;
    }
  }
  if (added == 0) return false;
  uint32_t read = state->num_contacts, write = state->num_contacts + added;
  state->num_contacts = write;
  for (uint32_t node = num_nodes; node-- > 0 && write > read;) {
    for (uint32_t plane = num_planes; plane-- > 0 && write > read;) {
      const uint64_t k = key(node, plane);
      while (read > 0 && key(state->contacts[read - 1].node, state->contacts[read - 1].plane) > k) {
        state->contacts[--write] = state->contacts[--read];
      }
      const bool known =
          read > 0 && key(state->contacts[read - 1].node, state->contacts[read - 1].plane) == k;
      if (!known && below(node, plane)) {
        state->contacts[--write] = PlaneContact{node, plane, false, true, 0.0f, {}};
      }
    }
  }
  return true;
}

void MarkAlone(ContactState* state) {
  for (uint32_t c = 0; c < state->num_contacts; ++c) {
    const uint32_t node = state->contacts[c].node;
    state->contacts[c].alone =
        (c == 0 || state->contacts[c - 1].node != node) &&
        (c + 1 == state->num_contacts || state->contacts[c + 1].node != node);
  }
}

// Every solve starts with all contacts sticking. One that slid in an earlier outer iteration, whose
// impulses were still far off, would otherwise go on sliding at the cone's limit, and bodies would
// creep down slopes well below the friction angle.
void Restick(ContactState* state) {
  for (uint32_t c = 0; c < state->num_contacts; ++c) {
    state->contacts[c].sliding = false;
    state->contacts[c].slide = {};
  }
}

}  // namespace

bool ContactState::Reserve(const Allocator& allocator, uint32_t num_nodes, uint32_t num_planes) {
  if (rhs.size() != num_nodes &&
      !(held.Allocate(allocator, num_nodes) && rhs.Allocate(allocator, num_nodes))) {
    return false;
  }
  const size_t capacity = size_t{num_nodes} * num_planes;
  if (contacts.size() >= capacity) return true;
  Array<PlaneContact> more_contacts;
  Array<HeldRow> more_rows;
  if (!more_contacts.Allocate(allocator, capacity) ||
      !more_rows.Allocate(allocator, 3 * capacity)) {
    return false;
  }
  std::copy(contacts.begin(), contacts.begin() + num_contacts, more_contacts.begin());
  contacts = std::move(more_contacts);
  rows = std::move(more_rows);
  return true;
}

ContactSolveStats SolveWithContacts(const FactoredSystem& system, const ContactProblem& problem,
                                    ContactState* state, std::span<Vec3> d) {
  ContactSolveStats stats;
  Restick(state);
  for (int round = 0; round < kMaxRounds; ++round) {
    MarkAlone(state);
    const std::span<Vec3> rhs = state->rhs.span();
    for (size_t i = 0; i < rhs.size(); ++i) rhs[i] = problem.b[i];
    for (uint32_t c = 0; c < state->num_contacts; ++c) {
      const PlaneContact& contact = state->contacts[c];
      if (contact.sliding) rhs[contact.node] += contact.slide;
    }
    for (size_t i = 0; i < d.size(); ++i) d[i] = rhs[i];
    Substitute(system.pattern, system.values, d);
    const uint32_t num_rows = MakeRows(problem, *state, state->rows.span());
    const std::span<HeldRow> rows(state->rows.data(), num_rows);
    if (num_rows > kMaxSchurRows) {
      stats.iterative = true;
      stats.held_residual =
          SolveHeldIterative(system, rhs, rows, problem.cg_iterations, &state->held, d);
    } else if (num_rows > 0) {
      stats.held_residual = 0.0f;
      SolveHeldSchur(system, rhs, rows, &state->held, d);
    }
    const bool changed = UpdateContacts(problem, rows, d, round < kChangeRounds, state);
    const bool added = AddContacts(problem, system.system.pinned, d, state);
    if (!changed && !added) break;
  }
  return stats;
}

void HoldMobility(const ContactState& state, std::span<const LocalPlane> planes,
                  std::span<NodeMobility> mobility) {
  for (uint32_t c = 0; c < state.num_contacts; ++c) {
    const PlaneContact& contact = state.contacts[c];
    NodeMobility& node = mobility[contact.node];
    const LocalPlane& plane = planes[contact.plane];
    if (HoldsTangents(contact, plane) || !contact.alone) {
      node.inverse_mass = 0.0f;
    } else {
      node.held_normal = plane.normal;
    }
  }
}

}  // namespace plush
