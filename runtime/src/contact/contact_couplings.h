// SPDX-License-Identifier: MIT
// What sweeps and pushes over the contacts of a solve share.
#pragma once

#include "base/shared_list.h"
#include "contact/body_contacts.h"
#include "contact/plane_contacts.h"

#include <hwy/cache_control.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Where the current sweeps have moved the points of all slots, by axis [m].
struct Moved {
  float *x = nullptr, *y = nullptr, *z = nullptr;

  Moved() = default;
  explicit Moved(ContactState* state)
      : x(state->moved.data()), y(x + state->couplings.stride), z(y + state->couplings.stride) {}

  Vec3 At(uint32_t slot) const { return {x[slot], y[slot], z[slot]}; }
};

/// An impulse on a point of a body. Its slots have moved as far as `moved` says, and move on by
/// the first `count` numbers of `row`: by how much per impulse [1/kg].
struct SlotPush {
  const float* row = nullptr;
  uint32_t count = 0;
  Moved moved;
  Vec3 impulse;

  SlotPush() = default;
  SlotPush(const float* by_slots, const Vec3& on_point, ContactState* state)
      : row(by_slots), count(state->couplings.num_slots), moved(state), impulse(on_point) {}
  SlotPush(uint32_t slot, const Vec3& on_slot, ContactState* state)
      : SlotPush(state->couplings.Row(slot), on_slot, state) {}
};

/// Moves the slots.
void Move(std::span<const SlotPush> pushes);

/// Where the current turn of a body has moved the point of a slot [m].
Vec3 TurnedBy(const ContactState& state, uint32_t slot);

/// Where the current sweeps have moved the point of a slot [m].
inline Vec3 MotionAt(ContactState* state, uint32_t slot) {
  const Vec3 moved = Moved(state).At(slot);
  return state->turn == nullptr ? moved : moved + TurnedBy(*state, slot);
}

/// The same for the way between the points of a contact.
inline Vec3 MotionOf(const BodyContact& contact) {
  Vec3 moved;
  for (uint32_t k = 0; k < 2; ++k) {
    const BodyContact::Side& side = contact.sides[k];
    if (!side.of->in_solve) continue;
    moved += MotionAt(side.of, side.slot) * (k == 0 ? side.of->scale : -side.of->scale);
  }
  return moved;
}

/// Adds what an impulse on a slot does to all slots' and attached points.
void PushSlot(uint32_t slot, const Vec3& impulse, ContactState* state);

/// The same for an impulse of a contact's row.
void PushSlots(const BodyContact& contact, const Vec3& impulse);

/// The impulse per displacement that is safe [kg], by displacement per impulse; 0 if it is 0.
inline float YieldingOf(float response) { return response > 0.0f ? 1.0f / response : 0.0f; }

/// Begins a solve: notes which bodies take part, which contacts act, and who leads them. Solves of
/// single bodies may run at once, so a single body does not ask whether others are in one.
/// `others_are_still`: contacts with bodies that take no part act, too, as if those were fixed.
template <class T>
void BeginSolve(const JobSystem* jobs, T* first, bool others_are_still = false) {
  for (T* of = first; of != nullptr; of = of->next) {
    if (of->state != nullptr) of->state->in_solve = true;
  }
  const bool is_alone = first != nullptr && first->next == nullptr;
  ForShared(jobs, first, &T::next, [=](T* of) {
    if (of->state == nullptr) return;
    for (BodyContactSide& at : of->state->between) {
      const BodyContact& contact = *at.contact;
      const bool acts = is_alone ? contact.sides[1 - at.side].of->is_static : contact.Acts();
      at.acts = acts || others_are_still;
      at.leads = at.acts && (is_alone || at.side == contact.Lead());
    }
  });
}

template <class T>
void EndSolve(T* first) {
  for (T* of = first; of != nullptr; of = of->next) {
    if (of->state != nullptr) of->state->in_solve = false;
  }
}

/// Calls visit(contact) for each of these contacts whose impulse the solve may change, and whose
/// turn is that of the body on this side.
template <class Visit>
void ForActing(std::span<const BodyContactSide> sides, const Visit& visit) {
  for (const BodyContactSide& at : sides) {
    if (at.leads) visit(at.contact);
  }
}

/// Fetches what a change of a contact's impulse reads. Inline: a compiler drops calls that do
/// nothing else.
HWY_INLINE void PrefetchRows(const BodyContact& contact) {
  constexpr uint32_t kLine = 16;  // numbers
  for (const BodyContact::Side& side : contact.sides) {
    if (!side.of->in_solve) continue;
    const PointCouplings& S = side.of->couplings;
    const float* const row = S.Row(side.slot);
    for (uint32_t k = 0; k < S.num_slots; k += kLine) hwy::Prefetch(row + k);
    const Moved moved(side.of);
    for (const float* axis : {moved.x, moved.y, moved.z}) hwy::Prefetch(axis + side.slot);
  }
}

/// ForActing if visits change impulses. The rows of S of a heap's bodies do not fit into the caches
/// of a core: those of a contact come while the one before changes.
template <class Visit>
void ForChanged(std::span<const BodyContactSide> sides, const Visit& visit) {
  for (size_t i = 0; i < sides.size(); ++i) {
    if (!sides[i].leads) continue;
    if (i + 1 < sides.size() && sides[i + 1].leads) PrefetchRows(*sides[i + 1].contact);
    visit(sides[i].contact);
  }
}

/// ForActing over all contacts of a body with others.
template <class Visit>
void ForBetween(const ContactState& state, const Visit& visit) {
  ForActing(state.between, visit);
}

/// The most sweeps of a heap's solve with that many contacts. The jammed bodies of a crowd do not
/// settle in any number of sweeps, and are no deeper in each other with few: so the more contacts,
/// the fewer sweeps, from `most` down to `least`.
inline int AffordableSweeps(size_t contacts, int least, int most) {
  constexpr size_t kMostChanges = 16384;  // of impulses in a solve
  const size_t affordable = kMostChanges / (contacts > 0 ? contacts : 1);
  if (affordable >= static_cast<size_t>(most)) return most;
  return affordable > static_cast<size_t>(least) ? static_cast<int>(affordable) : least;
}

/// Finds how the points of all contacts of a solve answer impulses. Sets their `yielding`.
void FindCouplings(ContactSolve* first, const JobSystem* jobs = nullptr);

}  // namespace plush
