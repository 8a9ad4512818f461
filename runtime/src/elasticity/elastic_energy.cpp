// SPDX-License-Identifier: MIT
// Source: elastic_energy.h.
#include "elasticity/elastic_energy.h"

#include "base/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/elastic_energy.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/tet_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

template <class D, class V = hn::Vec<D>>
HWY_INLINE Mat<V> LoadGradient(D d, const TetBlock& block, size_t first, const NodeVec* x) {
  Xyz<V> corner[4];
  for (size_t k = 0; k < 4; ++k) {
    corner[k] = GatherNodes(d, x, block.nodes[k] + first, static_cast<V*>(nullptr));
  }
  const Mat<V> edges = {corner[1] - corner[0], corner[2] - corner[0], corner[3] - corner[0]};
  return Times(edges, LoadMat(d, block.dm_inv[0] + first));
}

// Energies of a tet per lane. With `k` = 2 mu V.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Energies(D d, const Mat<V>& F, const Mat<V>& R, V k, V bulk) {
  const Mat<V> strain = {F.c0 - R.c0, F.c1 - R.c1, F.c2 - R.c2};
  const V stretch = hn::Add(Dot(strain.c0, strain.c0),
                            hn::Add(Dot(strain.c1, strain.c1), Dot(strain.c2, strain.c2)));
  const V change = hn::Sub(Dot(F.c0, Cross(F.c1, F.c2)), hn::Set(d, 1.0f));
  bulk = hn::Min(bulk, hn::Mul(k, hn::Set(d, 0.5f * kMostBulk)));
  return Fma(k, stretch, hn::Mul(bulk, hn::Mul(change, change)));
}

double Energy(const ElementView& elements, const NodeVec* x, int polar_iterations,
              const RotationView& rotations) {
  const Lanes16 d;
  constexpr size_t N = kLanes<Lanes16>;
  const size_t stride = elements.stiffness.empty() ? sizeof(TetBlock) / sizeof(float) : kBlockTets;
  double sums[kBlockTets] = {};
  HWY_ALIGN float F[kGroup][9 * kBlockTets];
  HWY_ALIGN float energies[kBlockTets];
  for (size_t begin = 0; begin < elements.blocks.size(); begin += kGroup) {
    const size_t end =
        begin + kGroup < elements.blocks.size() ? begin + kGroup : elements.blocks.size();
    for (size_t b = begin; b < end; ++b) {
      for (size_t i = 0; i < kBlockTets; i += N) {
        StoreMat(d, LoadGradient(d, elements.blocks[b], i, x), F[b - begin] + i);
      }
    }
    PolarNewton(end - begin, F[0], elements.StiffnessOf(begin), stride, polar_iterations,
                rotations.Block(begin));
    for (size_t b = begin; b < end; ++b) {
      for (size_t i = 0; i < kBlockTets; i += N) {
        const Mat<hn::Vec<Lanes16>> R = RotationMatrix(d, LoadRotation(d, rotations.Block(b) + i));
        hn::Store(
            Energies(d, LoadMat(d, F[b - begin] + i), R, hn::LoadU(d, elements.StiffnessOf(b) + i),
                     hn::LoadU(d, elements.BulkOf(b) + i)),
            d, energies + i);
      }
      for (size_t i = 0; i < kBlockTets; ++i) sums[i] += static_cast<double>(energies[i]);
    }
  }
  double sum = 0.0;
  for (const double of_lane : sums) sum += of_lane;
  return 0.5 * sum;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Energy);

double ElasticEnergy(const ElementView& elements, std::span<const NodeVec> x, int polar_iterations,
                     const RotationView& rotations) {
  return HWY_DYNAMIC_DISPATCH(Energy)(elements, x.data(), polar_iterations, rotations);
}

}  // namespace plush
#endif
