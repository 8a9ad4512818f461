// SPDX-License-Identifier: MIT
// Which bodies touch each other in a step, and where.
#pragma once

#include "base/array.h"
#include "body/body.h"
#include "contact/body_contacts.h"
#include "intersection/pair_contacts.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Two bodies that touch or come near, by slots.
struct TouchingPair {
  uint32_t first = 0, second = 0;  ///< first < second
  uint32_t begin = 0, end = 0;     ///< its contacts; until Arrange, their numbers
  float approach_speed = 0.0f;     ///< the greatest along a normal when the step began [m/s]
  // The contacts hold while the bodies move little relative to each other since the last search.
  double travel[3] = {};      ///< of the first body less that of the second, then [m]
  double holds_until = 0.0;   ///< until what it has changed by and the bodies'
                              ///< SearchedShape::WayNow add up to this [m]
  bool was_searched = false;  ///< in this step
  Rebound rebound;            ///< what an impact still asks for; `collider` has no meaning
  bool presses = false;       ///< whether a contact does
  bool is_reported = false;   ///< whether the game knows of it from an event
  bool is_open = false;       ///< whether the last search met an open border (kStepSurfacesOpen)
  bool is_complete = true;    ///< whether it had enough memory (kStepContactsDropped)
  bool meets_fast = false;    ///< whether the bodies meet within the step, or may, as they are fast

  uint64_t Key() const { return uint64_t{first} << 32 | second; }
};

/// A body at the end of the step, if nothing holds it.
struct PredictedBody {
  WorldBox box;         ///< bounds of the nodes; of a fast body, of its start and its end
  Vec3 way;             ///< mean way of the nodes within the step [m]
  bool is_near = true;  ///< no node is beyond kMostCoordinate
};

/// The body at its y, as queries see it.
inline CollisionBody ViewOf(const Body& body) {
  return {body.surface, body.simulation.nodes, body.y.span().first(body.x.size()), body.collision};
}
inline PlacedBody PlacedAt(const CollisionBody& view, const Body& body) {
  return {view, {body.origin[0], body.origin[1], body.origin[2]}, body.scale};
}

/// What a contact of two bodies leaves for the next step.
struct PastContact {
  uint32_t triangles[2] = {};
  float u[2] = {}, v[2] = {};
  Vec3 normal;  ///< unit, out of the second body
  Vec3 force;   ///< on the first body [N]; zero: it does not press
};

/// Contacts of a pair that a search chose, with the forces [N] that they start from.
struct ChosenContacts {
  static constexpr uint32_t kMost = 64;

  PairContact contacts[kMost];
  Vec3 forces[kMost];
  Vec3 places[kMost];  ///< on the first body [m]
  size_t count = 0;
  uint64_t taken = 0;    ///< which of the step before go on
  uint32_t dropped = 0;  ///< without room
};

/// A pair whose contacts are wanted. The searches of several pairs may run at once.
struct WantedPair {
  static constexpr uint32_t kMostTimes = 8;  ///< most of `times`

  TouchingPair* pair = nullptr;
  const TouchingPair* before = nullptr;  ///< the same pair in the step before, or null
  // Of a search.
  bool is_searched = false;  ///< else its contacts of the step before hold
  uint32_t times = 1;        ///< within the step at which surfaces are intersected (fast_pairs.cpp)
  bool is_found = false;     ///< a fast pair's search is done
  bool is_complete = true;   ///< there was enough memory
  bool is_open = false;      ///< a curve or a region ends at an open border
  bool meets_fast = false;   ///< a fast pair's surfaces meet within the step, or may
  float holds_for = 0.0f;    ///< how far the bodies may move before the next search [m]
  ChosenContacts chosen;
};

/// Memory of one search at a time.
struct SearchMemory {
  PairScratch scratch;
  Array<PairContact> found;  ///< (twice the most regions x 1)
  Array<Vec3> places;        ///< of these on the first body (likewise)
};

/// Contacts of all pairs, and memory to find them.
struct TouchingBodies {
  /// Contacts of a pair on average: there is room for this many times max_pairs.
  static constexpr uint32_t kMeanContacts = 12;
  /// Most contacts of one pair.
  static constexpr uint32_t kMostContacts = ChosenContacts::kMost;
  /// Most pairs that are searched together, and most searches that run at once.
  static constexpr uint32_t kMostWanted = 64, kMostSearches = 4;

  Array<TouchingPair> pairs;  ///< ascending (max_pairs x 1)
  uint32_t num_pairs = 0;
  Array<BodyContact> contacts;  ///< by pair (kMeanContacts max_pairs x 1)
  uint32_t num_contacts = 0;
  uint32_t num_found = 0;    ///< contacts that had room for a while, and all others
  uint32_t num_dropped = 0;  ///< contacts without room
  // What the step before left.
  Array<TouchingPair> past_pairs;  ///< ascending (max_pairs x 1)
  uint32_t num_past_pairs = 0;
  Array<PastContact> past;  ///< by pair (as `contacts`)
  // Scratch memory of a step.
  Array<TouchingPair> next_pairs;
  Array<PastContact> next_past;
  Array<uint8_t> is_done;        ///< whether a pair's contacts have been found (max_pairs x 1)
  float find_time = 0.0f;        ///< of the search in the current step [s]
  bool has_dropped = false;      ///< pairs without room, or searches
  bool has_open = false;         ///< pairs whose surfaces overlap at an open border
  bool has_fast = false;         ///< fast pairs that meet within the step, and do not press
  uint32_t num_searched = 0;     ///< pairs that were searched
  bool all_rest = false;         ///< no body steps: what the step before left stays
  Array<BodyContactSide> sides;  ///< by body; before, a heap of contacts (2 x contacts)
  Array<WantedPair> wanted;      ///< (kMostWanted x 1)
  uint32_t num_wanted = 0;
  Array<WantedPair*> at_once;  ///< those that are searched at once (kMostWanted x 1)
  uint32_t num_at_once = 0;
  std::atomic<uint32_t> next_at_once = 0;  ///< to be searched
  Array<Body*> refitted;  ///< bodies of `wanted` whose trees are old (2 kMostWanted x 1)
  PairCapacity capacity;  ///< of `searches`
  SearchMemory searches[kMostSearches];
  uint32_t num_searches = 0;

  std::span<const TouchingPair> Current() const { return pairs.span().first(num_pairs); }
  std::span<const TouchingPair> Past() const { return past_pairs.span().first(num_past_pairs); }
  /// The same pair in the step before, or null.
  const TouchingPair* PastOf(const TouchingPair& pair) const;
  /// Its contacts; none of null.
  std::span<const PastContact> ContactsOf(const TouchingPair* pair) const;
  /// Adds a contact of the step. If there are too many, the least one goes: those that carry load
  /// stay, then the deepest, whatever their pairs.
  void Add(const BodyContact& contact);
  /// Ends a step's additions: pairs know their contacts, whose points have slots.
  void Arrange();
  /// Makes room. `has_threads`: whether searches may run at once. Returns false if the allocator
  /// fails.
  bool Reserve(const Allocator& allocator, uint32_t max_pairs, bool has_threads);
  /// Makes room for bodies with this surface. Returns false, with nothing changed, if the allocator
  /// fails.
  bool ReserveSurface(const Allocator& allocator, const CollisionView& surface);
};

}  // namespace plush
