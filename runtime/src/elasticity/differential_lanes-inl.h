// SPDX-License-Identifier: MIT
// What a differential of the stress is made of, for one tet per lane. Included once per instruction
// set.
// Source: see force_differential.h.

#if defined(PLUSH_ELASTICITY_DIFFERENTIAL_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PLUSH_ELASTICITY_DIFFERENTIAL_LANES_INL_H_
#undef PLUSH_ELASTICITY_DIFFERENTIAL_LANES_INL_H_
#else
#define PLUSH_ELASTICITY_DIFFERENTIAL_LANES_INL_H_
#endif

#include "base/lanes-inl.h"
#include "elasticity/force_differential.h"
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {

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

// m += s x.
template <class V>
HWY_INLINE void AddScaled(V s, const Mat<V>& x, Mat<V>* m) {
  m->c0 = Fma(x.c0, s, m->c0);
  m->c1 = Fma(x.c1, s, m->c1);
  m->c2 = Fma(x.c2, s, m->c2);
}

// The weights of T's terms, times V dt^2, with the viscous part: `symmetric` of sym(M), `plain` of
// M, `volume` of (C:M) C, `pressure` of dC.
template <class V>
struct DifferentialWeights {
  V symmetric, plain, volume, pressure;

  HWY_INLINE DifferentialWeights() {}
};

// For 2 mu V = `k`, lambda V = `bulk`, and C = cof S.
template <StressDifferential kDifferential, class D, class V = hn::Vec<D>>
HWY_INLINE DifferentialWeights<V> WeightsOf(D d, const ElementSettings& settings, const Sym<V>& S,
                                            const Sym<V>& C, V k, V bulk) {
  const V one = hn::Set(d, 1.0f);
  const V dt2 = hn::Set(d, settings.dt * settings.dt);
  const V stretch = hn::Mul(k, dt2);
  DifferentialWeights<V> of;
  of.symmetric = hn::Mul(k, hn::Set(d, settings.dt * settings.damping));
  of.plain = hn::Zero(d);
  const V change = hn::Sub(Fma(S.xx, C.xx, Fma(S.xy, C.xy, hn::Mul(S.xz, C.xz))), one);
  bulk = LimitedBulk(d, settings.law, k, bulk);
  const V pressure = VolumePressure(d, settings.law, k, bulk, change);
  const V wanted = hn::Mul(bulk, change);
  const auto is_inside = hn::Eq(pressure, wanted);
  if constexpr (kDifferential == StressDifferential::kExact) {
    bulk = hn::IfThenElseZero(is_inside, bulk);
  } else {  // the secant, which is larger
    bulk = hn::IfThenElse(is_inside, bulk, hn::Div(pressure, change));
  }
  of.volume = hn::Mul(bulk, dt2);
  of.pressure = hn::Mul(pressure, dt2);
  if constexpr (kDifferential == StressDifferential::kWarped) {
    of.symmetric = hn::Add(of.symmetric, stretch);
  } else if constexpr (kDifferential == StressDifferential::kHybrid) {
    const V off = hn::Add(hn::Abs(hn::Sub(S.xx, one)),
                          hn::Add(hn::Abs(hn::Sub(S.yy, one)), hn::Abs(hn::Sub(S.zz, one))));
    const V g = hn::Min(hn::Mul(off, hn::Set(d, 1.0f / 3.0f)), one);
    of.plain = hn::Mul(g, stretch);
    of.symmetric = hn::Add(of.symmetric, hn::Sub(stretch, of.plain));
  } else {
    of.plain = stretch;
  }
  return of;
}

// (tr(S) I - S)^-1 as a multiple `inverse` of `adjugate`: what turns take of axl(M - M^T). Zero if
// S is so degenerate that R is not unique.
template <class V>
struct TurnOfStretch {
  Sym<V> adjugate;
  V inverse;

  HWY_INLINE TurnOfStretch(const Sym<V>& a, V b) : adjugate(a), inverse(b) {}
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE TurnOfStretch<V> TurnOf(D d, const Sym<V>& S) {
  constexpr float kLeast = 1.0e-3f;  // det(tr(S) I - S), 8 at rest
  const Sym<V> H = {hn::Add(S.yy, S.zz), hn::Add(S.xx, S.zz), hn::Add(S.xx, S.yy),
                    hn::Neg(S.xy),       hn::Neg(S.xz),       hn::Neg(S.yz)};
  const Sym<V> A = Adjugate(H);
  const V det = Fma(H.xx, A.xx, Fma(H.xy, A.xy, hn::Mul(H.xz, A.xz)));
  const auto is_unique = hn::Gt(det, hn::Set(d, kLeast));
  const V one = hn::Set(d, 1.0f);
  return {A, hn::IfThenElseZero(is_unique, hn::Div(one, hn::IfThenElse(is_unique, det, one)))};
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

}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#endif
