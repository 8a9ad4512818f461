// SPDX-License-Identifier: MIT
// The clusters of a crowd, one body per lane: sums, motions and moves. Source: coarse_level.h.
#include "base/simd_target.h"
#include "solver/coarse_level.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/crowd_coarse.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/crowd_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Lanes16>;
inline constexpr size_t kStep = kLanes<Lanes16>;

HWY_INLINE Xyz<V> Masked(const hn::Mask<Lanes16>& mask, const Xyz<V>& v) {
  return {hn::IfThenElseZero(mask, v.x), hn::IfThenElseZero(mask, v.y),
          hn::IfThenElseZero(mask, v.z)};
}

// Products by axis.
HWY_INLINE Xyz<V> Each(const Xyz<V>& a, const Xyz<V>& b) {
  return {hn::Mul(a.x, b.x), hn::Mul(a.y, b.y), hn::Mul(a.z, b.z)};
}
HWY_INLINE Xyz<V> Turned(const Xyz<V>& v) { return {v.y, v.z, v.x}; }

void Sum(const CoarseLevel& level, const float* positions, const float* rhs, float* sums) {
  const Lanes16 d;
  const V zero = hn::Zero(d);
  for (size_t k = 0; k < level.num_clusters(); ++k, sums += kCrowdSums) {
    const uint32_t begin = level.first_member[k], end = level.first_member[k + 1];
    for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
      Xyz<V> impulse = {zero, zero, zero}, centre = impulse, from = impulse;
      Xyz<V> squares = impulse, products = impulse;
      Mat<V> arms = {impulse, impulse, impulse};
      V share = zero;
      if (begin < end)
        from = LoadCrowd(d, positions + kCrowdPosition * level.members[begin] + lane);
      for (uint32_t i = begin; i < end; ++i) {
        const float* at = positions + kCrowdPosition * level.members[i] + lane;
        const auto is_free = hn::Gt(hn::LoadU(d, at + 3 * kCrowdLanes), zero);
        const Xyz<V> r = LoadCrowd(d, at) - from;
        const Xyz<V> b =
            Masked(is_free, LoadCrowd(d, rhs + kCrowdVector * level.members[i] + lane));
        const V part = hn::IfThenElseZero(is_free, hn::Set(d, level.shares[i]));
        impulse = impulse + b;
        arms = {Fma(r, b.x, arms.c0), Fma(r, b.y, arms.c1), Fma(r, b.z, arms.c2)};
        const Xyz<V> weighted = r * part;
        centre = centre + weighted;
        squares = squares + Each(r, weighted);
        products = products + Each(Turned(r), weighted);
        share = hn::Add(share, part);
      }
      const V whole = hn::IfThenElseZero(hn::Gt(share, zero), hn::Div(hn::Set(d, 1.0f), share));
      centre = centre * whole;
      squares = squares * whole - Each(centre, centre);
      products = products * whole - Each(Turned(centre), centre);
      arms = {arms.c0 - centre * impulse.x, arms.c1 - centre * impulse.y,
              arms.c2 - centre * impulse.z};
      const Xyz<V> least = {hn::Max(squares.x, zero), hn::Max(squares.y, zero),
                            hn::Max(squares.z, zero)};
      const Xyz<V> moment = {hn::Sub(arms.c2.y, arms.c1.z), hn::Sub(arms.c0.z, arms.c2.x),
                             hn::Sub(arms.c1.x, arms.c0.y)};
      const Xyz<V> all[9] = {impulse, moment,  from + centre, least,  products,
                             impulse, arms.c0, arms.c1,       arms.c2};
      for (size_t n = 0; n < 9; ++n) StoreCrowd(d, all[n], sums + 3 * kCrowdLanes * n + lane);
    }
  }
}

void AddForces(const CoarseLevel& level, const float* positions, const float* rhs, bool more_pins,
               float* sums) {
  const Lanes16 d;
  const V zero = hn::Zero(d);
  for (size_t k = 0; k < level.num_clusters(); ++k, sums += kCrowdSums) {
    const uint32_t end = more_pins ? level.first_member[k + 1] : level.first_inner[k];
    for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
      const auto vector = [&](size_t n)
                              HWY_ATTR { return LoadCrowd(d, sums + 3 * kCrowdLanes * n + lane); };
      Xyz<V> impulse = vector(0), moment = vector(1);
      const Xyz<V> centre = vector(2);
      for (uint32_t i = level.first_member[k]; i < end; ++i) {
        const float* at = positions + kCrowdPosition * level.members[i] + lane;
        const auto is_free = hn::Gt(hn::LoadU(d, at + 3 * kCrowdLanes), zero);
        const Xyz<V> b =
            Masked(is_free, LoadCrowd(d, rhs + kCrowdVector * level.members[i] + lane));
        impulse = impulse + b;
        moment = moment + Cross(LoadCrowd(d, at) - centre, b);
      }
      StoreCrowd(d, impulse, sums + lane);
      StoreCrowd(d, moment, sums + 3 * kCrowdLanes + lane);
    }
  }
}

void Move(const CoarseLevel& level, const float* motions, float* positions) {
  const Lanes16 d;
  for (size_t k = 0; k < level.num_clusters(); ++k, motions += kCrowdMotion) {
    for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
      const auto vector = [&](size_t n) HWY_ATTR {
        return LoadCrowd(d, motions + 3 * kCrowdLanes * n + lane);
      };
      const Xyz<V> centre = vector(0), shift = vector(1);
      const Mat<V> change = {vector(2), vector(3), vector(4)};
      for (uint32_t i = level.first_member[k]; i < level.first_member[k + 1]; ++i) {
        float* at = positions + kCrowdPosition * level.members[i] + lane;
        const auto is_free = hn::Gt(hn::LoadU(d, at + 3 * kCrowdLanes), hn::Zero(d));
        const Xyz<V> x = LoadCrowd(d, at), r = x - centre;
        const Xyz<V> moved = shift + change.c0 * r.x + change.c1 * r.y + change.c2 * r.z;
        StoreCrowd(d, x + Masked(is_free, moved), at);
      }
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Sum);
HWY_EXPORT(AddForces);
HWY_EXPORT(Move);

void SumCrowdClusters(const CoarseLevel& level, const float* positions, const float* rhs,
                      float* sums) {
  HWY_DYNAMIC_DISPATCH(Sum)(level, positions, rhs, sums);
}

void AddCrowdForces(const CoarseLevel& level, const float* positions, const float* rhs,
                    bool more_pins, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddForces)(level, positions, rhs, more_pins, sums);
}

void MoveCrowdClusters(const CoarseLevel& level, const float* motions, float* positions) {
  HWY_DYNAMIC_DISPATCH(Move)(level, motions, positions);
}

}  // namespace plush
#endif
