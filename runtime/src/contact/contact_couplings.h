// SPDX-License-Identifier: MIT
// What sweeps and pushes over the contacts of a solve share.
#pragma once

#include "contact/body_contacts.h"
#include "contact/plane_contacts.h"

#include <cstdint>

namespace plush {

/// Where the current sweeps have moved the points of all slots, by axis [m].
struct Moved {
  float *x, *y, *z;

  explicit Moved(ContactState* state)
      : x(state->moved.data()), y(x + state->couplings.stride), z(y + state->couplings.stride) {}

  Vec3 At(uint32_t slot) const { return {x[slot], y[slot], z[slot]}; }
  void Add(const float* row, uint32_t count, const Vec3& impulse) {
    for (uint32_t k = 0; k < count; ++k) {
      x[k] += row[k] * impulse.x;
      y[k] += row[k] * impulse.y;
      z[k] += row[k] * impulse.z;
    }
  }
};

/// The impulse per displacement that is safe [kg], by displacement per impulse; 0 if it is 0.
inline float YieldingOf(float response) { return response > 0.0f ? 1.0f / response : 0.0f; }

/// Calls visit(contact) for each contact with another body whose impulse the solve may change.
template <class Visit>
void ForBetween(const ContactState& state, const Visit& visit) {
  for (const BodyContactSide& at : state.between) {
    if (at.side == at.contact->Lead() && at.contact->Acts()) visit(at.contact);
  }
}

/// Finds how the points of all contacts of a solve answer impulses. Sets their `yielding`.
void FindCouplings(ContactSolve* first, const JobSystem* jobs = nullptr);

}  // namespace plush
