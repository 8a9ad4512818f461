// SPDX-License-Identifier: MIT
#include "elasticity/element_pass.h"

#include "base/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/element_pass.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// Nine numbers of each tet of a block.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> LoadMat(D d, const float* first) {
  const auto row = [&](size_t k) { return hn::LoadU(d, first + kBlockTets * k); };
  return {{row(0), row(1), row(2)}, {row(3), row(4), row(5)}, {row(6), row(7), row(8)}};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE Rotation<V> LoadRotation(D d, const float* q) {
  return {hn::LoadU(d, q), hn::LoadU(d, q + kBlockTets), hn::LoadU(d, q + 2 * kBlockTets),
          hn::LoadU(d, q + 3 * kBlockTets)};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void StoreRotation(D d, const Rotation<V>& rotation, float* q) {
  hn::StoreU(rotation.x, d, q);
  hn::StoreU(rotation.y, d, q + kBlockTets);
  hn::StoreU(rotation.z, d, q + 2 * kBlockTets);
  hn::StoreU(rotation.w, d, q + 3 * kBlockTets);
}

// F of the tets in lanes [first, first + N) of a block.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> LoadGradient(D d, const TetBlock& block, size_t first, const Mat<V>& B,
                               const NodeVec* x) {
  const Xyz<V> a = GatherNodes(d, x, block.nodes[0] + first, static_cast<V*>(nullptr));
  const Xyz<V> b = GatherNodes(d, x, block.nodes[1] + first, static_cast<V*>(nullptr));
  const Xyz<V> c = GatherNodes(d, x, block.nodes[2] + first, static_cast<V*>(nullptr));
  const Xyz<V> e = GatherNodes(d, x, block.nodes[3] + first, static_cast<V*>(nullptr));
  return Times(Mat<V>{b - a, c - a, e - a}, B);
}

void ElasticImpulses(const ElementView& elements, const NodeVec* x, const ElementSettings& settings,
                     const float* stretches, const float* kappa, const RotationView& rotations,
                     NodeVec* rhs) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const TetBlock& block = elements.blocks[b];
    for (size_t i = 0; i < kBlockTets; i += N) {
      const Mat<V> B = LoadMat(d, block.dm_inv[0] + i);
      const V k = hn::LoadU(d, elements.StiffnessOf(b) + i);
      const Mat<V> F = LoadGradient(d, block, i, B, x);
      Rotation<V> rotation = LoadRotation(d, rotations.Block(b) + i);
      PolarNewton(d, F, hn::Gt(k, hn::Zero(d)), settings.polar_iterations, &rotation);
      StoreRotation(d, rotation, rotations.Block(b) + i);
      const Mat<V> R = RotationMatrix(d, rotation);
      Mat<V> P = StretchImpulse(d, settings, F, R, k, hn::LoadU(d, kappa + kBlockTets * b + i));
      if (stretches != nullptr) {
        const Mat<V> S = LoadMat(d, stretches + 9 * kBlockTets * b + i);
        AddViscousImpulse(d, settings, F, R, S, k, &P);
      }
      const Mat<V> G = TimesTranspose(P, B);
      AddToNodes(d, G.c0, block.nodes[1] + i, rhs);
      AddToNodes(d, G.c1, block.nodes[2] + i, rhs);
      AddToNodes(d, G.c2, block.nodes[3] + i, rhs);
      const V zero = hn::Zero(d);
      const Xyz<V> sum = G.c0 + G.c1 + G.c2;
      AddToNodes(d, Xyz<V>{zero, zero, zero} - sum, block.nodes[0] + i, rhs);
    }
  }
}

void Stretches(const ElementView& elements, const NodeVec* x, int polar_iterations,
               const RotationView& rotations, float* stretches) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>;
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const TetBlock& block = elements.blocks[b];
    for (size_t i = 0; i < kBlockTets; i += N) {
      const Mat<V> B = LoadMat(d, block.dm_inv[0] + i);
      const V k = hn::LoadU(d, elements.StiffnessOf(b) + i);
      const Mat<V> F = LoadGradient(d, block, i, B, x);
      Rotation<V> rotation = LoadRotation(d, rotations.Block(b) + i);
      PolarNewton(d, F, hn::Gt(k, hn::Zero(d)), polar_iterations, &rotation);
      StoreRotation(d, rotation, rotations.Block(b) + i);
      const Mat<V> S = TransposeTimes(RotationMatrix(d, rotation), F);
      const V rows[9] = {S.c0.x, S.c0.y, S.c0.z, S.c1.x, S.c1.y, S.c1.z, S.c2.x, S.c2.y, S.c2.z};
      for (size_t k9 = 0; k9 < 9; ++k9) {
        hn::StoreU(rows[k9], d, stretches + kBlockTets * (9 * b + k9) + i);
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

HWY_EXPORT(ElasticImpulses);
HWY_EXPORT(Stretches);

void AddElasticImpulses(const ElementView& elements, std::span<const NodeVec> x, float dt,
                        int polar_iterations, std::span<const float> stretches,
                        std::span<const float> kappa, const RotationView& rotations,
                        std::span<NodeVec> rhs) {
  HWY_DYNAMIC_DISPATCH(ElasticImpulses)
  (elements, x.data(), {dt, elements.damping, polar_iterations},
   stretches.empty() ? nullptr : stretches.data(), kappa.data(), rotations, rhs.data());
}

void ComputeStretches(const ElementView& elements, std::span<const NodeVec> x, int polar_iterations,
                      const RotationView& rotations, std::span<float> stretches) {
  HWY_DYNAMIC_DISPATCH(Stretches)
  (elements, x.data(), polar_iterations, rotations, stretches.data());
}

}  // namespace plush
#endif
