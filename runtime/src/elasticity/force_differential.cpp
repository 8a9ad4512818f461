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
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// A symmetric matrix per lane.
template <class V>
struct Sym {
  V xx, yy, zz, xy, xz, yz;

  HWY_INLINE Sym() {}
  HWY_INLINE Sym(V a, V b, V c, V d, V e, V f) : xx(a), yy(b), zz(c), xy(d), xz(e), yz(f) {}
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE Sym<V> SymmetricPart(D d, const Mat<V>& m) {
  const V half = hn::Set(d, 0.5f);
  return {m.c0.x,
          m.c1.y,
          m.c2.z,
          hn::Mul(half, hn::Add(m.c1.x, m.c0.y)),
          hn::Mul(half, hn::Add(m.c2.x, m.c0.z)),
          hn::Mul(half, hn::Add(m.c2.y, m.c1.z))};
}

template <class V>
HWY_INLINE Mat<V> Full(const Sym<V>& s) {
  return {{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}};
}

template <class V>
HWY_INLINE Sym<V> Adjugate(const Sym<V>& s) {
  return {FmaMinus(s.yy, s.zz, hn::Mul(s.yz, s.yz)), FmaMinus(s.xx, s.zz, hn::Mul(s.xz, s.xz)),
          FmaMinus(s.xx, s.yy, hn::Mul(s.xy, s.xy)), FmaMinus(s.xz, s.yz, hn::Mul(s.xy, s.zz)),
          FmaMinus(s.xy, s.yz, hn::Mul(s.xz, s.yy)), FmaMinus(s.xy, s.xz, hn::Mul(s.yz, s.xx))};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE Sym<V> LoadSym(D d, const float* first) {
  const auto row = [&](size_t k) HWY_ATTR { return hn::LoadU(d, first + kBlockTets * k); };
  return {row(0), row(1), row(2), row(3), row(4), row(5)};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreSym(D d, const Sym<V>& s, float* first) {
  const V rows[kStretchNumbers] = {s.xx, s.yy, s.zz, s.xy, s.xz, s.yz};
  for (size_t k = 0; k < kStretchNumbers; ++k) hn::StoreU(rows[k], d, first + kBlockTets * k);
}

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

// m += s x.
template <class V>
HWY_INLINE void AddScaled(V s, const Mat<V>& x, Mat<V>* m) {
  m->c0 = Fma(x.c0, s, m->c0);
  m->c1 = Fma(x.c1, s, m->c1);
  m->c2 = Fma(x.c2, s, m->c2);
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

// R^T dR for a symmetric S and M = R^T dF. Zero if S is so degenerate that R is not unique.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> RotationDifferential(D d, const Sym<V>& S, const Mat<V>& M) {
  constexpr float kLeast = 1.0e-3f;  // det(tr(S) I - S), 8 at rest
  const V zero = hn::Zero(d);
  const Sym<V> H = {hn::Add(S.yy, S.zz), hn::Add(S.xx, S.zz), hn::Add(S.xx, S.yy),
                    hn::Neg(S.xy),       hn::Neg(S.xz),       hn::Neg(S.yz)};
  const Sym<V> A = Adjugate(H);
  const V det = Fma(H.xx, A.xx, Fma(H.xy, A.xy, hn::Mul(H.xz, A.xz)));
  const auto is_unique = hn::Gt(det, hn::Set(d, kLeast));
  const V inverse = hn::IfThenElseZero(
      is_unique, hn::Div(hn::Set(d, 1.0f), hn::IfThenElse(is_unique, det, hn::Set(d, 1.0f))));
  const Xyz<V> a =
      Xyz<V>{hn::Sub(M.c1.z, M.c2.y), hn::Sub(M.c2.x, M.c0.z), hn::Sub(M.c0.y, M.c1.x)} * inverse;
  const Xyz<V> w = Times(Full(A), a);
  return {{zero, w.z, hn::Neg(w.y)}, {hn::Neg(w.z), zero, w.x}, {w.y, hn::Neg(w.x), zero}};
}

// T of force_differential.h times V dt^2, plus the viscous part, for 2 mu V = `k`.
template <StressDifferential kDifferential, class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> Differentiate(D d, const ElementSettings& settings, const Sym<V>& S,
                                const Mat<V>& M, V k, V bulk) {
  const V one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  const V dt2 = hn::Set(d, settings.dt * settings.dt);
  const V viscous = hn::Set(d, settings.dt * settings.damping);
  const Sym<V> E = SymmetricPart(d, M), C = Adjugate(S);
  const V two = hn::Set(d, 2.0f);
  const V trace = Fma(C.xx, E.xx, Fma(C.yy, E.yy, hn::Mul(C.zz, E.zz)));
  const V change = Fma(two, Fma(C.xy, E.xy, Fma(C.xz, E.xz, hn::Mul(C.yz, E.yz))), trace);
  const V volume = hn::Mul(bulk, dt2);
  const V pressing = hn::Mul(volume, change);
  V symmetric = hn::Mul(k, viscous), plain = zero;
  const V stretch = hn::Mul(k, dt2);
  if constexpr (kDifferential == StressDifferential::kTruncated) {
    symmetric = hn::Add(symmetric, stretch);
  } else if constexpr (kDifferential == StressDifferential::kHybrid) {
    const V off = hn::Add(hn::Abs(hn::Sub(S.xx, one)),
                          hn::Add(hn::Abs(hn::Sub(S.yy, one)), hn::Abs(hn::Sub(S.zz, one))));
    const V g = hn::Min(hn::Mul(off, hn::Set(d, 1.0f / 3.0f)), one);
    plain = hn::Mul(g, stretch);
    symmetric = hn::Add(symmetric, hn::Sub(stretch, plain));
  } else {
    plain = stretch;
  }
  const Sym<V> sum = {
      Fma(E.xx, symmetric, hn::Mul(C.xx, pressing)), Fma(E.yy, symmetric, hn::Mul(C.yy, pressing)),
      Fma(E.zz, symmetric, hn::Mul(C.zz, pressing)), Fma(E.xy, symmetric, hn::Mul(C.xy, pressing)),
      Fma(E.xz, symmetric, hn::Mul(C.xz, pressing)), Fma(E.yz, symmetric, hn::Mul(C.yz, pressing))};
  Mat<V> T = Full(sum);
  if constexpr (kDifferential != StressDifferential::kTruncated) AddScaled(plain, M, &T);
  if constexpr (kDifferential == StressDifferential::kExact) {
    AddScaled(hn::Neg(stretch), RotationDifferential(d, S, M), &T);
    const Mat<V> s = Full(S);
    const V c = hn::Sub(Fma(S.xx, C.xx, Fma(S.xy, C.xy, hn::Mul(S.xz, C.xz))), one);
    const Mat<V> dC = {Cross(s.c1, M.c2) + Cross(M.c1, s.c2), Cross(s.c2, M.c0) + Cross(M.c2, s.c0),
                       Cross(s.c0, M.c1) + Cross(M.c0, s.c1)};
    AddScaled(hn::Mul(volume, c), dC, &T);
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
  } else {
    AddProduct<kTruncated>(elements, settings, rotations, stretches, y, out);
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
