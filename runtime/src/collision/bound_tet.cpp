// SPDX-License-Identifier: MIT
// BoundBox (barycentric_bounds.h) for all directions at once. Products are not fused.
#include "collision/bound_tet.h"

#include "base/simd_target.h"
#include "collision/barycentric_bounds.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collision/bound_tet.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

void Bound(const CdgTet& tet, const float* projections, Dop14* volume) {
  const Lanes8 d;
  using V = hn::Vec<Lanes8>;
  const float low[4] = {tet.low.x, tet.low.y, tet.low.z, tet.low.w};
  const float high[4] = {tet.high.x, tet.high.y, tet.high.z, tet.high.w};
  float norm = 0.0f;
  for (const uint32_t node : tet.nodes) norm = std::max(norm, projections[8 * size_t{node} + 7]);
  const V widening = hn::Set(d, kBoundsWidening * norm + std::numeric_limits<float>::min());
  for (size_t lane = 0; lane < 8; lane += kLanes<Lanes8>) {
    V p[4];
    for (int i = 0; i < 4; ++i) {
      p[i] = hn::LoadU(d, projections + 8 * size_t{tet.nodes[i]} + lane);
    }
    V all_low = p[0], all_high = p[0];
    for (int k = 0; k < 4; ++k) {
      V least = p[k], greatest = p[k];
      for (int i = 0; i < 4; ++i) {
        if (i == k) continue;
        const V difference = hn::Sub(p[i], p[k]);
        const V at_low = hn::Mul(difference, hn::Set(d, low[i]));
        const V at_high = hn::Mul(difference, hn::Set(d, high[i]));
        least = hn::Add(least, hn::Min(at_low, at_high));
        greatest = hn::Add(greatest, hn::Max(at_low, at_high));
      }
      all_low = k == 0 ? least : hn::Max(all_low, least);
      all_high = k == 0 ? greatest : hn::Min(all_high, greatest);
    }
    hn::StoreU(hn::Sub(all_low, widening), d, volume->low + lane);
    hn::StoreU(hn::Add(all_high, widening), d, volume->high + lane);
  }
  volume->low[7] = volume->low[0];
  volume->high[7] = volume->high[0];
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Bound);

void BoundTet(const CdgTet& tet, const float* projections, Dop14* volume) {
  HWY_DYNAMIC_DISPATCH(Bound)(tet, projections, volume);
}

}  // namespace plush
#endif
