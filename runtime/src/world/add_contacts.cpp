// SPDX-License-Identifier: MIT
// The contacts of a step between bodies: what searches chose, and what goes on from the step
// before.
#include "body/body_colliders.h"
#include "world/choose_contacts.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Share of the smaller body's size at which two bodies rest on each other.
constexpr float kRestDepth = 5.0e-4f;

// Coefficients of a body as the other side of a contact.
LocalCollider AsOther(const Body& body, const EmbeddedPoint& point) {
  LocalCollider other;
  const bool is_baked = body.baked.size() > 0;
  const Coefficients baked = is_baked ? body.baked[point.material] : Coefficients{};
  other.coefficients = {
      body.coefficients.friction >= 0.0f ? body.coefficients.friction : baked.friction,
      body.coefficients.restitution >= 0.0f ? body.coefficients.restitution : baked.restitution};
  other.user_data = body.user_data;
  return other;
}

// A pair takes at most half of the places that are left, so that others find some too.
size_t MostContactsOf(const Body& a, const Body& b) {
  constexpr size_t kLeast = 4;
  size_t most = TouchingBodies::kMostContacts;
  for (const Body* body : {&a, &b}) {
    if (body->contacts.is_static) continue;
    most = std::min(most, std::max(kLeast, body->contacts.NumFree() / 2));
  }
  return most;
}

}  // namespace

// Makes a contact of the pair in `touching`. Returns false if the bodies have no room for it.
bool World::Impl::MakeBodyContact(const TouchingPair& pair, const uint32_t (&triangles)[2],
                                  const float (&u)[2], const float (&v)[2], const Vec3& normal,
                                  BodyContact* contact) {
  Body* const of[2] = {bodies[pair.first], bodies[pair.second]};
  EmbeddedPoint points[2];
  bool has_room = true, may_move = false;
  for (int k = 0; k < 2; ++k) {
    points[k] = TouchingPointAt(*of[k], triangles[k], u[k], v[k]);
    ContactState& state = of[k]->contacts;
    may_move = may_move || points[k].MovableShare() >= kLeastMovable;
    if (state.is_static) continue;
    has_room = has_room && state.NumFree() > 0;
  }
  if (!may_move) return false;
  if (!has_room) {
    ++touching_bodies.num_dropped;
    return false;
  }
  *contact = {};
  for (int k = 0; k < 2; ++k) {
    BodyContact::Side& side = contact->sides[k];
    side.of = &of[k]->contacts;
    side.point = points[k];
    side.triangle = triangles[k];
    side.u = u[k];
    side.v = v[k];
  }
  const CoefficientRules rules = ProblemOf(settings, settings.dt, *of[0]).coefficients;
  const LocalCollider other = AsOther(*of[1], points[1]);
  contact->row.friction = rules.Friction(points[0], other);
  contact->restitution = rules.Restitution(points[0], other);
  contact->row.plane.normal = normal;
  contact->rest = kRestDepth * std::fmin(of[0]->size * of[0]->scale, of[1]->size * of[1]->scale);
  const Meeting meeting = {*of[0], *of[1]};
  contact->gap = Dot(normal, meeting.Way(points[0], points[1]));
  return true;
}

void World::Impl::AddBodyContact(TouchingPair* pair, BodyContact* contact) {
  contact->owed = &pair->rebound;
  pair->approach_speed = std::fmax(pair->approach_speed, contact->ApproachSpeed());
  touching_bodies.Add(*contact);
}

void World::Impl::Keep(const PastContact& old, TouchingPair* pair) {
  BodyContact contact;
  if (!MakeBodyContact(*pair, old.triangles, old.u, old.v, old.normal, &contact)) return;
  contact.force = old.force;
  AddBodyContact(pair, &contact);
}

