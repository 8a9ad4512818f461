// SPDX-License-Identifier: MIT
// Source: lowest_vertex.h. The sums are not fused: they have the bits of MeanOf.
#include "contact/lowest_vertex.h"

#include "base/simd_target.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/lowest_vertex.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

LowVertex FindLowest(const Vec4* weights, size_t count, const float* gaps) {
  const Lanes16 d;
  const hn::RebindToUnsigned<Lanes16> du;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  constexpr float kNone = std::numeric_limits<float>::infinity();
  LowVertex lowest = {0, kNone};
  size_t i = 0;
  if (count >= N) {
    const V g0 = hn::Set(d, gaps[0]), g1 = hn::Set(d, gaps[1]);
    const V g2 = hn::Set(d, gaps[2]), g3 = hn::Set(d, gaps[3]);
    V best = hn::Set(d, kNone);
    auto first = hn::Zero(du);  // of the vectors that hold the best
    // The last vector overlaps the one before: a vertex seen twice changes nothing.
    for (bool is_last = false; !is_last; i += N) {
      is_last = i + N >= count;
      if (is_last) i = count - N;
      V a, b, c, e;
      hn::LoadInterleaved4(d, &weights[i].x, a, b, c, e);
      const V gap =
          hn::Add(hn::Add(hn::Add(hn::Mul(a, g0), hn::Mul(b, g1)), hn::Mul(c, g2)), hn::Mul(e, g3));
      const auto less = hn::Lt(gap, best);
      best = hn::IfThenElse(less, gap, best);
      first =
          hn::IfThenElse(hn::RebindMask(du, less), hn::Set(du, static_cast<uint32_t>(i)), first);
    }
    const V least = hn::MinOfLanes(d, best);
    const auto at = hn::Add(first, hn::Iota(du, 0));
    const auto none = hn::Set(du, static_cast<uint32_t>(count));
    const auto index = hn::IfThenElse(hn::RebindMask(du, hn::Eq(best, least)), at, none);
    lowest = {hn::GetLane(hn::MinOfLanes(du, index)), hn::GetLane(least)};
    return lowest.gap < kNone ? lowest : LowVertex{0, kNone};
  }
  for (; i < count; ++i) {
    const float gap = MeanOf(gaps, weights[i]);
    if (gap < lowest.gap) lowest = {static_cast<uint32_t>(i), gap};
  }
  return lowest;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(FindLowest);

LowVertex LowestVertex(std::span<const Vec4> weights, const float* gaps) {
  return HWY_DYNAMIC_DISPATCH(FindLowest)(weights.data(), weights.size(), gaps);
}

}  // namespace plush
#endif
