// SPDX-License-Identifier: MIT
// The stiffness as a BlockMatrix, 16 tets at a time, one per lane.
//
// With a node's gradient g, G = R g and c = R C g, the force on node l by a displacement of node k
// is, by the terms of force_differential.h:
// - of sym(M) and M: (symmetric / 2 + plain) (G_l.G_k) I + symmetric / 2 G_k G_l^T,
// - of (C:M) C: volume c_l c_k^T,
// - of -W: plain [G_l]x R (tr(S) I - S)^-1 R^T [G_k]x,
// - of dC: pressure [R S (g_k x g_l)]x.
// Source: see force_differential.h.
#include "base/simd_target.h"
#include "elasticity/block_matrix.h"
#include "elasticity/force_differential.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/stiffness_matrix.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/differential_lanes-inl.h"
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// m += a b^T.
template <class V>
HWY_INLINE void AddOuter(const Xyz<V>& a, const Xyz<V>& b, Mat<V>* m) {
  m->c0 = Fma(a, b.x, m->c0);
  m->c1 = Fma(a, b.y, m->c1);
  m->c2 = Fma(a, b.z, m->c2);
}

// m += [a]x.
template <class V>
HWY_INLINE void AddCross(const Xyz<V>& a, Mat<V>* m) {
  m->c0.y = hn::Add(m->c0.y, a.z);
  m->c0.z = hn::Sub(m->c0.z, a.y);
  m->c1.x = hn::Sub(m->c1.x, a.z);
  m->c1.z = hn::Add(m->c1.z, a.x);
  m->c2.x = hn::Add(m->c2.x, a.y);
  m->c2.y = hn::Sub(m->c2.y, a.x);
}

// h [a]x.
template <class V>
HWY_INLINE Mat<V> TimesCross(const Mat<V>& h, const Xyz<V>& a) {
  return {h.c1 * a.z - h.c2 * a.y, h.c2 * a.x - h.c0 * a.z, h.c0 * a.y - h.c1 * a.x};
}

// Adds a block and its transpose.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void AddPair(D d, const Mat<V>& block, const uint32_t* of, const uint32_t* of_transpose,
                        NodeVec* values) {
  AddToNodes(d, block.c0, of, values);
  AddToNodes(d, block.c1, of, values + kGroupBlocks);
  AddToNodes(d, block.c2, of, values + 2 * kGroupBlocks);
  const Mat<V>& m = block;
  AddToNodes(d, Xyz<V>(m.c0.x, m.c1.x, m.c2.x), of_transpose, values);
  AddToNodes(d, Xyz<V>(m.c0.y, m.c1.y, m.c2.y), of_transpose, values + kGroupBlocks);
  AddToNodes(d, Xyz<V>(m.c0.z, m.c1.z, m.c2.z), of_transpose, values + 2 * kGroupBlocks);
}

template <StressDifferential kDifferential>
HWY_INLINE void Assemble(const ElementView& elements, const ElementSettings& settings,
                         const RotationView& rotations, const float* stretches,
                         const uint32_t* places, NodeVec* values) {
  constexpr bool kIsExact = kDifferential == StressDifferential::kExact;
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  const V half = hn::Set(d, 0.5f);
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const TetBlock& block = elements.blocks[b];
    for (size_t i = 0; i < kBlockTets; i += N) {
      const V k = hn::LoadU(d, elements.StiffnessOf(b) + i);
      const V bulk = hn::LoadU(d, elements.BulkOf(b) + i);
      const Mat<V> B = LoadMat(d, block.dm_inv[0] + i);
      const Mat<V> R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
      const Sym<V> S = LoadSym(d, stretches + kStretchNumbers * kBlockTets * b + i);
      const Sym<V> C = Adjugate(S);
      const DifferentialWeights<V> of = WeightsOf<kDifferential>(d, settings, S, C, k, bulk);
      const V symmetric = hn::Mul(half, of.symmetric), same = hn::Add(symmetric, of.plain);
      const Mat<V> RC = Times(R, Full(C));
      Mat<V> RS, turn;
      if constexpr (kIsExact) {
        RS = Times(R, Full(S));
        const TurnOfStretch<V> inverse = TurnOf(d, S);
        const V share = hn::Mul(of.plain, inverse.inverse);
        const Mat<V> turned = Times(R, Full(inverse.adjugate));
        turn = TimesTranspose(Mat<V>(turned.c0 * share, turned.c1 * share, turned.c2 * share), R);
      }
      Xyz<V> g[4], G[4], c[4];
      g[1] = Xyz<V>(B.c0.x, B.c1.x, B.c2.x);
      g[2] = Xyz<V>(B.c0.y, B.c1.y, B.c2.y);
      g[3] = Xyz<V>(B.c0.z, B.c1.z, B.c2.z);
      g[0] = (g[1] + g[2] + g[3]) * hn::Set(d, -1.0f);
      for (size_t n = 0; n < 4; ++n) {
        G[n] = Times(R, g[n]);
        c[n] = Times(RC, g[n]);
      }
      const uint32_t* const of_block = places + kBlockTets * kTetPairs * b + i;
      for (size_t row = 0; row < 4; ++row) {
        for (size_t column = 0; column < row; ++column) {
          const V diagonal = hn::Mul(same, Dot(G[row], G[column]));
          const V zero = hn::Zero(d);
          Mat<V> K = {{diagonal, zero, zero}, {zero, diagonal, zero}, {zero, zero, diagonal}};
          AddOuter(G[column] * symmetric, G[row], &K);
          AddOuter(c[row] * of.volume, c[column], &K);
          if constexpr (kIsExact) {
            const Mat<V> turning = TimesCross(turn, G[column]);
            K.c0 = K.c0 + Cross(G[row], turning.c0);
            K.c1 = K.c1 + Cross(G[row], turning.c1);
            K.c2 = K.c2 + Cross(G[row], turning.c2);
            AddCross(Times(RS, Cross(g[column], g[row])) * of.pressure, &K);
          }
          AddPair(d, K, of_block + kBlockTets * PairOf(row, column),
                  of_block + kBlockTets * PairOf(column, row), values);
        }
      }
    }
  }
}

void AssembleAny(const ElementView& elements, const ElementSettings& settings,
                 const RotationView& rotations, const float* stretches,
                 StressDifferential differential, const uint32_t* places, NodeVec* values) {
  using enum StressDifferential;
  if (differential == kExact) {
    Assemble<kExact>(elements, settings, rotations, stretches, places, values);
  } else if (differential == kHybrid) {
    Assemble<kHybrid>(elements, settings, rotations, stretches, places, values);
  } else if (differential == kConstantRotation) {
    Assemble<kConstantRotation>(elements, settings, rotations, stretches, places, values);
  } else {
    Assemble<kWarped>(elements, settings, rotations, stretches, places, values);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(AssembleAny);

void MakeStiffness(const ElementView& elements, const ElementSettings& settings, TetsAt at,
                   StressDifferential differential, BlockMatrix* matrix) {
  matrix->Clear();
  HWY_DYNAMIC_DISPATCH(AssembleAny)
  (elements, settings, at.rotations, at.stretches.data(), differential, matrix->places.data(),
   matrix->values.data());
  matrix->CloseRows();
}

}  // namespace plush
#endif
