// SPDX-License-Identifier: MIT
// Forces and differentials of 16 tets at a time, one per lane, in each tet's rotated frame.
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

// Ds of vectors of the nodes of the tets in lanes [first, first + N).
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> LoadEdges(D d, const TetBlock& block, size_t first, const NodeVec* x) {
  V* const no_w = nullptr;
  const Xyz<V> a = GatherNodes(d, x, block.nodes[0] + first, no_w);
  const Xyz<V> b = GatherNodes(d, x, block.nodes[1] + first, no_w);
  const Xyz<V> c = GatherNodes(d, x, block.nodes[2] + first, no_w);
  const Xyz<V> e = GatherNodes(d, x, block.nodes[3] + first, no_w);
  return {b - a, c - a, e - a};
}

// Adds the node gradients of the stress P to the nodes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void AddStress(D d, const TetBlock& block, size_t first, const Mat<V>& B,
                          const Mat<V>& P, NodeVec* out) {
  const Mat<V> G = TimesTranspose(P, B);
  AddToNodes(d, G.c0, block.nodes[1] + first, out);
  AddToNodes(d, G.c1, block.nodes[2] + first, out);
  AddToNodes(d, G.c2, block.nodes[3] + first, out);
  const V zero = hn::Zero(d);
  AddToNodes(d, Xyz<V>{zero, zero, zero} - (G.c0 + G.c1 + G.c2), block.nodes[0] + first, out);
}

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
  for (size_t begin = 0; begin < count; begin += kGroup) {
    const size_t end = std::min(begin + kGroup, count);
    for (size_t b = begin; b < end; ++b) {
      const TetBlock& block = elements.blocks[b];
      for (size_t i = 0; i < kBlockTets; i += N) {
        const Mat<V> F = Times(LoadEdges(d, block, i, x), LoadMat(d, block.dm_inv[0] + i));
        StoreMat(d, F, gradients[b - begin] + i);
      }
    }
    PolarNewton(end - begin, gradients[0], elements.StiffnessOf(begin), stride,
                settings.polar_iterations, rotations.Block(begin));
    for (size_t b = begin; b < end; ++b) {
      const TetBlock& block = elements.blocks[b];
      for (size_t i = 0; i < kBlockTets; i += N) {
        const V k = hn::LoadU(d, elements.StiffnessOf(b) + i);
        const V bulk = hn::LoadU(d, elements.BulkOf(b) + i);
        const Mat<V> R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
        const Mat<V> S = TransposeTimes(R, LoadMat(d, gradients[b - begin] + i));
        StoreSym(d, SymmetricPart(d, S), stretches + kStretchNumbers * kBlockTets * b + i);
        const Mat<V> C = Cofactor(S);
        const V det = Dot(S.c0, C.c0);
        lowest = hn::IfThenElse(hn::And(hn::Gt(k, zero), hn::Lt(det, lowest)), det, lowest);
        const V pressure = hn::Mul(hn::Mul(bulk, dt2), hn::Sub(one, det));
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

// R^T dR for a symmetric S and M = R^T dF.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> RotationDifferential(D d, const Sym<V>& S, const Mat<V>& M) {
  const V zero = hn::Zero(d);
  const TurnOfStretch<V> turn = TurnOf(d, S);
  const Xyz<V> a =
      Xyz<V>{hn::Sub(M.c1.z, M.c2.y), hn::Sub(M.c2.x, M.c0.z), hn::Sub(M.c0.y, M.c1.x)} *
      turn.inverse;
  const Xyz<V> w = Times(Full(turn.adjugate), a);
  return {{zero, w.z, hn::Neg(w.y)}, {hn::Neg(w.z), zero, w.x}, {w.y, hn::Neg(w.x), zero}};
}

// T of force_differential.h times V dt^2, plus the viscous part, for 2 mu V = `k`.
template <StressDifferential kDifferential, class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> Differentiate(D d, const ElementSettings& settings, const Sym<V>& S,
                                const Mat<V>& M, V k, V bulk) {
  const Sym<V> E = SymmetricPart(d, M), C = Adjugate(S);
  const V two = hn::Set(d, 2.0f);
  const V trace = Fma(C.xx, E.xx, Fma(C.yy, E.yy, hn::Mul(C.zz, E.zz)));
  const V change = Fma(two, Fma(C.xy, E.xy, Fma(C.xz, E.xz, hn::Mul(C.yz, E.yz))), trace);
  const DifferentialWeights<V> of = WeightsOf<kDifferential>(d, settings, S, k, bulk);
  const V symmetric = of.symmetric, pressing = hn::Mul(of.volume, change);
  const Sym<V> sum = {
      Fma(E.xx, symmetric, hn::Mul(C.xx, pressing)), Fma(E.yy, symmetric, hn::Mul(C.yy, pressing)),
      Fma(E.zz, symmetric, hn::Mul(C.zz, pressing)), Fma(E.xy, symmetric, hn::Mul(C.xy, pressing)),
      Fma(E.xz, symmetric, hn::Mul(C.xz, pressing)), Fma(E.yz, symmetric, hn::Mul(C.yz, pressing))};
  Mat<V> T = Full(sum);
  if constexpr (kDifferential != StressDifferential::kWarped) AddScaled(of.plain, M, &T);
  if constexpr (kDifferential == StressDifferential::kExact) {
    AddScaled(hn::Neg(of.plain), RotationDifferential(d, S, M), &T);
    const Mat<V> s = Full(S);
    const V c = hn::Sub(Fma(S.xx, C.xx, Fma(S.xy, C.xy, hn::Mul(S.xz, C.xz))), hn::Set(d, 1.0f));
    const Mat<V> dC = {Cross(s.c1, M.c2) + Cross(M.c1, s.c2), Cross(s.c2, M.c0) + Cross(M.c2, s.c0),
                       Cross(s.c0, M.c1) + Cross(M.c0, s.c1)};
    AddScaled(hn::Mul(of.volume, c), dC, &T);
  }
  return T;
}

template <StressDifferential kDifferential>
HWY_INLINE void AddProduct(const ElementView& elements, const ElementSettings& settings,
                           const RotationView& rotations, const float* stretches, const NodeVec* y,
                           NodeVec* out) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const TetBlock& block = elements.blocks[b];
    for (size_t i = 0; i < kBlockTets; i += N) {
      const V k = hn::LoadU(d, elements.StiffnessOf(b) + i);
      const V bulk = hn::LoadU(d, elements.BulkOf(b) + i);
      const Mat<V> B = LoadMat(d, block.dm_inv[0] + i);
      const Mat<V> R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
      const Sym<V> S = LoadSym(d, stretches + kStretchNumbers * kBlockTets * b + i);
      const Mat<V> M = TransposeTimes(R, Times(LoadEdges(d, block, i, y), B));
      const Mat<V> T = Differentiate<kDifferential>(d, settings, S, M, k, bulk);
      AddStress(d, block, i, B, Times(R, T), out);
    }
  }
}

