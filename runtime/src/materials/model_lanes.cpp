// SPDX-License-Identifier: MIT
// Source: see model_lanes.h.
#include "materials/model_lanes.h"

#include "base/simd_target.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "materials/model_lanes.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/differential_lanes-inl.h"
#include "elasticity/tet_lanes-inl.h"
#include "materials/lane_scalar-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Lanes16>;
constexpr size_t kN = kLanes<Lanes16>;
constexpr int kPolarIterations = 64;  // as AnalyticRotation's; lanes end when they have converged

HWY_INLINE lane::LameConstants<lane::Scalar> LameOf(const ElementView& elements, size_t b,
                                                    size_t i) {
  const Lanes16 d;
  return {lane::Scalar(hn::Mul(hn::Set(d, 0.5f), hn::LoadU(d, elements.StiffnessOf(b) + i))),
          lane::Scalar(hn::LoadU(d, elements.BulkOf(b) + i))};
}

template <MaterialModel kModel>
HWY_INLINE void LineariseModel(const ElementView& elements, const NodeVec* x,
                               const ElementSettings& settings, const float* starts,
                               const RotationView& rotations, float* stretches, float* kappa,
                               NodeVec* rhs) {
  const Lanes16 d;
  const V one = hn::Set(d, 1.0f), dt2 = hn::Set(d, settings.dt * settings.dt);
  const V viscous = hn::Set(d, settings.dt * settings.damping);
  HWY_ALIGN float gradients[kGroup][9 * kBlockTets];
  const size_t stride = elements.stiffness.empty() ? sizeof(TetBlock) / sizeof(float) : kBlockTets;
  const size_t count = elements.blocks.size();
  for (size_t begin = 0; begin < count; begin += kGroup) {
    const size_t end = std::min(begin + kGroup, count);
    for (size_t b = begin; b < end; ++b) {
      const TetBlock& block = elements.blocks[b];
      for (size_t i = 0; i < kBlockTets; i += kN) {
        StoreMat(d, Times(LoadEdges(d, block, i, x), LoadMat(d, block.dm_inv[0] + i)),
                 gradients[b - begin] + i);
      }
    }
    PolarNewton(end - begin, gradients[0], elements.StiffnessOf(begin), stride, kPolarIterations,
                rotations.Block(begin));
    for (size_t b = begin; b < end; ++b) {
      const TetBlock& block = elements.blocks[b];
      for (size_t i = 0; i < kBlockTets; i += kN) {
        const Mat<V> F = LoadMat(d, gradients[b - begin] + i);
        const Mat<V> R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
        const Mat<V> S = TransposeTimes(R, F);
        StoreSym(d, SymmetricPart(d, S), stretches + kStretchNumbers * kBlockTets * b + i);
        const V det = Dot(F.c0, Cofactor(F).c0);
        const V bulk = hn::LoadU(d, elements.BulkOf(b) + i);
        hn::StoreU(hn::Mul(hn::Mul(bulk, dt2), hn::Sub(one, det)), d, kappa + kBlockTets * b + i);
        const Mat<V> stress = lane::ToMat(
            lane::Stress(kModel, LameOf(elements, b, i), lane::ToMatrix(F), lane::ToMatrix(R)));
        const V minus = hn::Neg(dt2);
        Mat<V> P = {stress.c0 * minus, stress.c1 * minus, stress.c2 * minus};
        if (starts != nullptr) {
          const V v = hn::Mul(hn::LoadU(d, elements.StiffnessOf(b) + i), viscous);
          const Mat<V> start = LoadMat(d, starts + 9 * kBlockTets * b + i);
          const Mat<V> change = {start.c0 - S.c0, start.c1 - S.c1, start.c2 - S.c2};
          AddScaled(v, Times(R, change), &P);
        }
        AddStress(d, block, i, LoadMat(d, block.dm_inv[0] + i), P, rhs);
      }
    }
  }
}

