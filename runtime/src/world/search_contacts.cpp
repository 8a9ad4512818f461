// SPDX-License-Identifier: MIT
// The contacts of two bodies that may meet within a step.
//
// Surfaces are intersected where the bodies would be at the end of the step if they moved on as
// they do. So an impact is found before it happens, with the normals of the overlap to come; and a
// body at rest on another one, by a small depth, keeps its contacts.
#include "body/body_colliders.h"
#include "world/choose_contacts.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Share of the smaller body's size at which two bodies rest on each other.
constexpr float kRestDepth = 5.0e-4f;

CollisionBody ViewOf(const Body& body) {
  return {body.surface, body.simulation.nodes, body.y.span().first(body.x.size()), body.collision};
}

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
    const PointCouplings& S = body->contacts.couplings;
    if (body->contacts.is_static) continue;
    most = std::min(most, std::max(kLeast, (S.points.size() - S.num_slots) / 2));
  }
  return most;
}

}  // namespace

// Adds a contact of the pair in `touching`. Returns null if there is no room.
BodyContact* World::Impl::AddBodyContact(const TouchingPair& pair, const uint32_t (&triangles)[2],
                                         const float (&u)[2], const float (&v)[2],
                                         const Vec3& normal) {
  TouchingBodies& t = touching_bodies;
  Body* const of[2] = {bodies[pair.first], bodies[pair.second]};
  EmbeddedPoint points[2];
  bool has_room = t.num_contacts < t.contacts.size();
  bool may_move = false;
  for (int k = 0; k < 2; ++k) {
    points[k] = TouchingPointAt(*of[k], triangles[k], u[k], v[k]);
    ContactState& state = of[k]->contacts;
    may_move = may_move || points[k].MovableShare() >= kLeastMovable;
    if (state.is_static) continue;
    has_room = has_room && state.couplings.num_slots < state.couplings.points.size();
  }
  if (!may_move) return nullptr;
  if (!has_room) {
    t.has_dropped = true;
    return nullptr;
  }
  BodyContact& contact = t.contacts[t.num_contacts++] = {};
  for (int k = 0; k < 2; ++k) {
    BodyContact::Side& side = contact.sides[k];
    side.of = &of[k]->contacts;
    side.point = points[k];
    side.triangle = triangles[k];
    side.u = u[k];
    side.v = v[k];
    if (!side.of->is_static) side.slot = side.of->couplings.Add(points[k]);
  }
  const CoefficientRules rules = ProblemOf(settings, settings.dt, *of[0]).coefficients;
  const LocalCollider other = AsOther(*of[1], points[1]);
  contact.row.friction = rules.Friction(points[0], other);
  contact.restitution = rules.Restitution(points[0], other);
  contact.row.plane.normal = normal;
  contact.rest = kRestDepth * std::fmin(of[0]->size * of[0]->scale, of[1]->size * of[1]->scale);
  return &contact;
}

// Finds the contacts of a pair of which one moves.
void World::Impl::FindContacts(TouchingPair* pair) {
  TouchingBodies& t = touching_bodies;
  Body* const of[2] = {bodies[pair->first], bodies[pair->second]};
  const TouchingPair* before = t.PastOf(*pair);
  const float size = std::fmin(of[0]->size * of[0]->scale, of[1]->size * of[1]->scale);
  pair->begin = t.num_contacts;
  // What a search finds changes by as much as the bodies move.
  const auto way = [&] { return of[0]->searched.WayNow() + of[1]->searched.WayNow(); };
  if (before != nullptr && way() < before->holds_until) {
    for (const PastContact& old : t.ContactsOf(before)) Keep(*pair, old);
    pair->holds_until = before->holds_until;
  } else {
    const float holds_for = SearchContacts(size, t.ContactsOf(before), pair);
    pair->holds_until = way() + double(holds_for);
  }
  pair->end = t.num_contacts;
  if (before != nullptr) pair->rebound = before->rebound;
  pair->rebound.time -= settings.dt;
  if (!(pair->rebound.time > 0.0f)) pair->rebound = {};
  for (uint32_t k = pair->begin; k < pair->end; ++k) {
    BodyContact& contact = t.contacts[k];
    contact.owed = &pair->rebound;
    pair->approach_speed = std::fmax(pair->approach_speed, contact.ApproachSpeed());
  }
}