void Product(const ElementView& elements, const ElementSettings& settings,
             const RotationView& rotations, const float* stretches, StressDifferential differential,
             const NodeVec* y, NodeVec* out) {
  using enum StressDifferential;
  if (differential == kExact) {
    AddProduct<kExact>(elements, settings, rotations, stretches, y, out);
  } else if (differential == kHybrid) {
    AddProduct<kHybrid>(elements, settings, rotations, stretches, y, out);
  } else if (differential == kConstantRotation) {
    AddProduct<kConstantRotation>(elements, settings, rotations, stretches, y, out);
  } else {
    AddProduct<kWarped>(elements, settings, rotations, stretches, y, out);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Linearise);
HWY_EXPORT(Product);

float LineariseTets(const ElementView& elements, std::span<const NodeVec> x,
                    const ElementSettings& settings, std::span<const float> starts, TetsAt at,
                    std::span<float> kappa, std::span<NodeVec> rhs) {
  return HWY_DYNAMIC_DISPATCH(Linearise)(elements, x.data(), settings,
                                         starts.empty() ? nullptr : starts.data(), at.rotations,
                                         at.stretches.data(), kappa.data(), rhs.data());
}

void AddStiffnessProduct(const ElementView& elements, const ElementSettings& settings, TetsAt at,
                         StressDifferential differential, std::span<const NodeVec> y,
                         std::span<NodeVec> out) {
  HWY_DYNAMIC_DISPATCH(Product)
  (elements, settings, at.rotations, at.stretches.data(), differential, y.data(), out.data());
}

}  // namespace plush
#endif