// Adds the contacts of a pair.
void World::Impl::AddContactsOf(WantedPair* wanted) {
  TouchingBodies& t = touching_bodies;
  TouchingPair& pair = *wanted->pair;
  const TouchingPair* before = wanted->before;
  const std::span<const PastContact> past = t.ContactsOf(before);
  pair.begin = t.num_found;
  pair.is_open = wanted->is_searched ? wanted->is_open : before->is_open;
  pair.is_complete = wanted->is_searched ? wanted->is_complete : before->is_complete;
  t.has_open = t.has_open || pair.is_open;
  t.has_dropped = t.has_dropped || !pair.is_complete;
  if (wanted->is_searched) {
    ++t.num_searched;
    const Body &a = *bodies[pair.first], &b = *bodies[pair.second];
    pair.was_searched = true;
    pair.holds_until = WayOf(a, b) + double(wanted->holds_for);
    for (int k = 0; k < 3; ++k) pair.travel[k] = TravelOf(a, b, k);
  } else {
    pair.holds_until = before->holds_until;
    std::copy(before->travel, before->travel + 3, pair.travel);
  }
  if (!wanted->is_searched) {
    for (const PastContact& old : past) Keep(old, &pair);
  } else {
    AddFoundContacts(*wanted);
  }
  pair.end = t.num_found;
  pair.meets_fast = wanted->is_searched && wanted->meets_fast;
  if (before != nullptr) pair.rebound = before->rebound;
  pair.rebound.time -= settings.dt;
  if (!(pair.rebound.time > 0.0f)) pair.rebound = {};
}

// Adds those that a search chose, and those of the step before that persist.
void World::Impl::AddFoundContacts(const WantedPair& wanted) {
  constexpr float kReach = 0.05f, kMostSlip = 5.0e-3f;  // [sizes]
  TouchingBodies& t = touching_bodies;
  TouchingPair& pair = *wanted.pair;
  const Body &a = *bodies[pair.first], &b = *bodies[pair.second];
  const Meeting meeting = {a, b};
  const std::span<const PastContact> past = t.ContactsOf(wanted.before);
  const ChosenContacts& chosen = wanted.chosen;
  const float size = SizeOf(a, b);
  // Contacts whose region has vanished stay while their gap is small: it opens without jitter. What
  // an incomplete search found may be on one side only. The contacts before push out all the same.
  uint64_t taken = chosen.taken;
  const auto persists = [&](size_t i) {
    const PastContact& old = past[i];
    if ((taken >> i & 1u) != 0) return false;
    if (!wanted.is_complete) return true;
    if (IsZero(old.force)) return false;
    const Vec3 way = meeting.Way(TouchingPointAt(a, old.triangles[0], old.u[0], old.v[0]),
                                 TouchingPointAt(b, old.triangles[1], old.u[1], old.v[1]));
    const float gap = Dot(old.normal, way);
    return std::fabs(gap) <= kMostGap * size && Length(way - old.normal * gap) <= kMostSlip * size;
  };
  // They carry load, so new ones leave them room.
  size_t most = TouchingBodies::kMostContacts;
  if (chosen.count + past.size() > most) {
    for (size_t i = 0; i < past.size(); ++i) most -= persists(i) ? 1 : 0;
  }
  const size_t count = std::min({chosen.count, most, MostContactsOf(a, b)});
  t.num_dropped += chosen.dropped + static_cast<uint32_t>(chosen.count - count);
  for (size_t i = 0; i < count; ++i) {
    const PairContact& found = chosen.contacts[i];
    BodyContact contact;
    if (!MakeBodyContact(pair, found.triangles, found.u, found.v, found.normal, &contact)) continue;
    contact.force = chosen.forces[i];
    if (IsZero(contact.force)) {
      const PastContact* old = NearestPast(past, meeting, contact, kReach * size, &taken);
      if (old != nullptr) contact.force = old->force;
    }
    AddBodyContact(&pair, &contact);
  }
  for (size_t i = 0; i < past.size(); ++i) {
    if (persists(i)) Keep(past[i], &pair);
  }
}

}  // namespace plush
