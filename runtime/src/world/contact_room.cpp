// SPDX-License-Identifier: MIT
// Which contacts between bodies have room: those that carry load, then the deepest, of all pairs.
//
// Once there are too many, `sides` is a heap of them. Each new one takes the place of that which
// would go first, or goes itself. So the order in which pairs come does not matter.
#include "world/touching_bodies.h"

#include <algorithm>
#include <utility>

namespace plush {
namespace {

// One type of comparison, so that there is one sort, by heaps.
using Before = bool (*)(const BodyContactSide& a, const BodyContactSide& b);

bool StaysBefore(const BodyContactSide& one, const BodyContactSide& other) {
  const BodyContact &a = *one.contact, &b = *other.contact;
  const bool presses = !IsZero(a.force);
  if (presses == IsZero(b.force)) return presses;
  return a.gap != b.gap ? a.gap < b.gap : a.number < b.number;
}

bool WasFoundBefore(const BodyContactSide& a, const BodyContactSide& b) {
  return a.contact->number < b.contact->number;
}

// Calls visit(side) for each side whose body needs a slot for its point.
template <class Visit>
void ForSlots(BodyContact* contact, const Visit& visit) {
  for (BodyContact::Side& side : contact->sides) {
    if (!side.of->is_static) visit(side);
  }
}

}  // namespace

void TouchingBodies::Add(const BodyContact& contact) {
  const Before stays = StaysBefore;
  const bool was_full = num_found > num_contacts;
  const auto count = [](BodyContact::Side& side) { ++side.of->num_wanted; };
  BodyContact added = contact;
  added.number = num_found++;
  if (num_contacts < contacts.size()) {
    contacts[num_contacts] = added;
    ForSlots(&contacts[num_contacts++], count);
    return;
  }
  ++num_dropped;
  const std::span<BodyContactSide> heap = sides.span().first(num_contacts);
  if (!was_full) {
    for (uint32_t i = 0; i < num_contacts; ++i) heap[i] = {&contacts[i], 0};
    std::make_heap(heap.begin(), heap.end(), stays);
  }
  if (!StaysBefore({&added, 0}, heap.front())) return;
  std::pop_heap(heap.begin(), heap.end(), stays);
  BodyContact* const place = heap.back().contact;
  ForSlots(place, [](BodyContact::Side& side) { --side.of->num_wanted; });
  *place = added;
  ForSlots(place, count);
  std::push_heap(heap.begin(), heap.end(), stays);
}

void TouchingBodies::Arrange() {
  const std::span<BodyContact> all = contacts.span().first(num_contacts);
  if (num_found > num_contacts) {
    const std::span<BodyContactSide> order = sides.span().first(num_contacts);
    const Before before = WasFoundBefore;
    std::make_heap(order.begin(), order.end(), before);
    std::sort_heap(order.begin(), order.end(), before);
    const auto source = [&](size_t i) {
      return static_cast<size_t>(order[i].contact - all.data());
    };
    for (size_t i = 0; i < all.size(); ++i) {
      size_t from = source(i);
      while (from < i) from = source(from);  // it has been moved to there
      std::swap(all[i], all[from]);
    }
    const auto place = [&](uint32_t number) {
      const auto at = std::ranges::lower_bound(all, number, {}, &BodyContact::number);
      return static_cast<uint32_t>(at - all.begin());
    };
    for (TouchingPair& pair : pairs.span().first(num_pairs)) {
      pair.begin = place(pair.begin);
      pair.end = place(pair.end);
    }
  }
  for (BodyContact& contact : all) {
    ForSlots(&contact, [](BodyContact::Side& side) {
      side.slot = side.of->couplings.Add(side.point);
      --side.of->num_wanted;
    });
  }
}

}  // namespace plush
