// SPDX-License-Identifier: MIT
// Pairs of bodies whose surfaces meet within a step become contacts, and islands.
//
// Surfaces are intersected where the bodies would be at the end of the step if they moved on as
// they do. So an impact is found before it happens, with the normals of the overlap to come; and a
// body at rest on another one, by a small depth, keeps its contacts.
#include "world/touching_bodies.h"

#include "body/body_colliders.h"
#include "body/pin_motion.h"
#include "world/world_impl.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace plush {
namespace {

// Share of the smaller body's size at which two bodies rest on each other.
constexpr float kRestDepth = 5.0e-4f;

bool IsStatic(const Body& body) { return body.fixed || body.frozen; }

// Writes where the nodes are at the end of the step unless something holds them, to body->y, from
// the body's origin [m]. Sets their bounds and body->searched.away. Returns false if a node is
// beyond kMostCoordinate: floats are then too coarse to intersect surfaces.
bool PredictInWorld(const StepSettings& settings, Body* body, WorldBox* box) {
  const bool moves = body->Steps() && (!IsStatic(*body) || body->contacts.is_carried);
  const PinMotion& pins = body->pins;
  // A body that touches something mostly does not fall.
  const bool falls = moves && !body->touches_body && body->contacts.num_contacts == 0 &&
                     body->system->num_pinned == 0;
  const float dt = moves ? settings.dt : 0.0f, s = body->scale;
  const Vec3 fallen = falls ? GravityOf(settings, *body) * (dt * dt) : Vec3{};
  constexpr float kMost = std::numeric_limits<float>::max();
  Vec3 low = {kMost, kMost, kMost}, high = -low;
  const SearchedShape& searched = body->searched;
  const Vec3 shift = {static_cast<float>(body->origin[0] - searched.origin[0]),
                      static_cast<float>(body->origin[1] - searched.origin[1]),
                      static_cast<float>(body->origin[2] - searched.origin[2])};
  float farthest2 = 0.0f;
  bool is_near = true;
  for (size_t i = 0; i < body->x.size(); ++i) {
    Vec3 at = body->x[i];
    const bool has_target = moves && pins.moves && pins.regions[i] != PinMotion::kStays;
    if (body->x[i].w > 0.0f || has_target) {
      at += has_target ? pins.targets[i] - at : body->v[i] * dt + fallen;
    }
    at *= s;
    if (searched.is_known) {
      const Vec3 way = at + shift - searched.y[i];
      farthest2 = std::fmax(farthest2, Dot(way, way));
    }
    is_near = is_near && std::fabs(at.x) < kMostCoordinate && std::fabs(at.y) < kMostCoordinate &&
              std::fabs(at.z) < kMostCoordinate;
    body->y[i] = at;
    low = {std::fmin(low.x, at.x), std::fmin(low.y, at.y), std::fmin(low.z, at.z)};
    high = {std::fmax(high.x, at.x), std::fmax(high.y, at.y), std::fmax(high.z, at.z)};
  }
  const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
  body->searched.away = std::sqrt(farthest2);
  for (int k = 0; k < 3; ++k) {
    box->low[k] = body->origin[k] + lows[k];
    box->high[k] = body->origin[k] + highs[k];
  }
  return is_near;
}

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

}  // namespace

bool TouchingBodies::Reserve(const Allocator& allocator, uint32_t max_pairs) {
  if (pairs.size() == max_pairs) return true;
  const size_t most = size_t{kMeanContacts} * max_pairs;
  // `pairs` comes last: whoever finds it has all of them.
  return past_pairs.Allocate(allocator, max_pairs) && next_pairs.Allocate(allocator, max_pairs) &&
         is_done.Allocate(allocator, max_pairs) && contacts.Allocate(allocator, most) &&
         past.Allocate(allocator, most) && next_past.Allocate(allocator, most) &&
         sides.Allocate(allocator, 2 * most) && found.Allocate(allocator, kMostFound) &&
         pairs.Allocate(allocator, max_pairs);
}