void World::Impl::Keep(const TouchingPair& pair, const PastContact& old) {
  BodyContact* contact = AddBodyContact(pair, old.triangles, old.u, old.v, old.normal);
  if (contact != nullptr) contact->force = old.force;
}

// Refits the body's tree to its predicted positions.
void World::Impl::RefitSearched(Body* body) {
  if (is_refitted[body->slot] != 0) return;
  is_refitted[body->slot] = 1;
  body->moved = true;  // queries need another refit
  const std::span<const NodeVec> y = body->y.span().first(body->x.size());
  Refit(body->surface, y, &body->collision);
  SearchedShape& searched = body->searched;
  searched.way = searched.WayNow();
  searched.away = 0.0f;
  searched.is_known = true;
  std::copy(y.begin(), y.end(), searched.y.begin());
  std::copy(body->origin, body->origin + 3, searched.origin);
}

// Intersects the surfaces of a pair. `past`: its contacts of the step before; `size`: of the
// smaller body [m]. Returns how far the bodies may move before it has to be done again [m].
float World::Impl::SearchContacts(float size, std::span<const PastContact> past,
                                  TouchingPair* pair) {
  constexpr float kSpacing = 0.5f;                                          // [median edges]
  constexpr float kReach = 0.05f, kMostGap = 2.0e-3f, kMostSlip = 5.0e-3f;  // [sizes]
  constexpr float kNear = 0.01f, kSlack = 2.0e-3f, kDeeper = 2.0e-3f;       // [sizes]
  TouchingBodies& t = touching_bodies;
  Body* const of[2] = {bodies[pair->first], bodies[pair->second]};
  for (Body* body : of) RefitSearched(body);
  const Meeting meeting = {*of[0], *of[1]};
  const CollisionBody views[2] = {ViewOf(*of[0]), ViewOf(*of[1])};
  const auto placed = [&](int k) -> PlacedBody {
    return {views[k], {of[k]->origin[0], of[k]->origin[1], of[k]->origin[2]}};
  };
  const bool is_near = MayMeet(placed(0), placed(1), kNear * size);
  const float holds_for = (is_near ? kSlack : kNear) * size;
  PairContactCount count = {.complete = true};
  if (is_near) count = FindPairContacts(placed(0), placed(1), &t.scratch, t.found.span());
  if (!count.complete) {
    // What has been found may be on one side only. The contacts before push out all the same.
    t.has_dropped = true;
    for (const PastContact& old : past) Keep(*pair, old);
    if (!past.empty()) return holds_for;
  }
  const float edge = std::fmin(of[0]->simulation.median_edge * of[0]->scale,
                               of[1]->simulation.median_edge * of[1]->scale);
  ChosenContacts chosen;
  ChooseContacts({kSpacing * edge, kMostSlip * size, kDeeper * size}, meeting,
                 t.found.span().first(count.contacts), past, &chosen);
  const size_t most = MostContactsOf(*of[0], *of[1]);
  t.has_dropped = t.has_dropped || chosen.count > most;
  uint64_t& taken = chosen.taken;
  for (size_t i = 0; i < std::min(chosen.count, most); ++i) {
    const PairContact& found = chosen.contacts[i];
    BodyContact* contact = AddBodyContact(*pair, found.triangles, found.u, found.v, found.normal);
    if (contact == nullptr) continue;
    contact->force = chosen.forces[i];
    if (!IsZero(contact->force)) continue;
    const PastContact* old = NearestPast(past, meeting, *contact, kReach * size, &taken);
    if (old != nullptr) contact->force = old->force;
  }
  // Contacts whose region has vanished stay while their gap is small: it opens without jitter.
  for (size_t i = 0; i < past.size(); ++i) {
    const PastContact& old = past[i];
    const bool has_room = t.num_contacts - pair->begin < TouchingBodies::kMostContacts;
    if ((taken >> i & 1u) != 0 || IsZero(old.force) || !has_room) continue;
    const Vec3 way = meeting.Way(TouchingPointAt(*of[0], old.triangles[0], old.u[0], old.v[0]),
                                 TouchingPointAt(*of[1], old.triangles[1], old.u[1], old.v[1]));
    const float gap = Dot(old.normal, way);
    if (std::fabs(gap) <= kMostGap * size && Length(way - old.normal * gap) <= kMostSlip * size) {
      Keep(*pair, old);
    }
  }
  return holds_for;
}

}  // namespace plush
