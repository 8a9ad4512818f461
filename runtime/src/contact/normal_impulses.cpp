// SPDX-License-Identifier: MIT
// Source: normal_impulses.h.
#include "contact/normal_impulses.h"

#include "base/simd_target.h"
#include "contact/contact_couplings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/normal_impulses.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

// Once, not once per instruction set.
#ifndef PLUSH_CONTACT_NORMAL_IMPULSES_ONCE_
#define PLUSH_CONTACT_NORMAL_IMPULSES_ONCE_
namespace plush {
namespace {

constexpr uint32_t kMostContacts = 64, kMostLanes = 16;

// Rows from the diagonal on, then the side; room for whole vectors before and after.
using Rows = float[kMostContacts][kMostContacts + kMostLanes];

}  // namespace
}  // namespace plush
#endif

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// to[k] += by * from[k] for k in [first, end), and around it up to whole vectors. Not fused: all
// instruction sets give the same bits.
HWY_INLINE void AddMultiple(float by, const float* from, uint32_t first, uint32_t end, float* to) {
  const Lanes16 d;
  constexpr uint32_t N = kLanes<Lanes16>;
  const auto all = hn::Set(d, by);
  for (uint32_t k = first / N * N; k < end; k += N) {
    hn::StoreU(hn::Add(hn::LoadU(d, to + k), hn::Mul(all, hn::LoadU(d, from + k))), d, to + k);
  }
}

// A row of K (end x 1): the values at `slots`, times the cosines between `normal` and `normals`.
void MakeRow(const float* values, const int32_t* slots, const float* normal,
             const float (*normals)[kMostContacts], uint32_t end, float* to) {
  const Lanes16 d;
  const hn::RebindToSigned<Lanes16> di;
  for (uint32_t k = 0; k < end; k += kLanes<Lanes16>) {
    const auto along = [&](int axis) HWY_ATTR {
      return hn::Mul(hn::Set(d, normal[axis]), hn::LoadU(d, normals[axis] + k));
    };
    const auto cosine = hn::Add(hn::Add(along(0), along(1)), along(2));
    const auto value = hn::GatherIndex(d, values, hn::LoadU(di, slots + k));
    hn::StoreU(hn::Mul(value, cosine), d, to + k);
  }
}

// Adds the rows of K (kMostContacts columns) times `by`.
void AddRows(const float* K, const float* by, uint32_t count, float* to) {
  for (uint32_t i = 0; i < count; ++i, K += kMostContacts) {
    if (by[i] != 0.0f) AddMultiple(by[i], K, 0, count, to);
  }
}

