// SPDX-License-Identifier: MIT
// Source: contact_couplings.h. Each change of an impulse in a sweep moves all points of its body.
#include "contact/contact_couplings.h"

#include "base/simd_target.h"
#include "contact/attached_points.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/contact_couplings.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// Rows have whole vectors. Not fused: all instruction sets give the same bits.
void Move(const SlotPush* push, size_t count) {
  const Lanes16 d;
  for (const SlotPush* const end = push + count; push != end; ++push) {
    const Vec3& impulse = push->impulse;
    const Moved to = push->moved;
    const auto x = hn::Set(d, impulse.x), y = hn::Set(d, impulse.y), z = hn::Set(d, impulse.z);
    for (size_t k = 0; k < push->count; k += kLanes<Lanes16>) {
      const auto by = hn::LoadU(d, push->row + k);
      hn::StoreU(hn::Add(hn::LoadU(d, to.x + k), hn::Mul(by, x)), d, to.x + k);
      hn::StoreU(hn::Add(hn::LoadU(d, to.y + k), hn::Mul(by, y)), d, to.y + k);
      hn::StoreU(hn::Add(hn::LoadU(d, to.z + k), hn::Mul(by, z)), d, to.z + k);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Move);

void Move(std::span<const SlotPush> pushes) {
  HWY_DYNAMIC_DISPATCH(Move)(pushes.data(), pushes.size());
}

Vec3 TurnedBy(const ContactState& state, uint32_t slot) {
  return TurnedPoint(*state.turn, state.couplings.points[slot]).MovedBy(state.turn->turning);
}

namespace {

// Adds what an impulse on a slot does to the body's turn and to its attached points.
void PushOthers(uint32_t slot, const Vec3& impulse, ContactState* state) {
  if (state->turn != nullptr) {
    TurnedPoint(*state->turn, state->couplings.points[slot]).Push(impulse, state->turn);
  }
  if (state->attached == nullptr) return;
  AttachedPoints& attached = *state->attached;
  for (uint32_t i = 0; i < attached.num_points; ++i) {
    attached.points[i].moved += impulse * attached.ToContacts(i)[slot];
  }
}

}  // namespace

void PushSlot(uint32_t slot, const Vec3& impulse, ContactState* state) {
  const SlotPush push(slot, impulse, state);
  Move({&push, 1});
  PushOthers(slot, impulse, state);
}

void PushSlots(const BodyContact& contact, const Vec3& impulse) {
  SlotPush pushes[2];
  size_t count = 0;
  for (uint32_t k = 0; k < 2; ++k) {
    const BodyContact::Side& side = contact.sides[k];
    if (!side.of->in_solve) continue;
    pushes[count] = SlotPush(side.slot, contact.Own(k, impulse), side.of);
    PushOthers(side.slot, pushes[count++].impulse, side.of);
  }
  Move(std::span(pushes).first(count));
}

}  // namespace plush
#endif
