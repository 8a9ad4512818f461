// SPDX-License-Identifier: MIT
// Forces of 16 tets at a time, one per lane, in each tet's rotated frame.
// Source: see force_differential.h.
#include "elasticity/force_differential.h"

#include "base/simd_target.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/force_differential.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/differential_lanes-inl.h"
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

float Linearise(const ElementView& elements, const NodeVec* x, const ElementSettings& settings,
                const float* starts, const RotationView& rotations, float* stretches, float* kappa,
                NodeVec* rhs) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  const V one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  const V dt2 = hn::Set(d, settings.dt * settings.dt);
  const V viscous = hn::Set(d, settings.dt * settings.damping);
  V lowest = one;
  HWY_ALIGN float gradients[kGroup][9 * kBlockTets];
  const size_t stride = elements.stiffness.empty() ? sizeof(TetBlock) / sizeof(float) : kBlockTets;
  const size_t count = elements.blocks.size();
  const bool is_far = IsFar(elements);
  for (size_t begin = 0; begin < count; begin += kGroup) {
    const size_t end = std::min(begin + kGroup, count);
    for (size_t b = begin; b < end; ++b) {
      const TetBlock& block = elements.blocks[b];
      if (is_far) FetchRest(elements, b + kGroup);
      for (size_t i = 0; i < kBlockTets; i += N) {
        const Mat<V> F = Times(LoadEdges(d, block, i, x), LoadMat(d, block.dm_inv[0] + i));
        StoreMat(d, F, gradients[b - begin] + i);
      }
    }
    PolarNewton(end - begin, gradients[0], elements.StiffnessOf(begin), stride,
                settings.polar_iterations, rotations.Block(begin));
    for (size_t b = begin; b < end; ++b) {
      const TetBlock& block = elements.blocks[b];
      if (is_far) FetchState(elements, b + kGroup, kappa, rotations);
      for (size_t i = 0; i < kBlockTets; i += N) {
        const V k = hn::LoadU(d, elements.StiffnessOf(b) + i);
        const V bulk = hn::LoadU(d, elements.BulkOf(b) + i);
        const Mat<V> R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
        const Mat<V> S = TransposeTimes(R, LoadMat(d, gradients[b - begin] + i));
        StoreSym(d, SymmetricPart(d, S), stretches + kStretchNumbers * kBlockTets * b + i);
        const Mat<V> C = Cofactor(S);
        const V det = Dot(S.c0, C.c0);
        lowest = hn::IfThenElse(hn::And(hn::Gt(k, zero), hn::Lt(det, lowest)), det, lowest);
        const V limited = LimitedBulk(d, settings.law, k, bulk);
        const V pressure =
            hn::Mul(VolumePressure(d, settings.law, k, limited, hn::Sub(det, one)), hn::Neg(dt2));
        hn::StoreU(pressure, d, kappa + kBlockTets * b + i);
        const Mat<V> identity = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}};
        const V weight = hn::Mul(k, dt2);
        Mat<V> T = {C.c0 * pressure, C.c1 * pressure, C.c2 * pressure};
        AddScaled(weight, identity, &T);
        AddScaled(hn::Neg(weight), S, &T);
        if (starts != nullptr) {
          const V v = hn::Mul(k, viscous);
          AddScaled(v, LoadMat(d, starts + 9 * kBlockTets * b + i), &T);
          AddScaled(hn::Neg(v), S, &T);
        }
        AddStress(d, block, i, LoadMat(d, block.dm_inv[0] + i), Times(R, T), rhs);
      }
    }
  }
  return hn::GetLane(hn::MinOfLanes(d, lowest));
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Linearise);

float LineariseTets(const ElementView& elements, std::span<const NodeVec> x,
                    const ElementSettings& settings, std::span<const float> starts, TetsAt at,
                    std::span<float> kappa, std::span<NodeVec> rhs) {
  return HWY_DYNAMIC_DISPATCH(Linearise)(elements, x.data(), settings,
                                         starts.empty() ? nullptr : starts.data(), at.rotations,
                                         at.stretches.data(), kappa.data(), rhs.data());
}

}  // namespace plush
#endif
