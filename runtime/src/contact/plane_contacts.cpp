// SPDX-License-Identifier: MIT
// SolveWithContacts: an active set decides in rounds which nodes are held and which slide.
// Friction is Coulomb's. If known friction impulses do not settle, ResistSlips follows.
#include "contact/plane_contacts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace plush {
namespace {

// Rounds of the active set. In the first kChangeRounds contacts may open, slide and stick. Later
// rounds only add contacts, so that no node ends below a plane.
constexpr int kMaxRounds = 12;
constexpr int kChangeRounds = 4;
// To avoid chatter, an impulse that exceeds the cone by less than this share still sticks.
constexpr float kConeSlack = 1.0e-3f;
// Another round follows if a known friction impulse is off by more than this share of the cone.
constexpr float kConeError = 0.01f;
// A contact that slips more than this many tolerances keeps sliding in the next solve.
constexpr float kKeepsSliding = 100.0f;
// Friction opposes a slip if the cosine between impulse and slip is below this.
constexpr float kOpposed = -0.5f;
// Rounds that resist slips; they follow if known impulses did not settle.
constexpr int kResistRounds = 3;

// Two unit vectors that form a right-handed frame with `n`.
void Tangents(const Vec3& n, Vec3* s, Vec3* t) {
  const Vec3 axis = std::fabs(n.x) < 0.6f ? Vec3{1.0f, 0.0f, 0.0f} : Vec3{0.0f, 1.0f, 0.0f};
  const Vec3 across = Cross(n, axis);
  *s = across * (1.0f / Length(across));
  *t = Cross(n, *s);
}

// Whether the contact holds its node's tangential displacement. Nodes on several planes are held
// along the normals only.
bool HoldsTangents(const PlaneContact& contact, const LocalPlane& plane) {
  return !contact.sliding && contact.alone && plane.friction > 0.0f;
}

// Whether the solve itself resists the slip of a sliding contact; see ResistSlips.
bool ResistsSlip(const PlaneContact& contact, const LocalPlane& plane) {
  return contact.sliding && contact.alone && contact.resisted > 0.0f &&
         plane.friction * contact.normal > 0.0f;
}

// Writes the rows of all contacts: normals, and both tangents if they are held or resisted.
uint32_t MakeRows(const ContactProblem& problem, const ContactState& state,
                  std::span<HeldRow> rows) {
  uint32_t count = 0;
  for (const PlaneContact& contact : state.Current()) {
    const LocalPlane& plane = problem.planes[contact.plane];
    const Vec3 x = problem.x[contact.node];
    const Vec3 moved = problem.y[contact.node] - x - plane.MotionAt(x);
    rows[count++] = {contact.node, plane.normal, -Gap(plane, problem.y[contact.node]), 0.0f, 0.0};
    const bool resists = ResistsSlip(contact, plane);
    if (!resists && !HoldsTangents(contact, plane)) continue;
    const float compliance = resists ? contact.resisted / (plane.friction * contact.normal) : 0.0f;
    Vec3 s, t;
    Tangents(plane.normal, &s, &t);
    rows[count++] = {contact.node, s, -Dot(s, moved), compliance, 0.0};
    rows[count++] = {contact.node, t, -Dot(t, moved), compliance, 0.0};
  }
  return count;
}

// Result of UpdateContacts.
struct Findings {
  bool changed = false;  // another round is needed
  bool drives = false;   // a known friction impulse does not oppose its slip
};

// Updates a contact whose tangential displacement was held.
void UpdateSticking(const Vec3& impulse, float cone, PlaneContact* contact, Findings* findings) {
  const float size = Length(impulse);
  if (!(size > cone * (1.0f + kConeSlack))) return;
  contact->sliding = true;
  contact->slide = impulse * (cone / size);
  findings->changed = true;
}

// Updates a contact whose friction impulse was known.
void UpdateSliding(const Vec3& slip, float cone, PlaneContact* contact, Findings* findings) {
  const float distance = Length(slip), before = Length(contact->slide);
  if (Dot(slip, contact->slide) > 0.0f || !(distance > 0.0f)) {
    contact->sliding = false;  // friction would drive the motion: stick instead
    contact->slide = {};
    findings->changed = true;
    return;
  }
  // Opposite to the slip, with the size that the new normal impulse allows.
  contact->slide = slip * (-cone / distance);
  findings->changed = findings->changed || std::fabs(before - cone) > kConeError * cone;
}

// Reads the multipliers back in the order of MakeRows. If `may_change`, contacts open, slide and
// stick.
Findings UpdateContacts(const ContactProblem& problem, std::span<const HeldRow> rows,
                        std::span<const NodeVec> d, bool may_change, ContactState* state) {
  Findings findings;
  uint32_t row = 0, kept = 0;
  for (PlaneContact contact : state->Current()) {
    const LocalPlane& plane = problem.planes[contact.plane];
    const float normal = static_cast<float>(rows[row++].multiplier);
    const bool has_tangents = HoldsTangents(contact, plane) || ResistsSlip(contact, plane);
    Vec3 impulse;
    if (has_tangents) {
      impulse = rows[row].direction * static_cast<float>(rows[row].multiplier) +
                rows[row + 1].direction * static_cast<float>(rows[row + 1].multiplier);
      row += 2;
    }
    if (normal < 0.0f && may_change) {
      findings.changed = true;
      continue;  // the plane would pull: the contact opens
    }
    contact.normal = std::fmax(normal, 0.0f);
    contact.friction = has_tangents ? impulse : contact.slide;
    const float cone = plane.friction * contact.normal;
    const Vec3 slip = SlipOf(problem, contact, d[contact.node]);
    contact.slipped = Length(slip);
    const bool knows = contact.sliding && contact.resisted == 0.0f;
    if (knows && contact.slipped > problem.tolerance &&
        Dot(slip, contact.slide) > kOpposed * contact.slipped * Length(contact.slide)) {
      findings.drives = true;
    }
    if (may_change && HoldsTangents(contact, plane)) {
      UpdateSticking(impulse, cone, &contact, &findings);
    } else if (may_change && contact.sliding && !has_tangents) {
      UpdateSliding(slip, cone, &contact, &findings);
    }
    state->contacts[kept++] = contact;
  }
  state->num_contacts = kept;
  return findings;
}

// Makes the solve resist the slip of every sliding contact by an impulse -(cone / last slip) slip.
// If the slip no longer changes between rounds, this is Coulomb's friction.
//
// A round replaces the friction's potential, cone |slip|, by a quadratic. It touches the potential
// at the last slip and lies above it elsewhere. So rounds cannot overshoot, and friction only
// brakes, whatever their number. Known impulses swing from round to round if nodes that slide by
// microns carry more friction than inertia; the last round would then decide the result.
//
// In the first such round, slips count as at least their mean. Otherwise a node whose neighbours
// stuck in the last round would stick too.
void ResistSlips(const ContactProblem& problem, std::span<const NodeVec> d, ContactState* state) {
  float sum = 0.0f;
  uint32_t count = 0;
  for (const PlaneContact& contact : state->Current()) {
    if (!contact.sliding) continue;
    sum += Length(SlipOf(problem, contact, d[contact.node]));
    ++count;
  }
  const float mean = count > 0 ? sum / static_cast<float>(count) : 0.0f;
  for (PlaneContact& contact : state->Current()) {
    if (!contact.sliding) continue;
    const float slip = Length(SlipOf(problem, contact, d[contact.node]));
    contact.resisted = contact.resisted > 0.0f ? slip : std::fmax(slip, mean);
  }
}

// A new contact. It slides if its node slips on the way down. Its normal impulse and friction are
// not known yet.
PlaneContact NewContact(const ContactProblem& problem, uint32_t node, uint32_t plane,
                        std::span<const NodeVec> d) {
  PlaneContact contact = {.node = node, .plane = plane};
  contact.slipped = Length(SlipOf(problem, contact, d[contact.node]));
  contact.sliding = contact.slipped > kKeepsSliding * problem.tolerance;
  return contact;
}

void MarkAlone(ContactState* state) {
  for (uint32_t c = 0; c < state->num_contacts; ++c) {
    const uint32_t node = state->contacts[c].node;
    state->contacts[c].alone =
        (c == 0 || state->contacts[c - 1].node != node) &&
        (c + 1 == state->num_contacts || state->contacts[c + 1].node != node);
  }
}

// Whether all contacts with both tangents fit into the Schur complement, as ResistSlips needs.
bool CanResist(const ContactState& state) { return 3 * state.num_contacts <= kMaxSchurRows; }

// Makes contacts stick at the start of a solve if they hardly slipped in the last one.
// - A contact may have slid only because the impulses of an earlier outer iteration were far off.
// If
//   it kept sliding, bodies would creep down slopes well below the friction angle.
// - A contact that really slips keeps sliding. If it stuck, it would stop the body like an edge,
// and
//   the body would lean over it until the contacts behind open.
void Restick(float least_slip, ContactState* state) {
  const bool may_slide = CanResist(*state);
  for (PlaneContact& contact : state->Current()) {
    contact.resisted = 0.0f;
    if (may_slide && contact.sliding && contact.slipped > least_slip) continue;
    contact.sliding = false;
    contact.slide = {};
  }
}

// Solves once with the current contacts. Returns their rows with multipliers.
std::span<HeldRow> SolveRound(const FactoredSystem& system, const ContactProblem& problem,
                              ContactState* state, std::span<NodeVec> d, ContactSolveStats* stats) {
  const std::span<NodeVec> rhs = state->rhs.span();
  for (size_t i = 0; i < rhs.size(); ++i) rhs[i] = problem.b[i];
  for (const PlaneContact& contact : state->Current()) {
    if (contact.sliding && !ResistsSlip(contact, problem.planes[contact.plane])) {
      rhs[contact.node] += contact.slide;
    }
  }
  for (size_t i = 0; i < d.size(); ++i) d[i] = rhs[i];
  SolvePanels(system.factor, system.workspace, d);
  const uint32_t num_rows = MakeRows(problem, *state, state->rows.span());
  const std::span<HeldRow> rows(state->rows.data(), num_rows);
  if (num_rows > kMaxSchurRows) {
    stats->iterative = true;
    stats->held_residual =
        SolveHeldIterative(system, rhs, rows, problem.cg_iterations, &state->held, d);
  } else if (num_rows > 0) {
    stats->held_residual = 0.0f;
    SolveHeldSchur(system, rhs, rows, &state->held, d);
  }
  return rows;
}

}  // namespace

