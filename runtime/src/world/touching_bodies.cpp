// SPDX-License-Identifier: MIT
// Pairs of bodies whose surfaces meet within a step become contacts, and islands.
#include "world/touching_bodies.h"

#include "body/body_colliders.h"
#include "body/island.h"
#include "body/pin_motion.h"
#include "world/world_impl.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace plush {

bool TouchingBodies::Reserve(const Allocator& allocator, uint32_t max_pairs, bool has_threads) {
  if (pairs.size() == max_pairs) return true;
  num_searches = has_threads ? kMostSearches : 1;
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
  larger.regions = std::max(larger.regions, larger.patches);  // of a fine cage, one in each
  if (pairs.size() == 0 ||
      (larger.triangles == capacity.triangles && larger.patches == capacity.patches &&
       larger.vertices == capacity.vertices)) {
    return true;
  }
  SearchMemory more[kMostSearches];
  const size_t most_found = size_t{2} * larger.regions;  // one in each region of two bodies
  for (uint32_t i = 0; i < num_searches; ++i) {
    if (!more[i].scratch.Reserve(allocator, larger) ||
        !more[i].found.Allocate(allocator, most_found) ||
        !more[i].places.Allocate(allocator, most_found)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < num_searches; ++i) searches[i] = std::move(more[i]);
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
  t.num_contacts = t.num_found = t.num_dropped = 0;
  t.num_searched = 0;
  t.has_dropped = t.has_open = t.has_fast = t.all_rest = false;
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
    state.num_wanted = 0;
    state.scale = body->scale;
    state.thickness = body->surface.thickness * body->scale;
    const bool has_coarse = body->solver.method == nullptr && body->splitting.volume_sweeps == 0;
    state.wave_rate6 = has_coarse && !state.is_static ? body->system->coarse.wave_rate6 : 0.0;
    state.SetBetween({});
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
  t.Arrange();
  ListSides();
  t.find_time = std::chrono::duration<float>(std::chrono::steady_clock::now() - start).count();
}

// Divides the bodies of a group, those with this number, in two where their contacts have their
// middle. Half of them get `bit` in their numbers.
static void Halve(Body* first, uint32_t group, uint32_t bit) {
  const auto for_bodies = [&](const auto& visit) {
    for (Body* body = first; body != nullptr; body = body->next_of_island) {
      if ((body->contacts.group & (bit - 1)) == group) visit(body);
    }
  };
  constexpr double kFar = std::numeric_limits<double>::max();
  double low[3] = {kFar, kFar, kFar}, high[3] = {-kFar, -kFar, -kFar}, sums[3] = {};
  double sides = 0.0;
  for_bodies([&](const Body* body) {
    for (int k = 0; k < 3; ++k) {
      low[k] = std::fmin(low[k], body->origin[k]);
      high[k] = std::fmax(high[k], body->origin[k]);
      sums[k] += body->origin[k] * body->num_sides;
    }
    sides += body->num_sides;
  });
  int axis = 0;
  for (int k = 1; k < 3; ++k) axis = high[k] - low[k] > high[axis] - low[axis] ? k : axis;
  for_bodies([&](Body* body) {
    if (body->origin[axis] * sides > sums[axis]) body->contacts.group |= bit;
  });
}

// Puts the bodies of large piles in groups, by place. Smaller ones gain nothing from threads.
// Returns whether there is any.
static bool GroupBodies(std::span<Body* const> all) {
  constexpr uint32_t kLargePile = 64;  // [bodies]
  bool any = false;
  for (Body* first : all) {
    if (!first->leads_island) continue;
    uint32_t count = 0;
    for (Body* body = first; body != nullptr; body = body->next_of_island) ++count;
    if (count < kLargePile) continue;
    any = true;
    for (uint32_t bit = 1; bit < kSweepGroups; bit *= 2) {
      for (uint32_t group = 0; group < bit; ++group) Halve(first, group, bit);
    }
  }
  return any;
}

// Gives each body its sides of contacts, by the rounds in which sweeps change them.
void World::Impl::ListSides() {
  TouchingBodies& t = touching_bodies;
  const std::span<BodyContact> all = t.contacts.span().first(t.num_contacts);
  const auto for_pairs = [&](const auto& visit) {
    for (const TouchingPair& pair : t.Current())
      visit(pair, bodies[pair.first], bodies[pair.second]);
  };
  for (Body* body : live_bodies()) body->num_sides = body->contacts.group = 0;
  for_pairs([](const TouchingPair& pair, Body* a, Body* b) {
    a->num_sides += pair.end - pair.begin;
    b->num_sides += pair.end - pair.begin;
  });
  const bool has_groups = SolvesContact(settings) && GroupBodies(live_bodies());
  size_t begin = 0;
  for (Body* body : live_bodies()) {
    ContactState& state = body->contacts;
    state.SetBetween(t.sides.span().subspan(begin, body->num_sides));
    begin += body->num_sides;
    body->num_sides = 0;
  }
  const auto add = [&](uint32_t contact, uint32_t side, Body* body) {
    const size_t at = static_cast<size_t>(body->contacts.between.data() - t.sides.data());
    t.sides[at + body->num_sides++] = {&all[contact], side};
  };
  for (uint32_t round = 0; round < (has_groups ? kSweepGroups : 1); ++round) {
    for_pairs([&](const TouchingPair& pair, Body* a, Body* b) {
      const ContactState &of_a = a->contacts, &of_b = b->contacts;
      const bool is_one = of_a.is_static || of_b.is_static;
      if (round != (is_one ? 0 : of_a.group ^ of_b.group)) return;
      for (uint32_t c = pair.begin; c < pair.end; ++c) {
        add(c, 0, a);
        add(c, 1, b);
      }
    });
    for (Body* body : live_bodies()) {
      ContactState& state = body->contacts;
      state.later[round] = static_cast<uint32_t>(state.between.size()) - body->num_sides;
    }
  }
}

void World::Impl::WakeTouching(uint32_t slot) {
  for (const TouchingPair& pair : touching_bodies.Past()) {
    if (pair.first != slot && pair.second != slot) continue;
    if (pair.presses) WakeUp(bodies[pair.first == slot ? pair.second : pair.first]);
  }
}

void World::Impl::ForgetPast(Body* body) {
  body->has_previous = false;
  body->moved = true;
  body->pins.rests = false;  // a fixed body wakes what it touches now
  body->contacts.Forget();
  body->guard = {};
  WakeTouching(body->slot);
  TouchingBodies& t = touching_bodies;
  for (TouchingPair& pair : t.past_pairs.span().first(t.num_past_pairs)) {
    if (pair.first != body->slot && pair.second != body->slot) continue;
    pair.was_searched = false;
    pair.holds_until = 0.0;
    pair.rebound = {};
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

}  // namespace plush
