// SPDX-License-Identifier: MIT
// AddCorotatedForces and AddCorotatedDifferentials, one tet per lane. material.h has the equations.
// Source: see corotated_pass.h.
#include "materials/corotated_pass.h"

#include "base/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "materials/corotated_pass.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// D Dm^-1, D the differences of the nodes' vectors in `v`.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> GradientOf(D d, const TetBlock& block, size_t first, const Mat<V>& B,
                             const NodeVec* v) {
  const Xyz<V> a = GatherNodes(d, v, block.nodes[0] + first, nullptr);
  const Xyz<V> b = GatherNodes(d, v, block.nodes[1] + first, nullptr);
  const Xyz<V> c = GatherNodes(d, v, block.nodes[2] + first, nullptr);
  const Xyz<V> e = GatherNodes(d, v, block.nodes[3] + first, nullptr);
  return Times(Mat<V>{b - a, c - a, e - a}, B);
}

template <class V>
HWY_INLINE V Inner(const Mat<V>& a, const Mat<V>& b) {
  return hn::Add(Dot(a.c0, b.c0), hn::Add(Dot(a.c1, b.c1), Dot(a.c2, b.c2)));
}

// a + m s.
template <class V>
HWY_INLINE Mat<V> PlusScaled(const Mat<V>& a, const Mat<V>& m, V s) {
  return {Fma(m.c0, s, a.c0), Fma(m.c1, s, a.c1), Fma(m.c2, s, a.c2)};
}
template <class V>
HWY_INLINE Mat<V> Scaled(const Mat<V>& m, V s) {
  return {m.c0 * s, m.c1 * s, m.c2 * s};
}

// Minus the forces of a tet with V P.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void SubtractForces(D d, const TetBlock& block, size_t first, const Mat<V>& B,
                               const Mat<V>& P, NodeVec* forces) {
  const Mat<V> G = TimesTranspose(P, B);
  const Xyz<V> zero = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  AddToNodes(d, zero - G.c0, block.nodes[1] + first, forces);
  AddToNodes(d, zero - G.c1, block.nodes[2] + first, forces);
  AddToNodes(d, zero - G.c2, block.nodes[3] + first, forces);
  AddToNodes(d, G.c0 + G.c1 + G.c2, block.nodes[0] + first, forces);
}

// V P, with k = 2 mu V and bulk = lambda V.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> StressOf(D d, Material material, const Mat<V>& F, const Mat<V>& R, V k, V bulk) {
  const Mat<V> stretch = {(F.c0 - R.c0) * k, (F.c1 - R.c1) * k, (F.c2 - R.c2) * k};
  if (material == Material::kCorotated) {
    const V trace = hn::Sub(Inner(R, F), hn::Set(d, 3.0f));
    return PlusScaled(stretch, R, hn::Mul(bulk, trace));
  }
  const Mat<V> C = Cofactor(F);
  const V volume = hn::Sub(Dot(F.c0, C.c0), hn::Set(d, 1.0f));
  return PlusScaled(stretch, C, hn::Mul(bulk, volume));
}

// dR = R [w]x, (tr(S) I - S) w = 2 axl(R^T dF) [Civ, Eq. 3.13]. Zero if the matrix is singular to
// rounding, as SolveTurn's.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> RotationChange(D d, const Mat<V>& R, const Mat<V>& S, const Mat<V>& W) {
  const V half = hn::Set(d, -0.5f);
  const V trace = hn::Add(S.c0.x, hn::Add(S.c1.y, S.c2.z));
  const V g01 = hn::Mul(half, hn::Add(S.c1.x, S.c0.y));
  const V g02 = hn::Mul(half, hn::Add(S.c2.x, S.c0.z));
  const V g12 = hn::Mul(half, hn::Add(S.c2.y, S.c1.z));
  const Mat<V> G = {{hn::Sub(trace, S.c0.x), g01, g02},
                    {g01, hn::Sub(trace, S.c1.y), g12},
                    {g02, g12, hn::Sub(trace, S.c2.z)}};
  const Mat<V> C = Cofactor(G);
  const V det = Dot(G.c0, C.c0);
  const V size = hn::Max(hn::Abs(G.c0.x), hn::Max(hn::Abs(G.c1.y), hn::Abs(G.c2.z)));
  const V flat = hn::Mul(hn::Set(d, 1.1920929e-7f), hn::Mul(size, hn::Mul(size, size)));
  const V inverse = hn::IfThenElseZero(hn::Gt(hn::Abs(det), flat), hn::Div(hn::Set(d, 1.0f), det));
  const Xyz<V> axial = {hn::Sub(W.c1.z, W.c2.y), hn::Sub(W.c2.x, W.c0.z), hn::Sub(W.c0.y, W.c1.x)};
  const Xyz<V> w = Times(C, axial) * inverse;
  return {R.c1 * w.z - R.c2 * w.y, R.c2 * w.x - R.c0 * w.z, R.c0 * w.y - R.c1 * w.x};
}

// Derivative of the cofactor matrix.
template <class V>
HWY_INLINE Mat<V> CofactorChange(const Mat<V>& F, const Mat<V>& dF) {
  return {Cross(F.c1, dF.c2) + Cross(dF.c1, F.c2), Cross(F.c2, dF.c0) + Cross(dF.c2, F.c0),
          Cross(F.c0, dF.c1) + Cross(dF.c0, F.c1)};
}

