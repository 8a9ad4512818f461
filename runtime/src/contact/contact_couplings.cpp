// SPDX-License-Identifier: MIT
// Source: contact_couplings.h. Each change of an impulse in a sweep moves all points of its body.
#include "contact/contact_couplings.h"

#include "base/simd_target.h"

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
void Move(const float* row, uint32_t count, const Vec3& impulse, const Moved& to) {
  const Lanes16 d;
  const auto x = hn::Set(d, impulse.x), y = hn::Set(d, impulse.y), z = hn::Set(d, impulse.z);
  for (uint32_t k = 0; k < count; k += kLanes<Lanes16>) {
    const auto by = hn::LoadU(d, row + k);
    hn::StoreU(hn::Add(hn::LoadU(d, to.x + k), hn::Mul(by, x)), d, to.x + k);
    hn::StoreU(hn::Add(hn::LoadU(d, to.y + k), hn::Mul(by, y)), d, to.y + k);
    hn::StoreU(hn::Add(hn::LoadU(d, to.z + k), hn::Mul(by, z)), d, to.z + k);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Move);

void Moved::Add(const float* row, uint32_t count, const Vec3& impulse) const {
  HWY_DYNAMIC_DISPATCH(Move)(row, count, impulse, *this);
}

}  // namespace plush
#endif
