// SPDX-License-Identifier: MIT
// The clusters of a crowd, one body per lane: sums, motions and moves. Source: coarse_level.h.
// C^-1 is the same for all lanes, so each of its numbers is read once for 16 bodies.
#include "base/simd_target.h"
#include "solver/coarse_level.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/crowd_coarse.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/crowd_lanes-inl.h"
#include "elasticity/tet_lanes-inl.h"

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

void Sum(const CoarseLevel& level, const float* positions, const float* rhs, float* sums) {
  const Lanes16 d;
  const V zero = hn::Zero(d);
  for (size_t k = 0; k < level.num_clusters(); ++k, sums += kCrowdSums) {
    const uint32_t begin = level.first_member[k], end = level.first_member[k + 1];
    for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
      Xyz<V> impulse = {zero, zero, zero}, moment = impulse, centre = impulse, from = impulse;
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
        moment = moment + Cross(r, b);
        centre = centre + r * part;
        share = hn::Add(share, part);
      }
      centre = centre * hn::IfThenElseZero(hn::Gt(share, zero), hn::Div(hn::Set(d, 1.0f), share));
      StoreCrowd(d, impulse, sums + lane);
      StoreCrowd(d, moment - Cross(centre, impulse), sums + 3 * kCrowdLanes + lane);
      StoreCrowd(d, from + centre, sums + 6 * kCrowdLanes + lane);
    }
  }
}

// The clusters' turning frame, see CoarseLevel::Frame.
HWY_INLINE Mat<V> Frame(const uint32_t* slots, const float* rotations, size_t lane) {
  const Lanes16 d;
  const auto rotation = [&](size_t i) HWY_ATTR {
    return LoadRotation(d, rotations + kCrowdRotation * slots[i] + lane);
  };
  const Rotation<V> first = rotation(0);
  Rotation<V> sum = first;
  for (size_t i = 1; i < CoarseLevel::kFrameTets; ++i) {
    const Rotation<V> q = rotation(i);
    const V dot = Fma(q.x, first.x, Fma(q.y, first.y, Fma(q.z, first.z, hn::Mul(q.w, first.w))));
    const auto opposite = hn::Lt(dot, hn::Zero(d));
    const auto added = [&](V a, V b)
                           HWY_ATTR { return hn::Add(a, hn::IfThenElse(opposite, hn::Neg(b), b)); };
    sum = {added(sum.x, q.x), added(sum.y, q.y), added(sum.z, q.z), added(sum.w, q.w)};
  }
  const V length2 = Fma(sum.x, sum.x, Fma(sum.y, sum.y, Fma(sum.z, sum.z, hn::Mul(sum.w, sum.w))));
  const V scale = hn::Div(hn::Set(d, 1.0f), hn::Sqrt(length2));
  return RotationMatrix(d, Rotation<V>{hn::Mul(sum.x, scale), hn::Mul(sum.y, scale),
                                       hn::Mul(sum.z, scale), hn::Mul(sum.w, scale)});
}

// The turn by about `angle` minus the identity, by the Cayley map, see CoarseLevel::Solve.
HWY_INLINE Mat<V> TurnBy(const Xyz<V>& angle) {
  const Lanes16 d;
  const Xyz<V> a = angle * hn::Set(d, 0.5f);
  const V square = Dot(a, a);
  const V scale = hn::Div(hn::Set(d, 2.0f), hn::Add(hn::Set(d, 1.0f), square));
  const Mat<V> turn = {{FmaMinus(a.x, a.x, square), Fma(a.y, a.x, a.z), FmaMinus(a.z, a.x, a.y)},
                       {FmaMinus(a.x, a.y, a.z), FmaMinus(a.y, a.y, square), Fma(a.z, a.y, a.x)},
                       {Fma(a.x, a.z, a.y), FmaMinus(a.y, a.z, a.x), FmaMinus(a.z, a.z, square)}};
  return {turn.c0 * scale, turn.c1 * scale, turn.c2 * scale};
}

// Rows [0, kRows) of `matrix` times the impulses and moments in `sums`; its columns are 6 `count`
// apart.
template <size_t kRows>
HWY_INLINE void MultiplyRows(size_t count, const float* matrix, const float* sums, V* rows) {
  const Lanes16 d;
  for (size_t r = 0; r < kRows; ++r) rows[r] = hn::Zero(d);
  for (size_t k = 0; k < count; ++k, sums += kCrowdSums) {
    for (size_t p = 0; p < 6; ++p, matrix += 6 * count) {
      const V factor = hn::LoadU(d, sums + kCrowdLanes * p);
      for (size_t r = 0; r < kRows; ++r) {
        rows[r] = Fma(hn::Set(d, matrix[r]), factor, rows[r]);
      }
    }
  }
}