// V dP with the exact differential.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> ExactChange(D d, Material material, const Mat<V>& F, const Mat<V>& R,
                              const Mat<V>& dF, V k, V bulk) {
  const Mat<V> S = TransposeTimes(R, F), W = TransposeTimes(R, dF);
  const Mat<V> dR = RotationChange(d, R, S, W);
  const V minus_k = hn::Neg(k);
  if (material == Material::kCorotated) {
    const V trace = hn::Sub(hn::Add(S.c0.x, hn::Add(S.c1.y, S.c2.z)), hn::Set(d, 3.0f));
    const V turned = hn::Add(W.c0.x, hn::Add(W.c1.y, W.c2.z));
    const Mat<V> stretch = PlusScaled(Scaled(dF, k), R, hn::Mul(bulk, turned));
    return PlusScaled(stretch, dR, Fma(bulk, trace, minus_k));
  }
  const Mat<V> C = Cofactor(F);
  const V pressure = hn::Mul(bulk, hn::Sub(Dot(F.c0, C.c0), hn::Set(d, 1.0f)));
  const Mat<V> stretch = PlusScaled(Scaled(dF, k), dR, minus_k);
  const Mat<V> volume = PlusScaled(stretch, C, hn::Mul(bulk, Inner(C, dF)));
  return PlusScaled(volume, CofactorChange(F, dF), pressure);
}

// V dP with an approximate differential.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> ApproximateChange(D d, DifferentialKind kind, Material material, const Mat<V>& F,
                                    const Mat<V>& R, const Mat<V>& dF, V k, V bulk) {
  const V one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  V truncated = kind == DifferentialKind::kTruncated ? one : hn::Zero(d);
  if (kind == DifferentialKind::kHybrid) {
    const V sum = hn::Add(
        hn::Abs(hn::Sub(Dot(R.c0, F.c0), one)),
        hn::Add(hn::Abs(hn::Sub(Dot(R.c1, F.c1), one)), hn::Abs(hn::Sub(Dot(R.c2, F.c2), one))));
    truncated = hn::Min(hn::Mul(sum, hn::Set(d, 1.0f / 3.0f)), one);
  }
  const Mat<V> W = TransposeTimes(R, dF);
  const V xy = hn::Mul(half, hn::Add(W.c1.x, W.c0.y));
  const V xz = hn::Mul(half, hn::Add(W.c2.x, W.c0.z));
  const V yz = hn::Mul(half, hn::Add(W.c2.y, W.c1.z));
  const Mat<V> stretch = Times(R, Mat<V>{{W.c0.x, xy, xz}, {xy, W.c1.y, yz}, {xz, yz, W.c2.z}});
  const Mat<V> direction = material == Material::kCorotated ? R : Cofactor(F);
  const Mat<V> warped = Scaled(stretch, hn::Mul(k, hn::Sub(one, truncated)));
  return PlusScaled(PlusScaled(warped, dF, hn::Mul(k, truncated)), direction,
                    hn::Mul(bulk, Inner(direction, dF)));
}

void Forces(Material material, const ElementView& elements, const NodeVec* x, size_t begin,
            size_t end, const RotationView& rotations, NodeVec* forces) {
  const Lanes16 d;
  for (size_t b = begin; b < end; ++b) {
    const TetBlock& block = elements.blocks[b];
    for (size_t i = 0; i < kBlockTets; i += kLanes<Lanes16>) {
      const auto B = LoadMat(d, block.dm_inv[0] + i);
      const auto F = GradientOf(d, block, i, B, x);
      const auto R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
      const auto k = hn::LoadU(d, elements.StiffnessOf(b) + i);
      const auto bulk = hn::LoadU(d, elements.BulkOf(b) + i);
      SubtractForces(d, block, i, B, StressOf(d, material, F, R, k, bulk), forces);
    }
  }
}

void Differentials(DifferentialKind kind, Material material, const ElementView& elements,
                   const NodeVec* x, const NodeVec* dx, size_t begin, size_t end,
                   const RotationView& rotations, NodeVec* forces) {
  const Lanes16 d;
  for (size_t b = begin; b < end; ++b) {
    const TetBlock& block = elements.blocks[b];
    for (size_t i = 0; i < kBlockTets; i += kLanes<Lanes16>) {
      const auto B = LoadMat(d, block.dm_inv[0] + i);
      const auto F = GradientOf(d, block, i, B, x);
      const auto dF = GradientOf(d, block, i, B, dx);
      const auto R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
      const auto k = hn::LoadU(d, elements.StiffnessOf(b) + i);
      const auto bulk = hn::LoadU(d, elements.BulkOf(b) + i);
      const auto dP = kind == DifferentialKind::kExact
                          ? ExactChange(d, material, F, R, dF, k, bulk)
                          : ApproximateChange(d, kind, material, F, R, dF, k, bulk);
      SubtractForces(d, block, i, B, dP, forces);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Forces);
HWY_EXPORT(Differentials);

void AddCorotatedForces(Material material, const ElementView& elements, std::span<const NodeVec> x,
                        size_t begin, size_t end, const RotationView& rotations,
                        std::span<NodeVec> forces) {
  HWY_DYNAMIC_DISPATCH(Forces)
  (material, elements, x.data(), begin, end, rotations, forces.data());
}

void AddCorotatedDifferentials(DifferentialKind kind, Material material,
                               const ElementView& elements, std::span<const NodeVec> x,
                               std::span<const NodeVec> dx, size_t begin, size_t end,
                               const RotationView& rotations, std::span<NodeVec> forces) {
  HWY_DYNAMIC_DISPATCH(Differentials)
  (kind, material, elements, x.data(), dx.data(), begin, end, rotations, forces.data());
}

}  // namespace plush
#endif