bool ContactState::Reserve(const Allocator& allocator, uint32_t num_nodes, uint32_t num_planes) {
  if (rhs.size() == 0 &&
      !(held.Allocate(allocator, num_nodes) && rhs.Allocate(allocator, size_t{num_nodes} + 1))) {
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

Vec3 SlipOf(const ContactProblem& problem, const PlaneContact& contact, const Vec3& d) {
  const LocalPlane& plane = problem.planes[contact.plane];
  const uint32_t node = contact.node;
  const Vec3 moved = problem.y[node] - problem.x[node] + d - plane.MotionAt(problem.x[node]);
  return moved - plane.normal * Dot(plane.normal, moved);
}

// Merges from the back to keep the order of (node, plane).
bool AddContacts(const ContactProblem& problem, std::span<const uint8_t> pinned,
                 std::span<const NodeVec> d, ContactState* state) {
  const uint32_t num_planes = static_cast<uint32_t>(problem.planes.size());
  const auto below = [&](uint32_t node, uint32_t plane) {
    return !pinned[node] &&
           Gap(problem.planes[plane], problem.y[node] + d[node]) < -problem.tolerance;
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
      const uint64_t k = key(node, plane);
      while (cursor < state->num_contacts && key_of(cursor) < k) ++cursor;
      const bool known = cursor < state->num_contacts && key_of(cursor) == k;
      if (!known && below(node, plane)) ++added;
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
        state->contacts[--write] = NewContact(problem, node, plane, d);
      }
    }
  }
  MarkAlone(state);
  return true;
}