// Writes the motion with shift and turn `q` in `frame` for the lanes in `solves`. Returns the
// shift.
HWY_INLINE Xyz<V> StoreMotion(const hn::Mask<Lanes16>& solves, const Mat<V>& frame, const V* q,
                              const float* sums, float* motion) {
  const Lanes16 d;
  const Xyz<V> shift = Times(frame, Xyz<V>{q[0], q[1], q[2]});
  const Mat<V> change = TurnBy(Times(frame, Xyz<V>{q[3], q[4], q[5]}));
  const auto store = [&](const Xyz<V>& v, size_t n) HWY_ATTR {
    float* at = motion + 3 * kCrowdLanes * n;
    const Xyz<V> old = LoadCrowd(d, at);
    StoreCrowd(d,
               Xyz<V>{hn::IfThenElse(solves, v.x, old.x), hn::IfThenElse(solves, v.y, old.y),
                      hn::IfThenElse(solves, v.z, old.z)},
               at);
  };
  store(LoadCrowd(d, sums + 6 * kCrowdLanes), 0);
  store(shift, 1);
  store(change.c0, 2);
  store(change.c1, 3);
  store(change.c2, 4);
  return shift;
}

void Solve(const CoarseLevel& level, const float* inverse, const float* rotations,
           const float* solves, const float* keeps, float* sums, float* motions) {
  const Lanes16 d;
  const size_t count = level.num_clusters();
  const auto slots = [&](size_t k) { return &level.frames[CoarseLevel::kFrameTets * k]; };
  for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
    for (size_t k = 0; k < count; ++k) {
      const Mat<V> frame = Frame(slots(k), rotations, lane);
      float* at = sums + kCrowdSums * k + lane;
      for (size_t n = 0; n < 2; ++n, at += 3 * kCrowdLanes) {
        const Xyz<V> v = LoadCrowd(d, at);
        StoreCrowd(d, Xyz<V>{Dot(frame.c0, v), Dot(frame.c1, v), Dot(frame.c2, v)}, at);
      }
    }
    const auto solving = hn::Gt(hn::LoadU(d, solves + lane), hn::Zero(d));
    Xyz<V> drift = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    V mass = hn::Zero(d);
    // Two clusters at once: twelve sums hide the latency of one.
    for (size_t k = 0; k < count; k += 2) {
      V q[12];
      if (k + 1 < count) {
        MultiplyRows<12>(count, inverse + 6 * k, sums + lane, q);
      } else {
        MultiplyRows<6>(count, inverse + 6 * k, sums + lane, q);
      }
      for (size_t i = k; i < count && i < k + 2; ++i) {
        const Xyz<V> shift =
            StoreMotion(solving, Frame(slots(i), rotations, lane), q + 6 * (i - k),
                        sums + kCrowdSums * i + lane, motions + kCrowdMotion * i + lane);
        const V own = hn::Set(d, level.masses[i]);
        drift = Fma(shift, own, drift);
        mass = hn::Add(mass, own);
      }
    }
    const V kept = hn::Div(hn::LoadU(d, keeps + lane), mass);
    drift = drift * hn::IfThenElseZero(solving, kept);
    for (size_t k = 0; k < count; ++k) {
      float* shift = motions + kCrowdMotion * k + 3 * kCrowdLanes + lane;
      StoreCrowd(d, LoadCrowd(d, shift) - drift, shift);
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
HWY_EXPORT(Solve);
HWY_EXPORT(Move);

void SumCrowdClusters(const CoarseLevel& level, const float* positions, const float* rhs,
                      float* sums) {
  HWY_DYNAMIC_DISPATCH(Sum)(level, positions, rhs, sums);
}

void SolveCrowdClusters(const CoarseLevel& level, std::span<const float> inverse,
                        const float* rotations, const float* solves, const float* keeps,
                        float* sums, float* motions) {
  HWY_DYNAMIC_DISPATCH(Solve)
  (level, inverse.data(), rotations, solves, keeps, sums, motions);
}

void MoveCrowdClusters(const CoarseLevel& level, const float* motions, float* positions) {
  HWY_DYNAMIC_DISPATCH(Move)(level, motions, positions);
}

}  // namespace plush
#endif