bool TouchingBodies::ReserveSurface(const Allocator& allocator, const CollisionView& surface) {
  PairCapacity larger = capacity;
  larger.triangles = std::max(larger.triangles, surface.num_triangles());
  larger.pairs = std::max(larger.pairs, larger.triangles / 4);
  larger.patches = std::max(larger.patches, static_cast<uint32_t>(surface.patches.size()));
  larger.vertices = std::max(larger.vertices, static_cast<uint32_t>(surface.vertices.size()));
  if (pairs.size() == 0 ||
      (larger.triangles == capacity.triangles && larger.patches == capacity.patches &&
       larger.vertices == capacity.vertices)) {
    return true;
  }
  PairScratch more;
  if (!more.Reserve(allocator, larger)) return false;
  scratch = std::move(more);
  capacity = larger;
  return true;
}

const TouchingPair* TouchingBodies::PastOf(const TouchingPair& pair) const {
  const std::span<const TouchingPair> all = Past();
  const auto at = std::ranges::lower_bound(all, pair.Key(), {}, &TouchingPair::Key);
  return at != all.end() && at->Key() == pair.Key() ? &*at : nullptr;
}

std::span<const PastContact> TouchingBodies::ContactsOf(const TouchingPair* pair) const {
  if (pair == nullptr) return {};
  return past.span().subspan(pair->begin, pair->end - pair->begin);
}

// Bodies that may meet within the step, in touching_bodies.pairs, by ascending slots.
void World::Impl::FindNearPairs() {
  TouchingBodies& t = touching_bodies;
  t.num_pairs = 0;
  uint32_t count = 0;
  for (Body* body : live_bodies()) {
    if (!body->enabled || body->surface.tets.empty()) continue;
    is_refitted[body->slot] = 0;
    if (PredictInWorld(settings, body, &predicted[body->slot])) {
      sorted_bodies[count++] = body;
    } else {
      t.has_dropped = true;
    }
  }
  const std::span<Body*> sorted = sorted_bodies.span().first(count);
  std::ranges::sort(sorted, {}, [this](const Body* body) {
    return std::make_pair(predicted[body->slot].low[0], body->slot);
  });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Body& a = *sorted[i];
    for (size_t j = i + 1; j < sorted.size(); ++j) {
      const Body& b = *sorted[j];
      if (predicted[b.slot].low[0] > predicted[a.slot].high[0]) break;
      if (!predicted[a.slot].Overlaps(predicted[b.slot]) || !MayTouch(a.filter, b.filter) ||
          (IsStatic(a) && IsStatic(b))) {
        continue;
      }
      if (t.num_pairs == t.pairs.size()) {
        t.has_dropped = true;
        break;
      }
      t.is_done[t.num_pairs] = 0;
      t.pairs[t.num_pairs++] = {std::min(a.slot, b.slot), std::max(a.slot, b.slot), 0, 0};
    }
  }
  std::ranges::sort(t.pairs.span().first(t.num_pairs), {}, &TouchingPair::Key);
}

namespace {

// A contact between predicted bodies.
struct Meeting {
  const Body &a, &b;

