// SPDX-License-Identifier: MIT
// What sweeps and pushes over the contacts of a solve share.
#pragma once

#include "contact/body_contacts.h"
#include "contact/plane_contacts.h"

#include <cstddef>
#include <cstdint>

namespace plush {

/// Where the current sweeps have moved the points of all slots, by axis [m].
struct Moved {
  float *x, *y, *z;

  explicit Moved(ContactState* state)
      : x(state->moved.data()), y(x + state->couplings.stride), z(y + state->couplings.stride) {}

  Vec3 At(uint32_t slot) const { return {x[slot], y[slot], z[slot]}; }
  /// Adds what an impulse on a slot does, from the first `count` numbers of its row of S.
  void Add(const float* row, uint32_t count, const Vec3& impulse) const;
};

/// Where the current sweeps have moved the point of a slot [m].
inline Vec3 MotionAt(ContactState* state, uint32_t slot) {
  const Vec3 moved = Moved(state).At(slot);
  if (state->turn == nullptr) return moved;
  return moved +
         TurnedPoint(*state->turn, state->couplings.points[slot]).MovedBy(state->turn->turning);
}

/// Adds what an impulse on a slot does to all slots' points.
inline void PushSlot(uint32_t slot, const Vec3& impulse, ContactState* state) {
  const PointCouplings& S = state->couplings;
  Moved(state).Add(S.Row(slot), S.num_slots, impulse);
  if (state->turn != nullptr) TurnedPoint(*state->turn, S.points[slot]).Push(impulse, state->turn);
}

/// The impulse per displacement that is safe [kg], by displacement per impulse; 0 if it is 0.
inline float YieldingOf(float response) { return response > 0.0f ? 1.0f / response : 0.0f; }

/// Calls visit(contact) for each of these contacts whose impulse the solve may change, and whose
/// turn is that of the body on this side.
template <class Visit>
void ForActing(std::span<const BodyContactSide> sides, const Visit& visit) {
  for (const BodyContactSide& at : sides) {
    if (at.side == at.contact->Lead() && at.contact->Acts()) visit(at.contact);
  }
}

/// The same for all contacts of a body with others.
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
