// SPDX-License-Identifier: MIT
// What contacts between bodies leave for the next step.
#include "world/world_impl.h"

#include <algorithm>
#include <utility>

namespace plush {

// Bodies learn whether they touched others.
void World::Impl::NoteTouching() {
  for (const uint32_t slot : slots) bodies[slot]->touches_body = false;
  for (const TouchingPair& pair : touching_bodies.Past()) {
    if (!pair.presses) continue;
    bodies[pair.first]->touches_body = bodies[pair.second]->touches_body = true;
  }
}

// If all bodies rest, only calls change what is reported: bodies that are disabled, and those that
// report from now on.
void World::Impl::ReportRestingPairs() {
  TouchingBodies& t = touching_bodies;
  const auto are_enabled = [&](const TouchingPair& pair) {
    return bodies[pair.first]->enabled && bodies[pair.second]->enabled;
  };
  const auto is_settled = [&](const TouchingPair& pair) {
    return are_enabled(pair) && pair.is_reported == IsToReport(pair);
  };
  if (std::ranges::all_of(t.Past(), is_settled)) return;
  const auto kept = std::ranges::copy_if(t.Past(), t.next_pairs.begin(), are_enabled);
  const auto num_pairs = static_cast<uint32_t>(kept.out - t.next_pairs.begin());
  ReportPairs(t.next_pairs.span().first(num_pairs));
  std::swap(t.past_pairs, t.next_pairs);
  t.num_past_pairs = num_pairs;
  islands_changed = true;
  NoteTouching();
}

// Keeps what the contacts leave for the next step, those of pairs that sleep too.
void World::Impl::EndBodyContacts() {
  TouchingBodies& t = touching_bodies;
  if (t.pairs.size() == 0) return;
  if (t.all_rest) return ReportRestingPairs();
  const auto presses = [](const BodyContact& contact) {
    return NormalImpulse(contact.row) > 0.0f && IsFinite(contact.force);
  };
  // If there is too little room, those that carry load have some.
  uint32_t num_pressing = 0;
  for (const BodyContact& contact : t.contacts.span().first(t.num_contacts)) {
    num_pressing += presses(contact) ? 1 : 0;
  }
  for (uint32_t i = 0; i < t.num_pairs; ++i) {
    if (t.is_done[i] != 0) continue;
    for (const PastContact& old : t.ContactsOf(t.PastOf(t.pairs[i]))) {
      num_pressing += IsZero(old.force) ? 0 : 1;
    }
  }
  uint32_t num_pairs = 0, count = 0, free = static_cast<uint32_t>(t.next_past.size());
  uint32_t free_for_others = free - std::min(num_pressing, free);
  const auto keep = [&](const PastContact& contact, bool is_pressing) {
    uint32_t* const room = is_pressing ? &free : &free_for_others;
    if (*room == 0) {
      ++t.num_dropped;
      return;
    }
    --*room;
    t.next_past[count++] = contact;
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
      for (const PastContact& contact : old) keep(contact, !IsZero(contact.force));
      end_pair(*before, begin);
      continue;
    }
    for (const BodyContact& contact :
         t.contacts.span().subspan(pair.begin, pair.end - pair.begin)) {
      pair.presses = pair.presses || NormalImpulse(contact.row) > 0.0f;
      const BodyContact::Side &a = contact.sides[0], &b = contact.sides[1];
      keep({{a.triangle, b.triangle},
            {a.u, b.u},
            {a.v, b.v},
            contact.row.plane.normal,
            presses(contact) ? contact.force : Vec3{}},
           presses(contact));
    }
    t.has_fast = t.has_fast || (pair.meets_fast && !pair.presses);
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
    state.SetBetween({});
    if (!state.is_static) state.KeepTouching();
  }
}

}  // namespace plush