ContactSolveStats SolveWithContacts(const FactoredSystem& system, const ContactProblem& problem,
                                    ContactState* state, std::span<NodeVec> d) {
  ContactSolveStats stats;
  Restick(kKeepsSliding * problem.tolerance, state);
  int resisted = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    MarkAlone(state);
    const std::span<HeldRow> rows = SolveRound(system, problem, state, d, &stats);
    const bool may_change = round < kChangeRounds && resisted == 0;
    const Findings findings = UpdateContacts(problem, rows, d, may_change, state);
    const bool added = AddContacts(problem, system.system.pinned, d, state);
    if (findings.changed || added) continue;
    const bool is_found = resisted == 0 ? !findings.drives : resisted == kResistRounds;
    if (is_found || !CanResist(*state)) break;
    ResistSlips(problem, d, state);
    ++resisted;
  }
  return stats;
}

void HoldNodes(const ContactState& state, std::span<const LocalPlane> planes, std::span<NodeVec> y,
               std::span<NodeVec> held_normals) {
  for (const PlaneContact& contact : state.Current()) {
    const LocalPlane& plane = planes[contact.plane];
    if (plane.friction > 0.0f || !contact.alone) {
      y[contact.node].w = 0.0f;
    } else {
      held_normals[contact.node] = plane.normal;
    }
  }
}

}  // namespace plush