// Eliminates without pivoting: the matrix is positive semidefinite. Rows whose diagonal falls to
// `least` (count x 1) are left out.
void Eliminate(uint32_t count, const float* least, Rows& rows) {
  for (uint32_t p = 0; p < count; ++p) {
    const float* pivot = rows[p];
    if (!(pivot[p] > least[p])) continue;
    const float inverse = 1.0f / pivot[p];
    for (uint32_t i = p + 1; i < count; ++i) {
      AddMultiple(-pivot[i] * inverse, pivot, i, count + 1, rows[i]);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(MakeRow);
HWY_EXPORT(AddRows);
HWY_EXPORT(Eliminate);

namespace {

// The next multiple of whole vectors.
uint32_t Padded(uint32_t count) { return (count + kMostLanes - 1) / kMostLanes * kMostLanes; }

using Numbers = float[kMostContacts];  // of the contacts

// gap = gap of the free motion + K pressing, along the normals.
struct NormalSystem {
  uint32_t size = 0;
  float K[kMostContacts][kMostContacts];  // [1/kg], symmetric; 0 from `size` up to Padded(size)
  Numbers free = {};                      // gaps of the free motion [m]
  Numbers gaps;                           // [m]
  Numbers pressing;                       // [kg m]
  bool may_press[kMostContacts];
  bool depends[kMostContacts];     // whether it moves as others do, which press instead
  bool leads[kMostContacts] = {};  // whether those that depend on it give way

  void TakePressing();
  void FindGaps();
  void CloseGaps();

 private:
  void Solve(uint32_t count, float* x);

  uint32_t order_[kMostContacts];
  Rows rows_;
};

// Takes what `pressing` does out of `free`.
void NormalSystem::TakePressing() {
  Numbers taken;
  for (uint32_t i = 0; i < size; ++i) taken[i] = -pressing[i];
  HWY_DYNAMIC_DISPATCH(AddRows)(K[0], taken, size, free);
}

void NormalSystem::FindGaps() {
  std::copy_n(free, Padded(size), gaps);
  HWY_DYNAMIC_DISPATCH(AddRows)(K[0], pressing, size, gaps);
}

// Solves the rows. What depends on others gets 0.
void NormalSystem::Solve(uint32_t count, float* x) {
  constexpr float kLeastPivot = 1.0e-5f;  // of the diagonal at the start
  for (uint32_t i = 0; i < count; ++i) x[i] = kLeastPivot * rows_[i][i];
  HWY_DYNAMIC_DISPATCH(Eliminate)(count, x, rows_);
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
    std::fill(rows_[i], rows_[i] + Padded(count + 1), 0.0f);
    for (uint32_t k = i; k < count; ++k) rows_[i][k] = K[order_[i]][order_[k]];
    rows_[i][count] = -gaps[order_[i]];
  }
  Numbers x;
  Solve(count, x);
  for (uint32_t i = 0; i < count; ++i) {
    depends[order_[i]] = x[i] == 0.0f;
    pressing[order_[i]] += x[i];
  }
  FindGaps();
}

// The contacts of a body whose normals are alike or opposite.
struct Group {
  uint32_t contacts[kMostContacts];
  uint32_t size = 0;
};

// Whether the system has been solved.
bool SolvePressing(float accuracy, const PlaneContact* all, const Group& group,
                   NormalSystem* system) {
  constexpr int kMostRounds = 32, kTries = 3;
  constexpr float kRounding = std::numeric_limits<float>::epsilon(), kSmall = 1.0e-3f;
  float most_rounding = accuracy;  // of gaps, at least a small share of the largest free one
  for (uint32_t i = 0; i < system->size; ++i) {
    most_rounding = std::fmax(kSmall * std::fabs(system->free[i]), most_rounding);
  }
  int tries = kTries;
  uint32_t least = UINT32_MAX;
  for (int round = 0; round < kMostRounds; ++round) {
    system->CloseGaps();
    uint32_t wrong = 0, last = 0;
    bool is_exact = true;  // not if rounding of the motions by large impulses leaves gaps
    bool presses[kMostContacts];
    for (uint32_t i = 0; i < system->size; ++i) {
      const bool may_yield = all[group.contacts[i]].yielding > 0.0f;
      const bool is_open = system->depends[i] && system->gaps[i] > accuracy;
      const bool is_sunk = system->gaps[i] < -accuracy;
      const float far = system->K[i][i] * system->pressing[i], gap = std::fabs(system->gaps[i]);
      const bool is_free = system->depends[i] || !system->may_press[i];
      is_exact = is_exact && kRounding * far <= most_rounding && (is_free || gap <= most_rounding);
      presses[i] =
          system->may_press[i] ? system->pressing[i] >= 0.0f && !is_open : may_yield && is_sunk;
      const bool shall_lead = system->depends[i] && is_sunk && !system->leads[i];
      if (presses[i] == system->may_press[i] && !shall_lead) continue;
      if (shall_lead) system->leads[i] = true;
      last = i;
      ++wrong;
    }
    if (wrong == 0) return is_exact;
    // All that are wrong change sides, unless that has not helped for some rounds: then one does.
    tries = wrong < least ? kTries : tries - 1;
    least = std::min(least, wrong);
    if (tries >= 0) {
      std::copy_n(presses, system->size, system->may_press);
    } else {
      system->may_press[last] = presses[last];
    }
  }
  return false;
}

void SolveGroup(float accuracy, bool is_slow, const Group& group, ContactState* state) {
  constexpr float kInertia = 0.03f;  // of a slow body: what a proximal step adds to the diagonal
  PlaneContact* const all = state->contacts.data();
  const PointCouplings& S = state->couplings;
  FreeTurn* turn = state->turn;
  NormalSystem system;
  system.size = group.size;
  int32_t slots[kMostContacts] = {};
  float normals[3][kMostContacts] = {};
  struct {
    Vec3 whole, kept;  // by a unit impulse along the normal [m]
  } moments[kMostContacts];
  for (uint32_t i = 0; i < group.size; ++i) {
    const PlaneContact& contact = all[group.contacts[i]];
    const Vec3& normal = contact.plane.normal;
    slots[i] = static_cast<int32_t>(contact.slot);
    normals[0][i] = normal.x, normals[1][i] = normal.y, normals[2][i] = normal.z;
    const float gap = Dot(normal, contact.offset + MotionAt(state, contact.slot));
    if (turn != nullptr) {
      const TurnedPoint point(*turn, state->PointOf(contact));
      moments[i] = {Cross(point.arm, normal), Cross(point.z, normal)};
    }
    system.free[i] = gap;
    system.pressing[i] = NormalImpulse(contact);
    system.may_press[i] = contact.yielding > 0.0f && (system.pressing[i] > 0.0f || gap < 0.0f);
  }
  for (uint32_t i = 0; i < group.size; ++i) {
    const PlaneContact& contact = all[group.contacts[i]];
    HWY_DYNAMIC_DISPATCH(MakeRow)
    (S.Row(contact.slot), slots, &contact.plane.normal.x, normals, system.size, system.K[i]);
    if (turn != nullptr) {
      const Turning by = turn->Answer(moments[i].whole, moments[i].kept);
      for (uint32_t k = 0; k < group.size; ++k) {
        system.K[i][k] += Dot(moments[k].whole, by.turn) - Dot(moments[k].kept, by.kept);
      }
    }
    if (is_slow) system.K[i][i] *= 1.0f + kInertia;
  }
  system.TakePressing();
  if (!SolvePressing(accuracy, all, group, &system)) return;
  for (uint32_t i = 0; i < group.size; ++i) {
    PlaneContact& contact = all[group.contacts[i]];
    const Vec3& normal = contact.plane.normal;
    const Vec3 change = normal * (system.pressing[i] - NormalImpulse(contact));
    contact.impulse += change;
    PushSlot(contact.slot, change, state);
  }
}

}  // namespace

void SolveNormals(float accuracy, bool is_slow, ContactState* state) {
  constexpr float kLeastCosine = 0.9f, kHardlyYields = 0.5f;
  const std::span<const PlaneContact> all = state->Current();
  const PointCouplings& S = state->couplings;
  // Whether an impulse on one point moves the other one by more than half as much.
  const auto move_as_one = [&](uint32_t a, uint32_t b) {
    return S.Row(a)[b] > kHardlyYields * std::sqrt(S.Row(a)[a] * S.Row(b)[b]);
  };
  if (all.size() < 2 || all.size() > kMostContacts) return;
  bool is_in_group[kMostContacts] = {};
  for (uint32_t first = 0; first + 1 < all.size(); ++first) {
    if (is_in_group[first]) continue;
    Group group;
    uint32_t sides[2][kMostContacts], num_of_side[2] = {};  // slots
    for (uint32_t i = first; i < all.size(); ++i) {
      const float cosine = Dot(all[first].plane.normal, all[i].plane.normal);
      if (is_in_group[i] || !(std::fabs(cosine) >= kLeastCosine)) continue;
      is_in_group[i] = true;
      const size_t side = cosine < 0.0f ? 1 : 0;
      sides[side][num_of_side[side]++] = all[i].slot;
      group.contacts[group.size++] = i;
    }
    bool is_jammed = false;
    for (uint32_t a = 0; a < num_of_side[0] && !is_jammed; ++a) {
      const auto is_one = [&](uint32_t b) { return move_as_one(sides[0][a], b); };
      is_jammed = std::any_of(sides[1], sides[1] + num_of_side[1], is_one);
    }
    const bool is_whole = group.size == all.size() && num_of_side[1] == 0;
    if (is_whole || is_jammed) SolveGroup(accuracy, is_slow, group, state);
  }
}

}  // namespace plush
#endif
