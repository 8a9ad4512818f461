// SPDX-License-Identifier: MIT
// Source: normal_impulses.h.
#include "contact/normal_impulses.h"

#include "base/float4.h"
#include "contact/contact_couplings.h"

#include <algorithm>
#include <cstdint>

namespace plush {
namespace {

constexpr uint32_t kMostContacts = 64;

// The next multiple of 4.
uint32_t Padded(uint32_t count) { return (count + 3) & ~3u; }

// to[k] += by * from[k] for k in [first, Padded(end)): `first` is a multiple of 4.
void AddMultiple(float by, const float* from, uint32_t first, uint32_t end, float* to) {
  const Float4 all = Broadcast(by);
  for (uint32_t k = first; k < end; k += 4) Store4(Load4(to + k) + all * Load4(from + k), to + k);
}

using Numbers = float[kMostContacts];  // of the contacts

// gap = gap of the free motion + K pressing, along the normals.
struct NormalSystem {
  uint32_t size = 0;
  float K[kMostContacts][kMostContacts];  // [1/kg], symmetric; columns up to Padded(size)
  Numbers free = {};                      // gaps of the free motion [m]
  Numbers gaps;                           // [m]
  Numbers pressing;                       // [kg m]
  bool may_press[kMostContacts];
  bool depends[kMostContacts];     // whether it moves as others do, which press instead
  bool leads[kMostContacts] = {};  // whether those that depend on it give way

  void FindGaps();
  void CloseGaps();

 private:
  void Eliminate(uint32_t count, float* x);

  uint32_t order_[kMostContacts];
  float rows_[kMostContacts][kMostContacts + 4];  // from the diagonal on, then the side
};

void NormalSystem::FindGaps() {
  std::copy_n(free, Padded(size), gaps);
  for (uint32_t i = 0; i < size; ++i) {
    if (pressing[i] != 0.0f) AddMultiple(pressing[i], K[i], 0, size, gaps);
  }
}

// Solves the rows without pivoting: K is positive semidefinite. What depends on others gets 0.
void NormalSystem::Eliminate(uint32_t count, float* x) {
  constexpr float kLeastPivot = 1.0e-5f;  // of the diagonal at the start
  for (uint32_t i = 0; i < count; ++i) x[i] = kLeastPivot * rows_[i][i];
  for (uint32_t p = 0; p < count; ++p) {
    const float* pivot = rows_[p];
    if (!(pivot[p] > x[p])) continue;
    const float inverse = 1.0f / pivot[p];
    for (uint32_t i = p + 1; i < count; ++i) {
      AddMultiple(-pivot[i] * inverse, pivot, i & ~3u, count + 1, rows_[i]);
    }
  }
  for (uint32_t p = count; p-- > 0;) {
    const float* row = rows_[p];
    float sum = row[count];
    for (uint32_t k = p + 1; k < count; ++k) sum -= row[k] * x[k];
    x[p] = row[p] > x[p] ? sum / row[p] : 0.0f;
  }
}

// Closes the gaps of those that may press, by their impulses alone.
void NormalSystem::CloseGaps() {
  uint32_t count = 0;
  for (const bool leading : {true, false}) {
    for (uint32_t i = 0; i < size; ++i) {
      if (may_press[i] && leads[i] == leading) order_[count++] = i;
    }
  }
  for (uint32_t i = 0; i < size; ++i) {
    depends[i] = false;
    if (!may_press[i]) pressing[i] = 0.0f;
  }
  FindGaps();
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t k = i & ~3u; k < count; ++k) rows_[i][k] = K[order_[i]][order_[k]];
    rows_[i][count] = -gaps[order_[i]];
    std::fill(rows_[i] + count + 1, rows_[i] + Padded(count + 1), 0.0f);
  }
  Numbers x;
  Eliminate(count, x);
  for (uint32_t i = 0; i < count; ++i) {
    depends[order_[i]] = x[i] == 0.0f;
    pressing[order_[i]] += x[i];
  }
  FindGaps();
}

}  // namespace

void SolveNormals(float accuracy, ContactState* state) {
  constexpr int kMostRounds = 32, kTries = 3;
  constexpr float kLeastCosine = 0.9f;
  const std::span<PlaneContact> all = state->Current();
  if (all.size() < 2 || all.size() > kMostContacts) return;
  const auto is_alike = [&](const PlaneContact& contact) {
    return Dot(contact.plane.normal, all[0].plane.normal) >= kLeastCosine;
  };
  if (!std::ranges::all_of(all, is_alike)) return;
  const PointCouplings& S = state->couplings;
  Moved moved(state);
  NormalSystem system;
  system.size = static_cast<uint32_t>(all.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    const PlaneContact& contact = all[i];
    const Vec3& normal = contact.plane.normal;
    const float* row = S.Row(contact.slot);
    std::fill(system.K[i] + system.size, system.K[i] + Padded(system.size), 0.0f);
    for (uint32_t k = 0; k <= i; ++k) {
      system.K[i][k] = system.K[k][i] = row[all[k].slot] * Dot(normal, all[k].plane.normal);
    }
    const float gap = Dot(normal, contact.offset + moved.At(contact.slot));
    system.free[i] = gap;
    system.pressing[i] = NormalImpulse(contact);
    system.may_press[i] = contact.yielding > 0.0f && (system.pressing[i] > 0.0f || gap < 0.0f);
  }
  for (uint32_t i = 0; i < all.size(); ++i) {
    AddMultiple(-system.pressing[i], system.K[i], 0, system.size, system.free);
  }
  int tries = kTries;
  uint32_t least = UINT32_MAX;
  for (int round = 0; round < kMostRounds; ++round) {
    system.CloseGaps();
    uint32_t wrong = 0, last = 0;
    bool presses[kMostContacts];
    for (uint32_t i = 0; i < all.size(); ++i) {
      const bool is_open = system.depends[i] && system.gaps[i] > accuracy;
      const bool is_sunk = system.gaps[i] < -accuracy;
      presses[i] = system.may_press[i] ? system.pressing[i] >= 0.0f && !is_open
                                       : all[i].yielding > 0.0f && is_sunk;
      const bool shall_lead = system.depends[i] && is_sunk && !system.leads[i];
      if (presses[i] == system.may_press[i] && !shall_lead) continue;
      if (shall_lead) system.leads[i] = true;
      last = i;
      ++wrong;
    }
    if (wrong == 0) {
      for (uint32_t i = 0; i < all.size(); ++i) {
        const Vec3& normal = all[i].plane.normal;
        const Vec3 change = normal * (system.pressing[i] - NormalImpulse(all[i]));
        all[i].impulse += change;
        moved.Add(S.Row(all[i].slot), S.num_slots, change);
      }
      return;
    }
    // All that are wrong change sides, unless that has not helped for some rounds: then one does.
    tries = wrong < least ? kTries : tries - 1;
    least = std::min(least, wrong);
    if (tries >= 0) {
      std::copy_n(presses, all.size(), system.may_press);
    } else {
      system.may_press[last] = presses[last];
    }
  }
}

}  // namespace plush
