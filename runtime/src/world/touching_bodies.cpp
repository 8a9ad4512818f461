// SPDX-License-Identifier: MIT
// Pairs of bodies whose surfaces meet within a step become contacts, and islands.
#include "world/touching_bodies.h"

#include "body/body_colliders.h"
#include "body/island.h"
#include "body/pin_motion.h"
#include "world/world_impl.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace plush {

bool TouchingBodies::Reserve(const Allocator& allocator, uint32_t max_pairs, bool has_threads) {
  if (pairs.size() == max_pairs) return true;
  num_searches = has_threads ? kMostSearches : 1;
  for (uint32_t i = 0; i < num_searches; ++i) {
    if (!searches[i].found.Allocate(allocator, SearchMemory::kMostFound) ||
        !searches[i].places.Allocate(allocator, SearchMemory::kMostFound)) {
      return false;
    }
  }
  const uint32_t most_wanted = std::min(max_pairs, kMostWanted);
  const size_t most = size_t{kMeanContacts} * max_pairs;
  // `pairs` comes last: whoever finds it has all of them.
  return past_pairs.Allocate(allocator, max_pairs) && next_pairs.Allocate(allocator, max_pairs) &&
         is_done.Allocate(allocator, max_pairs) && contacts.Allocate(allocator, most) &&
         past.Allocate(allocator, most) && next_past.Allocate(allocator, most) &&
         sides.Allocate(allocator, 2 * most) && wanted.Allocate(allocator, most_wanted) &&
         at_once.Allocate(allocator, most_wanted) &&
         refitted.Allocate(allocator, 2 * most_wanted) && pairs.Allocate(allocator, max_pairs);
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
  PairScratch more[kMostSearches];
  for (uint32_t i = 0; i < num_searches; ++i) {
    if (!more[i].Reserve(allocator, larger)) return false;
  }
  for (uint32_t i = 0; i < num_searches; ++i) searches[i].scratch = std::move(more[i]);
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
  t.num_searched = 0;
  t.has_dropped = t.has_open = t.all_rest = false;
  t.find_time = 0.0f;
  if (t.pairs.size() == 0) return;
  t.all_rest = !AnyBodySteps();
  if (t.all_rest) return;
  const auto start = std::chrono::steady_clock::now();
  for (Body* body : live_bodies()) {
    ContactState& state = body->contacts;
    state.is_static = !Moves(*body);
    state.is_carried = body->Steps() && !body->frozen && IsCarried(*body);
    if (state.is_carried) FindCarriedVelocities(settings.dt, body);
    const PointCouplings& S = state.couplings;
    if (!state.is_static && 2 * S.num_slots > S.points.size()) state.KeepTouching();
    state.scale = body->scale;
    state.thickness = body->surface.thickness * body->scale;
    const bool has_coarse = body->solver.method == nullptr && body->splitting.volume_sweeps == 0;
    state.wave_rate6 = has_coarse && !state.is_static ? body->system->coarse.wave_rate6 : 0.0;
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
    for (uint32_t i = 0; i < t.num_pairs;) {
      i = ListWantedPairs(i);
      SearchWantedPairs();
      for (WantedPair& wanted : t.wanted.span().first(t.num_wanted)) {
        AddContactsOf(&wanted);
        woke = WakeOnCarried(*wanted.pair) || woke;
      }
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