  // From the second body's point to the first's [m].
  Vec3 Way(const EmbeddedPoint& of_a, const EmbeddedPoint& of_b) const {
    const Vec3 base = {static_cast<float>(a.origin[0] - b.origin[0]),
                       static_cast<float>(a.origin[1] - b.origin[1]),
                       static_cast<float>(a.origin[2] - b.origin[2])};
    return of_a.Of(a.y.span()) - of_b.Of(b.y.span()) + base;
  }
};

// Contacts of a search, with the forces [N] that they start from.
struct ChosenContacts {
  PairContact contacts[TouchingBodies::kMostContacts];
  Vec3 forces[TouchingBodies::kMostContacts];
  Vec3 places[TouchingBodies::kMostContacts];  // on the first body [m]
  size_t count = 0;
  uint64_t taken = 0;  // which of the step before go on
};

// Two contacts are one if they are nearer than these lengths [m].
struct ContactLengths {
  float spacing;  // of two contacts: the same few nodes would carry a nearer one
  float slip;     // of a contact's two points along the surface
  float deeper;   // than a contact: then one near it counts, too
};

// Of contacts nearer to each other than the spacing keeps one. A contact that carried load goes on
// at its own points while a found one is near it: if it jumped to that one's, the body would rock
// for ever. Then come the deepest of the others.
void ChooseContacts(const ContactLengths& lengths, const Meeting& meeting,
                    std::span<PairContact> found, std::span<const PastContact> past,
                    ChosenContacts* chosen) {
  std::ranges::sort(found, {}, [](const PairContact& c) {
    return std::make_tuple(c.gap, c.triangles[0], c.triangles[1], c.u[0], c.v[0]);
  });
  const auto point = [&](int k, const auto& c) {
    const Body& body = k == 0 ? meeting.a : meeting.b;
    return TouchingPointAt(body, c.triangles[k], c.u[k], c.v[k]);
  };
  const auto place = [&](const auto& c) { return point(0, c).Of(meeting.a.y.span()); };
  constexpr float kAlike = 0.8f;
  const auto is_near = [&](const Vec3& p, const Vec3& normal_p, const Vec3& q,
                           const Vec3& normal_q) {
    return Length(p - q) < lengths.spacing && Dot(normal_p, normal_q) > kAlike;
  };
  const auto add = [&](const PairContact& contact, const Vec3& at, const Vec3& force) {
    if (chosen->count == TouchingBodies::kMostContacts) return false;
    chosen->contacts[chosen->count] = contact;
    chosen->places[chosen->count] = at;
    chosen->forces[chosen->count++] = force;
    return true;
  };
  for (size_t i = 0; i < past.size(); ++i) {
    const PastContact& old = past[i];
    if (IsZero(old.force)) continue;
    const Vec3 at = place(old);
    const PairContact* support = nullptr;
    float nearest = std::numeric_limits<float>::infinity();
    for (const PairContact& contact : found) {
      const Vec3 other = place(contact);
      const float distance = Length(other - at);
      if (!(distance < nearest) || !is_near(at, old.normal, other, contact.normal)) continue;
      nearest = distance;
      support = &contact;
    }
    if (support == nullptr) continue;
    const Vec3 way = meeting.Way(point(0, old), point(1, old));
    PairContact kept = *support;
    kept.gap = Dot(kept.normal, way);
    if (!(Length(way - kept.normal * kept.gap) <= lengths.slip)) continue;
    for (int k = 0; k < 2; ++k) {
      kept.triangles[k] = old.triangles[k];
      kept.u[k] = old.u[k];
      kept.v[k] = old.v[k];
    }
    if (add(kept, at, old.force)) chosen->taken |= uint64_t{1} << i;
  }
  for (const PairContact& contact : found) {
    const Vec3 at = place(contact);
    bool is_new = true;
    for (size_t i = 0; i < chosen->count; ++i) {
      const PairContact& other = chosen->contacts[i];
      is_new = is_new && !(is_near(at, contact.normal, chosen->places[i], other.normal) &&
                           contact.gap > other.gap - lengths.deeper);
    }
    if (is_new) add(contact, at, {});
  }
}

// The contact of the step before that is nearest to a new one, at most `reach` away on both bodies,
// and has not been taken.
const PastContact* NearestPast(std::span<const PastContact> past, const Meeting& meeting,
                               const BodyContact& contact, float reach, uint64_t* taken) {
  float nearest = reach * reach;
  const PastContact* best = nullptr;
  for (size_t i = 0; i < past.size(); ++i) {
    if ((*taken >> i & 1u) != 0) continue;
    float distance2 = 0.0f;
    const Body* bodies[2] = {&meeting.a, &meeting.b};
    for (int k = 0; k < 2; ++k) {
      const EmbeddedPoint old =
          TouchingPointAt(*bodies[k], past[i].triangles[k], past[i].u[k], past[i].v[k]);
      const Vec3 way = old.Of(bodies[k]->y.span()) - contact.sides[k].point.Of(bodies[k]->y.span());
      distance2 += Dot(way, way);
    }
    if (!(distance2 < nearest)) continue;
    nearest = distance2;
    best = &past[i];
  }
  if (best != nullptr) *taken |= uint64_t{1} << (best - past.data());
  return best;
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

// A body wakes if a fixed one touches it whose pins move. Returns whether one did.
bool World::Impl::WakeOnCarried(const TouchingPair& pair) {
  Body* const of[2] = {bodies[pair.first], bodies[pair.second]};
  if (of[0]->contacts.is_carried == of[1]->contacts.is_carried) return false;
  Body* const other = of[of[0]->contacts.is_carried ? 1 : 0];
  if (!other->asleep || other->contacts.is_static || pair.begin == pair.end) return false;
  WakeUp(other);
  return true;
}

// The same if the fixed one moves away. Its contacts of the step before are known.
bool World::Impl::WakeOnLeaving() {
  bool woke = false;
  for (const TouchingPair& pair : touching_bodies.Past()) {
    const bool wakes = pair.presses && WakeOnCarried(pair);
    woke = woke || wakes;
  }
  return woke;
}

// Finds contacts, islands, and who wakes.
void World::Impl::FindBodyContacts() {
  TouchingBodies& t = touching_bodies;
  t.num_contacts = 0;
  t.has_dropped = t.all_rest = false;
  t.find_time = 0.0f;
  if (t.pairs.size() == 0 || !SolvesContact(settings)) return;
  const auto start = std::chrono::steady_clock::now();
  for (Body* body : live_bodies()) {
    ContactState& state = body->contacts;
    state.is_static = IsStatic(*body);
    state.is_carried = body->Steps() && !body->frozen && IsCarried(*body);
    if (state.is_carried) FindCarriedVelocities(settings.dt, body);
    const PointCouplings& S = state.couplings;
    if (!state.is_static && 2 * S.num_slots > S.points.size()) state.KeepTouching();
    state.scale = body->scale;
    state.between = {};
    state.v = body->v.span();
    state.x = state.y = body->x.span();
    std::copy(body->origin, body->origin + 3, state.origin);
  }
  t.all_rest = std::ranges::none_of(live_bodies(), [](const Body* body) {
    return body->Steps() && (!body->contacts.is_static || body->contacts.is_carried);
  });
  if (t.all_rest) return;
  FindNearPairs();
  bool woke = WakeOnLeaving();
  for (bool is_settled = false; !is_settled;) {
    for (uint32_t i = 0; i < t.num_pairs; ++i) {
      TouchingPair& pair = t.pairs[i];
      const auto acts = [&](uint32_t slot) {
        const Body& body = *bodies[slot];
        return body.Steps() && (!body.contacts.is_static || body.contacts.is_carried);
      };
      if (t.is_done[i] != 0 || (!acts(pair.first) && !acts(pair.second))) continue;
      t.is_done[i] = 1;
      FindContacts(&pair);
      woke = WakeOnCarried(pair) || woke;
    }
    LinkIslands();
    woke = WakeIslands() || woke;
    is_settled = !std::exchange(woke, false);
    if (!is_settled) PlaceAttachments();  // those of bodies that have just woken act, too
  }
  ListSides();
  t.find_time = std::chrono::duration<float>(std::chrono::steady_clock::now() - start).count();
}

// Gives each body its sides of contacts.
void World::Impl::ListSides() {
  TouchingBodies& t = touching_bodies;
  const std::span<BodyContact> all = t.contacts.span().first(t.num_contacts);
  const auto for_sides = [&](const auto& visit) {
    for (uint32_t i = 0; i < t.num_pairs; ++i) {
      for (uint32_t c = t.pairs[i].begin; c < t.pairs[i].end; ++c) {
        visit(bodies[t.pairs[i].first], BodyContactSide{&all[c], 0});
        visit(bodies[t.pairs[i].second], BodyContactSide{&all[c], 1});
      }
    }
  };
  for (Body* body : live_bodies()) body->num_sides = 0;
  for_sides([](Body* body, const BodyContactSide&) { ++body->num_sides; });
  size_t begin = 0;
  for (Body* body : live_bodies()) {
    body->contacts.between = t.sides.span().subspan(begin, body->num_sides);
    begin += body->num_sides;
    body->num_sides = 0;
  }
  for_sides([&](Body* body, const BodyContactSide& side) {
    const size_t at = static_cast<size_t>(body->contacts.between.data() - t.sides.data());
    t.sides[at + body->num_sides++] = side;
  });
}

// Bodies learn whether they touched others.
void World::Impl::NoteTouching() {
  for (Body* body : live_bodies()) body->touches_body = false;
  for (const TouchingPair& pair : touching_bodies.Past()) {
    if (!pair.presses) continue;
    bodies[pair.first]->touches_body = bodies[pair.second]->touches_body = true;
  }
}

void World::Impl::WakeTouching(uint32_t slot) {
  for (const TouchingPair& pair : touching_bodies.Past()) {
    if (pair.first != slot && pair.second != slot) continue;
    if (pair.presses) WakeUp(bodies[pair.first == slot ? pair.second : pair.first]);
  }
}

void World::Impl::ForgetPairs(uint32_t slot) {
  WakeTouching(slot);
  TouchingBodies& t = touching_bodies;
  TouchingPair* const begin = t.past_pairs.begin();
  const auto end = std::remove_if(begin, begin + t.num_past_pairs, [&](const TouchingPair& pair) {
    return pair.first == slot || pair.second == slot;
  });
  t.num_past_pairs = static_cast<uint32_t>(end - begin);
}

// Keeps what the contacts leave for the next step, those of pairs that sleep too.
void World::Impl::EndBodyContacts() {
  TouchingBodies& t = touching_bodies;
  if (t.pairs.size() == 0 || t.all_rest) return;
  uint32_t num_pairs = 0, count = 0;
  const auto is_free = [&](size_t more) {
    return num_pairs < t.next_pairs.size() && count + more <= t.next_past.size();
  };
  const auto end_pair = [&](const TouchingPair& pair, uint32_t begin) {
    t.next_pairs[num_pairs] = pair;
    t.next_pairs[num_pairs].begin = begin;
    t.next_pairs[num_pairs++].end = count;
  };
  for (uint32_t i = 0; i < t.num_pairs; ++i) {
    TouchingPair& pair = t.pairs[i];
    const uint32_t begin = count;
    if (t.is_done[i] == 0) {  // both sleep
      const TouchingPair* before = t.PastOf(pair);
      const std::span<const PastContact> old = t.ContactsOf(before);
      if (before == nullptr) continue;
      if (!is_free(old.size())) {
        t.has_dropped = true;
        continue;
      }
      for (const PastContact& contact : old) t.next_past[count++] = contact;
      end_pair(*before, begin);
      continue;
    }
    if (!is_free(pair.end - pair.begin)) {
      t.has_dropped = true;
      continue;
    }
    for (const BodyContact& contact :
         t.contacts.span().subspan(pair.begin, pair.end - pair.begin)) {
      const bool presses = NormalImpulse(contact.row) > 0.0f;
      pair.presses = pair.presses || presses;
      const BodyContact::Side &a = contact.sides[0], &b = contact.sides[1];
      t.next_past[count++] = {{a.triangle, b.triangle},
                              {a.u, b.u},
                              {a.v, b.v},
                              contact.row.plane.normal,
                              presses && IsFinite(contact.force) ? contact.force : Vec3{}};
    }
    end_pair(pair, begin);
  }
  ReportPairs(t.next_pairs.span().first(num_pairs));
  std::swap(t.past, t.next_past);
  std::swap(t.past_pairs, t.next_pairs);
  t.num_past_pairs = num_pairs;
  t.num_pairs = 0;
  islands_changed = true;
  NoteTouching();
  for (Body* body : live_bodies()) {
    ContactState& state = body->contacts;
    if (state.between.empty()) continue;
    state.between = {};
    if (!state.is_static) state.KeepTouching();
  }
}

}  // namespace plush
