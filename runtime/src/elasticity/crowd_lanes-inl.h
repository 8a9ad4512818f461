// SPDX-License-Identifier: MIT
// Reads and writes the nodes of a crowd. Included once per instruction set.

#if defined(PLUSH_ELASTICITY_CROWD_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLUSH_ELASTICITY_CROWD_LANES_INL_H_
#undef PLUSH_ELASTICITY_CROWD_LANES_INL_H_
#else
#define PLUSH_ELASTICITY_CROWD_LANES_INL_H_
#endif

#include "base/lanes-inl.h"
#include "elasticity/element_pass.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {

template <class D, class V = hn::Vec<D>>
HWY_INLINE Xyz<V> LoadCrowd(D d, const float* at) {
  return {hn::LoadU(d, at), hn::LoadU(d, at + kCrowdLanes), hn::LoadU(d, at + 2 * kCrowdLanes)};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreCrowd(D d, const Xyz<V>& v, float* at) {
  hn::StoreU(v.x, d, at);
  hn::StoreU(v.y, d, at + kCrowdLanes);
  hn::StoreU(v.z, d, at + 2 * kCrowdLanes);
}

// Number of places of a block up to and including its last tet.
HWY_INLINE size_t CountTets(const TetBlock& block) {
  size_t count = kBlockTets;
  while (count > 0 && !(block.det_dm_inv[count - 1] > 0.0f)) --count;
  return count;
}

}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#endif