template <MaterialModel kModel>
HWY_INLINE double ModelProduct(const ElementView& elements, const ElementSettings& settings,
                               const RotationView& rotations, const float* stretches,
                               const NodeVec* y, NodeVec* out) {
  const Lanes16 d;
  const V dt2 = hn::Set(d, settings.dt * settings.dt);
  const V viscous = hn::Set(d, settings.dt * settings.damping);
  double work = 0.0;
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const TetBlock& block = elements.blocks[b];
    HWY_ALIGN float works[kBlockTets];
    for (size_t i = 0; i < kBlockTets; i += kN) {
      const Mat<V> B = LoadMat(d, block.dm_inv[0] + i);
      const Mat<V> R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
      const Sym<V> S = LoadSym(d, stretches + kStretchNumbers * kBlockTets * b + i);
      const Mat<V> dF = Times(LoadEdges(d, block, i, y), B), M = TransposeTimes(R, dF);
      lane::Matrix dR = {};
      if constexpr (kModel == MaterialModel::kCorotated) {
        dR = lane::ToMatrix(Times(R, RotationDifferential(d, S, M)));
      }
      const Mat<V> dP = lane::ToMat(lane::ExactStressDifferential(
          kModel, LameOf(elements, b, i), lane::ToMatrix(Times(R, Full(S))), lane::ToMatrix(R),
          lane::ToMatrix(dF), dR));
      Mat<V> P = {dP.c0 * dt2, dP.c1 * dt2, dP.c2 * dt2};
      const V v = hn::Mul(hn::LoadU(d, elements.StiffnessOf(b) + i), viscous);
      AddScaled(v, Times(R, Full(SymmetricPart(d, M))), &P);
      hn::StoreU(Inner(P, dF), d, works + i);
      AddStress(d, block, i, B, P, out);
    }
    for (const float of_tet : works) work += double(of_tet);
  }
  return work;
}

void LineariseAny(const ElementView& elements, const NodeVec* x, const ElementSettings& settings,
                  MaterialModel model, const float* starts, const RotationView& rotations,
                  float* stretches, float* kappa, NodeVec* rhs) {
  using enum MaterialModel;
  if (model == kLinear) {
    LineariseModel<kLinear>(elements, x, settings, starts, rotations, stretches, kappa, rhs);
  } else if (model == kCorotated) {
    LineariseModel<kCorotated>(elements, x, settings, starts, rotations, stretches, kappa, rhs);
  } else if (model == kStVenantKirchhoff) {
    LineariseModel<kStVenantKirchhoff>(elements, x, settings, starts, rotations, stretches, kappa,
                                       rhs);
  } else {
    LineariseModel<kNeoHookean>(elements, x, settings, starts, rotations, stretches, kappa, rhs);
  }
}

double ProductOfAny(const ElementView& elements, const ElementSettings& settings,
                    MaterialModel model, const RotationView& rotations, const float* stretches,
                    const NodeVec* y, NodeVec* out) {
  using enum MaterialModel;
  if (model == kLinear) {
    return ModelProduct<kLinear>(elements, settings, rotations, stretches, y, out);
  }
  if (model == kCorotated) {
    return ModelProduct<kCorotated>(elements, settings, rotations, stretches, y, out);
  }
  if (model == kStVenantKirchhoff) {
    return ModelProduct<kStVenantKirchhoff>(elements, settings, rotations, stretches, y, out);
  }
  return ModelProduct<kNeoHookean>(elements, settings, rotations, stretches, y, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(LineariseAny);
HWY_EXPORT(ProductOfAny);

void LineariseModelLanes(const ElementView& elements, std::span<const NodeVec> x,
                         const ElementSettings& settings, MaterialModel model,
                         std::span<const float> starts, TetsAt at, std::span<float> kappa,
                         std::span<NodeVec> rhs) {
  HWY_DYNAMIC_DISPATCH(LineariseAny)
  (elements, x.data(), settings, model, starts.empty() ? nullptr : starts.data(), at.rotations,
   at.stretches.data(), kappa.data(), rhs.data());
}

double AddModelLanesProduct(const ElementView& elements, const ElementSettings& settings,
                            MaterialModel model, TetsAt at, std::span<const NodeVec> y,
                            std::span<NodeVec> out) {
  return HWY_DYNAMIC_DISPATCH(ProductOfAny)(elements, settings, model, at.rotations,
                                            at.stretches.data(), y.data(), out.data());
}

}  // namespace plush
#endif
