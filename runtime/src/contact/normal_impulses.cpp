// SPDX-License-Identifier: MIT
// Source: normal_impulses.h.
#include "contact/normal_impulses.h"

#include "contact/contact_couplings.h"

#include <algorithm>
#include <cstdint>

namespace plush {
namespace {

constexpr uint32_t kMostContacts = 48;

// K x = right-hand side, of the contacts that may press.
struct NormalSystem {
  uint32_t size = 0;
  uint32_t contacts[kMostContacts];              // their numbers
  float rows[kMostContacts][kMostContacts + 1];  // of K from the diagonal on, then the side
  float x[kMostContacts];

  // By elimination without pivoting: K is positive semidefinite. What depends on others gets 0.
  void Solve();
};

void NormalSystem::Solve() {
  constexpr float kLeastPivot = 1.0e-5f;  // of the diagonal at the start
  for (uint32_t i = 0; i < size; ++i) x[i] = kLeastPivot * rows[i][i];
  for (uint32_t p = 0; p < size; ++p) {
    const float* pivot = rows[p];
    if (!(pivot[p] > x[p])) continue;
    const float inverse = 1.0f / pivot[p];
    for (uint32_t i = p + 1; i < size; ++i) {
      const float factor = pivot[i] * inverse;
      if (factor == 0.0f) continue;
      float* row = rows[i];
      for (uint32_t k = i; k <= size; ++k) row[k] -= factor * pivot[k];
    }
  }
  for (uint32_t p = size; p-- > 0;) {
    const float* row = rows[p];
    float sum = row[size];
    for (uint32_t k = p + 1; k < size; ++k) sum -= row[k] * x[k];
    x[p] = row[p] > x[p] ? sum / row[p] : 0.0f;
  }
}

// Changes a normal impulse.
void Press(float change, PlaneContact* contact, ContactState* state) {
  const PointCouplings& S = state->couplings;
  const Vec3 impulse = contact->plane.normal * change;
  contact->impulse += impulse;
  Moved(state).Add(S.Row(contact->slot), S.num_slots, impulse);
}

float GapOf(const PlaneContact& contact, ContactState* state) {
  return Dot(contact.plane.normal, contact.offset + Moved(state).At(contact.slot));
}

}  // namespace

void SolveNormals(float accuracy, ContactState* state) {
  constexpr int kMostRounds = 8;
  constexpr float kLeastCosine = 0.9f;
  const std::span<PlaneContact> all = state->Current();
  if (all.size() < 2 || all.size() > kMostContacts) return;
  const auto is_alike = [&](const PlaneContact& contact) {
    return Dot(contact.plane.normal, all[0].plane.normal) >= kLeastCosine;
  };
  if (!std::ranges::all_of(all, is_alike)) return;
  const PointCouplings& S = state->couplings;
  NormalSystem system;
  float before[kMostContacts], pressing[kMostContacts];
  bool may_press[kMostContacts];
  for (size_t i = 0; i < all.size(); ++i) {
    before[i] = pressing[i] = NormalImpulse(all[i]);
    may_press[i] = all[i].yielding > 0.0f && (before[i] > 0.0f || GapOf(all[i], state) < 0.0f);
  }
  for (int round = 0; round < kMostRounds; ++round) {
    system.size = 0;
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (may_press[i]) {
        system.contacts[system.size++] = i;
      } else if (pressing[i] != 0.0f) {
        Press(-pressing[i], &all[i], state);
        pressing[i] = 0.0f;
      }
    }
    for (uint32_t i = 0; i < system.size; ++i) {
      const PlaneContact& contact = all[system.contacts[i]];
      const float* row = S.Row(contact.slot);
      for (uint32_t j = i; j < system.size; ++j) {
        const PlaneContact& other = all[system.contacts[j]];
        system.rows[i][j] = row[other.slot] * Dot(contact.plane.normal, other.plane.normal);
      }
      system.rows[i][system.size] = -GapOf(contact, state);
    }
    system.Solve();
    for (uint32_t i = 0; i < system.size; ++i) {
      const uint32_t at = system.contacts[i];
      pressing[at] += system.x[i];
      Press(system.x[i], &all[at], state);
    }
    bool has_settled = true;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool presses = may_press[i]
                               ? pressing[i] >= 0.0f
                               : all[i].yielding > 0.0f && GapOf(all[i], state) < -accuracy;
      has_settled = has_settled && presses == may_press[i];
      may_press[i] = presses;
    }
    if (has_settled) return;
  }
  for (size_t i = 0; i < all.size(); ++i) Press(before[i] - pressing[i], &all[i], state);
}

}  // namespace plush
